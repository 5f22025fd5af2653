"""Payloads: JSON of outside sources, read without trust in its shape."""

from typing import Any

from pydantic_core import from_json

from core.errors import InvalidInput
from core.notifications.lines import one_line

NAME_LIMIT = 200


class Payload:
    """A JSON object of a stranger; each question names a path and gets a value of one type."""

    def __init__(self, data: Any) -> None:
        """Keep the decoded JSON, whatever it is."""
        self._data = data

    @classmethod
    def from_bytes(cls, body: bytes) -> "Payload":
        """Decode JSON; depth, huge integers, lone surrogates and NaN are refused by the decoder.

        Raises:
            InvalidInput: it is not JSON.
        """
        try:
            return cls(from_json(body, allow_inf_nan=False))
        except ValueError as error:
            raise InvalidInput("the body is not JSON; send application/json") from error

    def at(self, *path: str) -> Any:
        """Return what stands at the path, or None."""
        found = self._data
        for name in path:
            if not isinstance(found, dict):
                return None
            found = found.get(name)
        return found

    def text(self, *path: str, limit: int = NAME_LIMIT) -> str:
        """Return the text at the path as one short line, else an empty one."""
        found = self.at(*path)
        return one_line(found, limit) if isinstance(found, str) else ""

    def number(self, *path: str) -> int | None:
        """Return the whole number at the path, or None; a truth value is no number."""
        found = self.at(*path)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def first(self, *path: str) -> "Payload":
        """Return the first member of the list at the path, else an empty payload."""
        found = self.at(*path)
        return Payload(found[0] if isinstance(found, list) and found else None)

    def size(self, *path: str) -> int:
        """Return how many members the list at the path has."""
        found = self.at(*path)
        return len(found) if isinstance(found, list) else 0
