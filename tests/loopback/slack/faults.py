"""Faults and limits: what goes wrong on purpose, call by call, and who asked too often."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal[
    "delay",
    "drop_before",
    "accept_then_drop",
    "cut_body",
    "error",
    "http",
    "accept_then_http",
    "ratelimit",
]
_BURST = 4.0


@dataclass(slots=True, kw_only=True)
class Fault:
    """One thing that will go wrong.

    `delay` answers late; `drop_before` closes the connection and does nothing; `accept_then_drop`
    does it and closes; `cut_body` does it and resets half-way through the answer; `error` answers
    an error code; `http` answers a status and does nothing; `accept_then_http` does it and answers
    the status; `ratelimit` answers 429 and refuses the method until `retry_after` is over.
    """

    method: str
    """A Web API method, or `*` for all."""
    kind: FaultKind
    times: int = 1
    """How many calls it hits; -1 hits every call until cleared."""
    skip: int = 0
    """How many matching calls go well before the first is hit."""
    seconds: float = 0.0
    error: str = "internal_error"
    status: int = 503
    retry_after: int = 1
    where: dict[str, Any] = field(default_factory=dict)
    """Arguments the call must have, for example {"channel": "C0001"}."""

    def matches(self, method: str, arguments: dict[str, Any]) -> bool:
        """Return whether this call is one it is meant for."""
        return self.method in ("*", method) and all(
            arguments.get(name) == value for name, value in self.where.items()
        )


class FaultBook:
    """The faults still to come, in the order they were set."""

    def __init__(self) -> None:
        """Begin with none."""
        self._faults: list[Fault] = []

    def set(self, fault: Fault) -> None:
        """Add a fault."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Forget them all."""
        self._faults.clear()

    def take(self, method: str, arguments: dict[str, Any]) -> Fault | None:
        """Return the fault that hits this call, counting it down."""
        for fault in [fault for fault in self._faults if fault.matches(method, arguments)]:
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times == 0:
                self._faults.remove(fault)
            return fault
        return None


class Limits:
    """Closed methods and the posting rate of each channel."""

    def __init__(self) -> None:
        """Begin with everything open."""
        self._closed: dict[str, float] = {}
        self._buckets: dict[str, tuple[float, float]] = {}

    def close(self, method: str, seconds: float) -> None:
        """Refuse a method for so long (the Retry-After it was answered with)."""
        self._closed[method] = time.monotonic() + seconds

    def clear(self) -> None:
        """Open every method again."""
        self._closed.clear()

    def wait_for_method(self, method: str) -> float:
        """Return the seconds this method is still refused, 0 when it is open."""
        return max(0.0, self._closed.get(method, 0.0) - time.monotonic())

    def wait_for_post(self, channel: str, *, rate: float) -> float:
        """Take one post from a channel's bucket; return the seconds to wait when it is empty."""
        if rate <= 0:
            return 0.0
        now = time.monotonic()
        tokens, since = self._buckets.get(channel, (_BURST, now))
        tokens = min(_BURST, tokens + (now - since) * rate)
        allowed = tokens >= 1
        self._buckets[channel] = (tokens - 1 if allowed else tokens, now)
        return 0.0 if allowed else (1 - tokens) / rate
