"""Complaints: what is wrong with a setting, by file, line, key and the nearest known key."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = r"(?:\"[^\"]*\"|'[^']*'|[\w-]+)"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_QUOTES = re.compile(r"\"\"\"|'''")

Location = tuple[str | int, ...]
"""A place in the settings, such as `("agents", 0, "model")`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where settings came from: the file, and what was laid over it.

    `origins` maps a path such as `("server", "port")` to the variable or flag that set it last.
    """

    path: Path
    text: str
    origins: Mapping[Location, str]

    def where(self, location: Location) -> str:
        """Return the place a person must look at: a variable, or file and line."""
        origin = self.origin(location)
        if origin is not None:
            return origin
        line = line_of(location, self.text)
        return f"{self.path}, line {line}" if line else f"{self.path}"

    def origin(self, location: Location) -> str | None:
        """Return the variable or flag that set this place or the whole around it, if one did."""
        around = [location[:length] for length in range(len(location), 0, -1)]
        return next((self.origins[item] for item in around if item in self.origins), None)


def line_of(location: Location, text: str) -> int:
    """Return the line where the innermost part of a location is written; 0 where none is."""
    best, found = 0, 0
    for number, path in _paths(text):
        if best < len(path) and path == location[: len(path)]:
            best, found = len(path), number
    return found


def statement_at(text: str, line: int) -> tuple[int, str]:
    """Return the line and key of the statement that a line belongs to; line 0 is the text's end."""
    lines = text.rstrip().split("\n")
    last = line or len(lines)
    shown = lines[last - 1].strip() if last <= len(lines) else ""
    # Such a line begins no statement: it is inside the value of an earlier one.
    inside = not shown or shown[0] in "\"']}#" or (not line and "=" not in shown)
    keys = {number: found for number in range(1, last + 1) if (found := _key_of(lines, number))}
    number = max(keys, default=0)
    if number and (number == last or inside):
        return line or number, keys[number]
    return last, shown


def _key_of(lines: Sequence[str], number: int) -> str:
    found = _KEY.match(lines[number - 1]) if number <= len(lines) else None
    return found.group(1) if found else ""


def nearest(word: str, known: Sequence[str]) -> str:
    """Return the hint for a misspelt word, empty where nothing is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _paths(text: str) -> Iterator[tuple[int, Location]]:
    """Yield every header and key of a TOML text as its line and full path."""
    counts: dict[Location, int] = {}
    table: Location = ()
    quoted = False
    for number, line in enumerate(text.split("\n"), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and not quoted:
            table = _open(header.group(1), _split(header.group(2)), counts)
            yield number, table
        elif key and not quoted:
            yield number, (*table, *_split(key.group(1)))
        # What stands inside a long text only looks like settings.
        quoted ^= len(_QUOTES.findall(line)) % 2 == 1


def _open(bracket: str, names: list[str], counts: dict[Location, int]) -> Location:
    """Return the path of a table that begins; those of a list are counted."""
    if bracket == "[":
        return _resolve(names, counts)
    listed = (*_resolve(names[:-1], counts), names[-1])
    counts[listed] = counts.get(listed, -1) + 1
    return (*listed, counts[listed])


def _resolve(names: list[str], counts: dict[Location, int]) -> Location:
    path: tuple[Any, ...] = ()
    for name in names:
        path = (*path, name)
        path = (*path, counts[path]) if path in counts else path
    return path


def _split(dotted: str) -> list[str]:
    return [name.strip("\"'") for name in re.findall(_NAME, dotted)]
