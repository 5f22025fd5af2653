"""Run the model server: `python -m tests.loopback.model --journal FILE [--rules FILE]`."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from tests.loopback.journal import Journal
from tests.loopback.model.script import Book, rule_from
from tests.loopback.model.server import ModelServer
from tests.loopback.process import serve


def main() -> None:
    """Read the command line and serve until told to stop."""
    parser = argparse.ArgumentParser(prog="tests.loopback.model")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--rules", type=Path, help="a JSON list of rules that are always there")
    parser.add_argument("--key", default="sk-loopback")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    rules = json.loads(arguments.rules.read_text()) if arguments.rules else []
    server = ModelServer(
        book=Book([rule_from(rule) for rule in rules]),
        journal=Journal(arguments.journal, source="model"),
        key=arguments.key,
    )
    asyncio.run(serve(server.app(), port=arguments.port))


if __name__ == "__main__":
    main()
