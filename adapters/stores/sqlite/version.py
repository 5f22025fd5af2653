"""Version: which SQLite libraries are good enough, and which need a word of warning."""

import sqlite3

from core.errors import Fatal

Version = tuple[int, int, int]
OLDEST: Version = (3, 37, 0)
"""STRICT tables came with it."""


def demand_version(found: Version = sqlite3.sqlite_version_info) -> None:
    """Refuse a library that is too old (architecture.md 5).

    Raises:
        Fatal: it is older than 3.37.
    """
    if found < OLDEST:
        raise Fatal(
            f"SQLite {_dotted(found)} is too old for the store: 3.37 or newer is needed; use a "
            "Python that brings a newer one, or a Redis store"
        )


def version_warning(found: Version = sqlite3.sqlite_version_info) -> str | None:
    """Return what to tell about a library with the WAL-reset fault, else None.

    The fault was there from 3.7.0 to 3.51.2, mended in 3.44.6 and 3.50.7 too (reliability.md 0.5).
    """
    if found >= (3, 51, 3) or (3, 50, 7) <= found < (3, 51, 0) or (3, 44, 6) <= found < (3, 45, 0):
        return None
    return (
        f"SQLite {_dotted(found)} can damage a file that several connections write (WAL reset, "
        "mended in 3.51.3); Interlock writes with one connection and locks others out, so let no "
        "other program write to the file"
    )


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)
