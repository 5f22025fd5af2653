"""Clocks: where time comes from, so that tests can say what time it is."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Clock(Protocol):
    """What a service needs of time: the wall, a stopwatch, and a way to wait."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC; due times are compared with it."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards; deadlines and leases count in them."""

    async def sleep(self, seconds: float) -> None:
        """Wait this many seconds without holding up the event loop."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the wall clock in UTC."""
        # The one place where the wall clock is read.
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running event loop."""
        await asyncio.sleep(seconds)
