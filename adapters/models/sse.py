"""Server-sent events: bytes in, the data of complete events out. Pure and bounded."""

from collections.abc import Iterator

from core.errors import ModelOutputError

MAX_LINE = 4 * 1024 * 1024
"""The longest line taken in, in bytes; a longer one is refused before it fills the memory."""


class EventParser:
    """Cuts a byte stream into events and keeps what is not complete yet."""

    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        """Begin with nothing pending."""
        self._max_line = max_line
        self._pending = bytearray()
        self._data: list[bytes] = []

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Yield the data of each event that the block completes; comments yield nothing.

        Raises:
            ModelOutputError: a line, or an event of many lines, is longer than allowed.
        """
        self._pending += block
        *lines, rest = self._pending.split(b"\n")
        self._pending = rest
        # A line that never ends would grow in memory without ever becoming an event.
        if len(rest) > self._max_line:
            raise _too_long(self._max_line)
        for line in lines:
            yield from self._line(bytes(line.removesuffix(b"\r")))

    def end(self) -> Iterator[bytes]:
        """Yield what the last, unterminated event holds."""
        yield from self._line(bytes(self._pending))
        self._pending = bytearray()
        yield from self._event()

    def _line(self, line: bytes) -> Iterator[bytes]:
        """Take in one line without its end; an empty one completes an event."""
        if not line:
            yield from self._event()
            return
        # A comment begins with the colon, so its name is empty and it is no data.
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        if len(line) > self._max_line or sum(map(len, self._data)) > self._max_line:
            raise _too_long(self._max_line)

    def _event(self) -> Iterator[bytes]:
        if self._data:
            event = b"\n".join(self._data)
            self._data = []
            yield event


def _too_long(limit: int) -> ModelOutputError:
    return ModelOutputError(f"the model's server sent an event of more than {limit} bytes")
