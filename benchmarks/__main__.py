"""`python -m benchmarks [name ...]`: runs the benchmarks named, or all, and prints their ratios."""

import argparse
import asyncio

from benchmarks import accepting

BENCHMARKS = {"accepting": accepting.measure}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is measured")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    for name in arguments.names or BENCHMARKS:
        print("\n".join(asyncio.run(BENCHMARKS[name](arguments.rounds))))


if __name__ == "__main__":
    main()
