"""The schedule port: when something that recurs is due next."""

from datetime import datetime
from typing import Protocol


class Schedule(Protocol):
    """A recurring instant, such as `0 9 * * mon-fri` in Berlin."""

    def after(self, instant: datetime) -> datetime | None:
        """Return the first due instant strictly later than this one, or None when there is none.

        Both are aware and in UTC, whatever zone the schedule counts in (reliability.md 0.8).
        """
