"""Faults: named points at which a test may kill the process, to prove that nothing is lost there.

A point costs one comparison when no test asked for it.
"""

import os
import signal

_ENVIRONMENT = "INTERLOCK_KILL_AT"
_passed: dict[str, int] = {}


def point(name: str) -> None:
    """Mark a place beside a commit or an outside call; SIGKILL this process if a test named it.

    `INTERLOCK_KILL_AT` holds a point's name, or `name#n` for its n-th passing (reliability.md R1).
    """
    # Looked up each time: tests set it for a child that is running already.
    target = os.environ.get(_ENVIRONMENT)
    if target is None:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if target in (name, f"{name}#{_passed[name]}"):
        os.kill(os.getpid(), signal.SIGKILL)
