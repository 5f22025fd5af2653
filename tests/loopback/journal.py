"""The journal: what a fake platform saw and did, one JSON line an entry, readable at any time.

It is the oracle of the scenarios. Fake servers are processes of their own, so a journal survives
every kill of the gateway; several servers may append to one file.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


class Journal:
    """One append-only file of JSON lines, opened by any number of processes."""

    def __init__(self, path: Path, *, source: str = "test") -> None:
        """Name the file and who writes here; the file is made by the first entry."""
        self.path = path
        self.source = source
        self._entries: list[Entry] = []
        self._offset = 0

    def write(self, kind: str, **fields: Any) -> Entry:
        """Append one entry in one write call, so that entries of several writers never mix."""
        entry: Entry = {"at": wall_seconds(), "source": self.source, "kind": kind, **fields}
        line = json.dumps(entry, ensure_ascii=False, default=str) + "\n"
        handle = os.open(self.path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
        return entry

    def entries(self, kind: str | None = None, **match: Any) -> list[Entry]:
        """Return the entries of one kind whose fields equal every given value, oldest first.

        A name with a double underscore looks one level down: `args__channel="C0001"`.
        """
        wanted = match if kind is None else {"kind": kind, **match}
        self._read_on()
        return [entry for entry in self._entries if _matches(entry, wanted)]

    def _read_on(self) -> None:
        # Tests look every few milliseconds: only what is new is read, and only whole lines.
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            fresh, newline, _ = file.read().rpartition(b"\n")
        self._offset += len(fresh) + len(newline)
        self._entries.extend(json.loads(line) for line in fresh.split(b"\n") if line)


def wall_seconds() -> float:
    """Return the wall clock in seconds since 1970, the only place of this package that asks."""
    return time.time()


def _matches(entry: Entry, wanted: dict[str, Any]) -> bool:
    return all(_look_up(entry, name) == value for name, value in wanted.items())


def _look_up(entry: Entry, name: str) -> Any:
    found: Any = entry
    for part in name.split("__"):
        found = found.get(part) if isinstance(found, dict) else None
    return found
