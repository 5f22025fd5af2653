"""Settings: which file the store is, and how much may wait for it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    """What the SQLite store needs to know; all but `path` may stay as it is."""

    path: Path
    """The database file; its folder is made where it is missing."""
    group_limit: int = 256
    """The most steps that share one commit."""
    queue_limit: int = 4_096
    """The most steps that may wait; beyond it a writer is told to try again."""
    readers: int = 4
    """The most reads at once."""
    busy_timeout: timedelta = timedelta(seconds=2)
    """How long a lock taken by an outside program, such as a backup, is waited for."""
    commit_padding: timedelta = timedelta(0)
    """Added to every commit, so that a benchmark can imitate a slower disk."""
