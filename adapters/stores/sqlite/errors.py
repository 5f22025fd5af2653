"""Errors: what SQLite says, told in our words."""

import sqlite3
from pathlib import Path

from core.errors import StoreUnavailable

# By primary code; what is not here is a fault in our own SQL and must not look like a bad disk.
_SENTENCES = {
    sqlite3.SQLITE_FULL: "the disk under {path} is full: free some space, the store then goes on",
    sqlite3.SQLITE_IOERR: "{path} could not be read or written: look at its disk and its limits",
    sqlite3.SQLITE_READONLY: "{path} is read-only: give this process the right to write it",
    sqlite3.SQLITE_CANTOPEN: "{path} or its -wal file cannot be opened: look at folder and rights",
    sqlite3.SQLITE_BUSY: "{path} is locked by another program: end it",
    sqlite3.SQLITE_LOCKED: "{path} is locked by another program: end it",
    sqlite3.SQLITE_NOMEM: "there is no memory left to work on {path}",
    sqlite3.SQLITE_PROTOCOL: "{path} is locked by another program: end it",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged: stop, and restore a backup",
    sqlite3.SQLITE_NOTADB: "{path} is not a SQLite database: move it away, or name another file",
}


def describe(error: sqlite3.Error, path: Path) -> str | None:
    """Return a sentence that names the trouble and the file, or None when the fault is ours."""
    sentence = _SENTENCES.get(_primary(error))
    return None if sentence is None else f"{sentence.format(path=path)} ({error})"


def unavailable(error: sqlite3.Error, path: Path) -> StoreUnavailable:
    """Return the error for callers whose transaction is lost, whatever the reason."""
    text = describe(error, path) or f"the store {path} could not commit: {error}"
    failure = StoreUnavailable(text)
    failure.__cause__ = error
    return failure


def translated(error: BaseException, path: Path) -> BaseException:
    """Return StoreUnavailable for trouble with the file; any other error stays what it is."""
    if isinstance(error, sqlite3.Error) and describe(error, path) is not None:
        return unavailable(error, path)
    return error


def _primary(error: sqlite3.Error) -> int:
    """Return the primary code: the low byte of the extended one; 0 when the module raised it."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
