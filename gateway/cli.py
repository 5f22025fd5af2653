"""The command line: `interlock`; every command imports what it needs when it runs."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EXAMPLES = """examples:
  interlock dev                     a console on http://127.0.0.1:8787, no credentials needed
  interlock init && interlock serve start a project of your own
  interlock manifest slack          the manifest to paste at api.slack.com/apps
"""
DEBUG = "show tracebacks, log more"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 ok, 1 failed, 2 usage."""
    parsed = build_parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except KeyboardInterrupt:
        return 130
    # The last frame of the program: a person gets a sentence, `--debug` the traceback.
    except Exception as exc:
        if parsed.debug:
            raise
        sys.stderr.write(f"interlock: {_sentence(exc)}\n")
        return 1


def _sentence(problem: Exception) -> str:
    """Return what a person is told of an error: its own words where it is one of ours."""
    from core.errors import InterlockError
    from gateway.logs import redacted

    if isinstance(problem, InterlockError):
        return redacted(str(problem))
    return redacted(f"{type(problem).__name__}: {problem} (--debug shows where)")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="interlock",
        description="AI agents as colleagues in Slack and Discord.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--debug", action="store_true", help=DEBUG)
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_dev(commands)
    _add_serve(commands)
    _add_init(commands)
    _add_manifest(commands)
    _add_doctor(commands)
    version = commands.add_parser("version", help="version, Python, store")
    version.set_defaults(run=_version)
    for command in commands.choices.values():
        # Behind the command too; left out there, it must not undo the one in front.
        command.add_argument("--debug", action="store_true", help=DEBUG, default=argparse.SUPPRESS)
    return parser


def _add_dev(commands: Any) -> None:
    dev = commands.add_parser("dev", help="everything on this machine, loopback only")
    dev.add_argument("--port", type=int, help="port of the console (8787)")
    dev.add_argument("--data", type=Path, help="folder of the store (.interlock)")
    dev.add_argument("--model", help="model of every agent, such as openai/gpt-5-mini or demo")
    dev.add_argument("--config", type=Path, help="settings file (interlock.toml)")
    dev.set_defaults(run=_dev)


def _add_serve(commands: Any) -> None:
    serve = commands.add_parser("serve", help="production: the adapters that are configured")
    serve.add_argument("--config", type=Path, help="settings file (interlock.toml)")
    serve.add_argument("--port", type=int, help="HTTP port (8787)")
    serve.add_argument("--model", help="model of every agent")
    serve.set_defaults(run=_serve)


def _add_init(commands: Any) -> None:
    init = commands.add_parser("init", help="write interlock.toml, agents.py and .env.example")
    init.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    init.set_defaults(run=_init)


def _add_manifest(commands: Any) -> None:
    manifest = commands.add_parser("manifest", help="what to paste at the platform")
    manifest.add_argument("platform", choices=["slack"])
    manifest.set_defaults(run=_manifest)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser("doctor", help="check the settings and say how to mend them")
    doctor.add_argument("--config", type=Path, help="settings file (interlock.toml)")
    doctor.set_defaults(run=_doctor)


def _dev(parsed: argparse.Namespace) -> int:
    from gateway.running import run_dev

    return asyncio.run(run_dev(parsed))


def _serve(parsed: argparse.Namespace) -> int:
    from gateway.running import run_serve

    return asyncio.run(run_serve(parsed))


def _init(parsed: argparse.Namespace) -> int:
    from gateway.starting import write_project

    for path in write_project(parsed.folder):
        sys.stdout.write(f"{path}\n")
    return 0


def _manifest(_: argparse.Namespace) -> int:
    from gateway.wiring import slack_manifest

    sys.stdout.write(slack_manifest())
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from gateway.doctor import examine

    findings = asyncio.run(examine(parsed.config))
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    return 0 if all(finding.ok for finding in findings) else 1


def _version(_: argparse.Namespace) -> int:
    import platform
    import sqlite3
    from importlib.metadata import version

    sys.stdout.write(
        f"interlock {version('interlock')}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
