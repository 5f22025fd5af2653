"""Processes: starts and ends the child program of these tests."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[5]
PROGRAM = "tests.unit.adapters.stores.sqlite.child"


@contextlib.contextmanager
def child(
    what: str, database: Path, *, kill_at: str | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Runs the child until the block ends; then it is killed, whatever it was doing."""
    environment = dict(os.environ) | ({"INTERLOCK_KILL_AT": kill_at} if kill_at else {})
    process = subprocess.Popen(
        [sys.executable, "-m", PROGRAM, what, str(database)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
