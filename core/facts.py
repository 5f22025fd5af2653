"""Facts: what an adapter has learned and wants to know again after a restart."""

from datetime import datetime
from typing import Any, Protocol

from core.records import Record


class Fact(Record):
    """One thing learned, such as who we are in a team; the newest value replaces the older."""

    name: str
    value: dict[str, Any]
    learned_at: datetime


class FactStore(Protocol):
    """Keeps facts by name."""

    async def fact(self, name: str) -> dict[str, Any] | None:
        """Return what is known under this name, or None."""

    async def learn(self, name: str, value: dict[str, Any]) -> None:
        """Keep the value under this name."""
