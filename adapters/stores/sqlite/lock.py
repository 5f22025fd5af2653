"""Lock: keeps a second process away from the database file."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from core.errors import Fatal


@dataclass(frozen=True, slots=True)
class FileLock:
    """An exclusive lock of the operating system; it ends with the process, however that dies."""

    descriptor: int

    def release(self) -> None:
        """Let the next process in; the file stays, since removing it would race with its lock."""
        os.close(self.descriptor)


def hold(database: Path) -> FileLock:
    """Take the lock `<database>.lock` and write our process id into it (reliability.md R15).

    Raises:
        Fatal: another process holds it, or the file cannot be made.
    """
    path = database.with_name(f"{database.name}.lock")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        raise Fatal(f"the lock file {path} cannot be opened: {exc.strerror}") from exc
    try:
        # Unlike a lock of fcntl's lockf, this one also holds against our own process.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write_id(descriptor)
    except OSError as exc:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise _refusal(database, path, holder, exc) from exc
    return FileLock(descriptor)


def _write_id(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"


def _refusal(database: Path, path: Path, holder: str, exc: OSError) -> Fatal:
    if not isinstance(exc, BlockingIOError):
        return Fatal(f"the store {database} cannot be locked with {path}: {exc.strerror}")
    return Fatal(
        f"the store {database} is held by process {holder} ({path}); stop it, or give this one "
        "another file; several processes need a Redis store"
    )
