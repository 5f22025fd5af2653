"""Faults: a process can be killed at a named point, and costs nothing where nobody asks."""

import os
import signal
import subprocess
import sys

import pytest

from core import faults
from core.faults import point

PROGRAM = """
from core.faults import point
for number in range(3):
    point("accept.before_commit")
    print(number, flush=True)
    point("accept.after_commit")
"""


def run(target: str | None) -> tuple[int, str]:
    asked = {} if target is None else {"INTERLOCK_KILL_AT": target}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, "".join(done.stdout.split())


@pytest.mark.parametrize(
    ("target", "code", "seen"),
    [
        (None, 0, "012"),
        ("somewhere.else", 0, "012"),
        ("accept.before_commit", -signal.SIGKILL, ""),
        ("accept.after_commit", -signal.SIGKILL, "0"),
        ("accept.before_commit#3", -signal.SIGKILL, "01"),
        ("accept.before_commit#4", 0, "012"),
    ],
)
def test_a_process_dies_at_the_named_point_and_nowhere_else(target, code, seen):
    assert run(target) == (code, seen)


def test_a_point_that_nobody_names_is_passed(monkeypatch):
    killed = []
    monkeypatch.setattr(faults.os, "kill", lambda pid, number: killed.append(number))
    monkeypatch.setenv("INTERLOCK_KILL_AT", "here")
    point("elsewhere")
    assert killed == []
    point("here")
    assert killed == [signal.SIGKILL]
