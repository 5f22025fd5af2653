"""Splitting: long texts cut to a platform's limits; code, tables and characters stay whole."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

Size = Callable[[str], int]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$")
_ENTITY = re.compile(r"&(?:amp|lt|gt);")
_ZERO_WIDTH_JOINER = "\u200d"


def utf16_size(text: str) -> int:
    """Return the length in UTF-16 units: the largest way in which a platform may count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def byte_size(text: str) -> int:
    """Return the length in UTF-8 bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def graphemes(text: str) -> Iterator[str]:
    """Yield what a reader sees as one character, and an escaped entity as one.

    Combining marks, variation selectors, skin tones, joined emoji and flags stay together.
    """
    start = 0
    while start < len(text):
        end = _grapheme_end(text, start)
        yield text[start:end]
        start = end


# Shared by platforms with other limits: the measure is an argument.
def cut(text: str, limit: int, *, size: Size = len, mark: str = "…") -> str:
    """Return the text, or as much of it as fits with the mark at its end."""
    if size(text) <= limit:
        return text
    room = limit - size(mark)
    kept, used = [], 0
    for piece in graphemes(text):
        used += size(piece)
        if used > room:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + mark


def split_markdown(text: str, limit: int, *, size: Size = len) -> list[str]:
    """Return the text in pieces of at most `limit`, none of them blank (channels.md 7).

    A piece ends at a paragraph, else a line, else a word, else a character. A code fence that is
    cut is closed and opened again with its info string; a table that is cut repeats its header.
    """
    if size(text) <= limit:
        return [text] if text.strip() else []
    pieces = _Pieces(limit=limit, size=size)
    for line in text.split("\n"):
        pieces.add(line)
    return pieces.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What a cut at this place must close before and repeat after."""

    closer: str = ""
    opener: tuple[str, ...] = ()
    columns: str = ""
    """The line that will be a table's header if a rule follows."""


@dataclass(slots=True, kw_only=True)
class _Pieces:
    """The pieces so far and the one that is being filled."""

    limit: int
    size: Size
    context: _Context = field(default_factory=_Context)
    done: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    repeated: int = 0
    """How many of the first lines only repeat what the piece before had."""
    paragraph: int = 0
    """Where the last paragraph outside of code began."""

    def add(self, line: str) -> None:
        """Take one more line, cutting before it or inside it where it does not fit."""
        after = self._bounded(_after(self.context, line))
        for part in self._parts(line):
            while len(self.lines) > self.repeated and not self._fits(part, after):
                self._break()
            self.lines.append(part)
        self.context = after
        if not line.strip() and not after.closer:
            self.paragraph = len(self.lines)

    def finish(self) -> list[str]:
        """Return all pieces."""
        self._close(self.lines)
        return self.done

    def _bounded(self, context: _Context) -> _Context:
        """Return the context with no more to repeat than a third of a piece."""
        if self.size(context.closer) > self.limit // 6:
            return _Context()
        if self.size("\n".join(context.opener)) <= self.limit // 3:
            return context
        return replace(context, opener=(context.closer,) if context.closer else ())

    def _parts(self, line: str) -> list[str]:
        room = self.limit - self._frame()
        if self.size(line) <= room:
            return [line]
        return list(_cut_line(line, max(1, room), self.size))

    def _frame(self) -> int:
        return self.size("\n".join([*self.context.opener, "", self.context.closer])) + 1

    def _fits(self, line: str, after: _Context) -> bool:
        closer = after.closer or self.context.closer
        whole = "\n".join([*self.lines, line, *([closer] if closer else [])])
        return self.size(whole) <= self.limit

    def _break(self) -> None:
        keep = self._rest_of_paragraph()
        head = self.lines[: len(self.lines) - len(keep)]
        self._close(head, closer="" if keep else self.context.closer)
        opener = [] if keep else list(self.context.opener)
        self.lines = [*opener, *keep]
        self.repeated, self.paragraph = len(opener), 0

    def _rest_of_paragraph(self) -> list[str]:
        if self.context.closer or self.context.opener:
            return []
        rest = self.lines[self.paragraph :]
        small = self.size("\n".join(rest)) <= self.limit // 3
        return rest if small and self.paragraph > self.repeated else []

    def _close(self, lines: list[str], closer: str = "") -> None:
        if not any(line.strip() for line in lines[self.repeated :]):
            return
        text = "\n".join(lines).strip("\n")
        self.done.append(f"{text}\n{closer}" if closer else text)


def _after(context: _Context, line: str) -> _Context:
    """Return the context behind a line."""
    fence = _FENCE.match(line)
    if context.closer:
        closes = fence and fence[1].startswith(context.closer) and not fence[2].strip()
        return _Context() if closes else context
    if fence:
        return _Context(closer=fence[1], opener=(line.strip(),))
    if "|" not in line:
        return _Context()
    if context.columns and _TABLE_RULE.match(line):
        return _Context(opener=(context.columns, line))
    return context if context.opener else replace(context, columns=line)


def _cut_line(line: str, room: int, size: Size) -> Iterator[str]:
    """Yield a line in parts that fit, at words where there are any."""
    part, used = "", 0
    for piece in _words(line, room, size):
        length = size(piece)
        if part and used + length > room:
            yield part
            part, used = "", 0
            piece = piece.lstrip(" ") or piece  # noqa: PLW2901 - a line never begins with the gap
            length = size(piece)
        part, used = part + piece, used + length
    if part:
        yield part


def _words(line: str, room: int, size: Size) -> Iterator[str]:
    for word in re.findall(r"\s*\S+|\s+$", line):
        yield from [word] if size(word) <= room else graphemes(word)


def _grapheme_end(text: str, start: int) -> int:
    entity = _ENTITY.match(text, start)
    if entity:
        return entity.end()
    end = start + 1
    if _is_flag(text[start]) and end < len(text) and _is_flag(text[end]):
        end += 1
    while end < len(text) and _joins(text, end):
        end += 1
    return end


def _joins(text: str, index: int) -> bool:
    character = text[index]
    return (
        text[index - 1] == _ZERO_WIDTH_JOINER
        or character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or unicodedata.category(character) in {"Mn", "Me", "Mc"}
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
