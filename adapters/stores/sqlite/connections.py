"""Connections: the one that writes, and those that can only read."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from adapters.stores.sqlite.errors import describe
from adapters.stores.sqlite.schema import prepare
from adapters.stores.sqlite.settings import SqliteSettings
from core.errors import Fatal

_WAL_LIMIT = 64 * 1024 * 1024
_STATEMENTS = 256


def open_writing(settings: SqliteSettings) -> sqlite3.Connection:
    """Open the file, made where it is missing, with the tables of today.

    Raises:
        Fatal: it cannot be opened, is no database, or was written by a newer Interlock.
    """
    path = settings.path
    try:
        _make(path)
        connection = _connect(settings, mode="rw")
    except (OSError, sqlite3.Error) as exc:
        raise _refusal(exc, path) from exc
    try:
        _demand_wal(connection, path)
        prepare(connection, path)
    except sqlite3.Error as exc:
        connection.close()
        raise _refusal(exc, path) from exc
    except Fatal:
        connection.close()
        raise
    return connection


def open_reading(settings: SqliteSettings) -> sqlite3.Connection:
    """Open a connection that cannot write, on a file that the writer holds open."""
    return _connect(settings, mode="ro")


def _make(path: Path) -> None:
    """Make an empty file that only its owner reads; SQLite gives -wal and -shm the same rights."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _connect(settings: SqliteSettings, *, mode: str) -> sqlite3.Connection:
    # Threads take turns with a connection; the library itself is built to be serialised.
    return sqlite3.connect(
        f"file:{quote(str(settings.path.absolute()))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=settings.busy_timeout.total_seconds(),
        cached_statements=_STATEMENTS,
    )


def _demand_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Turn on what makes a commit survive a power cut (reliability.md 0.6)."""
    # Where shared memory is missing (some network drives) SQLite stays in another mode silently.
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise Fatal(f"the store {path} cannot use a write-ahead log: put it on a local disk")
    connection.execute("PRAGMA synchronous = FULL")
    # On macOS a plain fsync leaves the data in the drive's own cache.
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    # A burst may grow the log; the space is given back at the next checkpoint.
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")


def _refusal(exc: OSError | sqlite3.Error, path: Path) -> Fatal:
    known = describe(exc, path) if isinstance(exc, sqlite3.Error) else None
    return Fatal(known or f"the store {path} cannot be opened: {exc}")
