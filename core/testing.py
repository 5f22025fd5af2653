"""Testing: a clock, a model and an adapter that do as told; they ship with the product."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from core.conversation import Receipt
from core.errors import ModelError
from core.ids import new_id
from core.ports.adapter import Delivery
from core.ports.model import (
    Finish,
    FinishReason,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallDone,
    ToolCallStart,
    Usage,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class FakeClock:
    """A clock that moves only when told; sleepers wake when their time has come."""

    def __init__(self, now: datetime = NOON) -> None:
        """Start at this instant."""
        self._now = now
        self._elapsed = 0.0
        self._moved = asyncio.Condition()

    def now(self) -> datetime:
        """Return the present instant."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds passed since the start."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved this far."""
        # Reckoned from the moving clock, not from the wall: a test decides when it wakes.
        due = self._elapsed + seconds
        async with self._moved:
            await self._moved.wait_for(lambda: self._elapsed >= due)

    async def advance(self, by: timedelta) -> None:
        """Move the clock and wake those whose time has come."""
        self._now += by
        self._elapsed += by.total_seconds()
        async with self._moved:
            self._moved.notify_all()
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A scripted answer: text, tool calls as (name, arguments), or an error to raise.

    An error with text comes after it: the answer breaks off when some of it was seen.

    `gate`, when given, is waited for before the answer begins: so a test can act while the model
    works.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    error: ModelError | None = None
    gate: asyncio.Event | None = None


@dataclass(slots=True)
class ScriptedModel:
    """A Model that gives its answers in order and keeps every request it got."""

    script: list[Say] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Give the next answer of the script.

        Raises:
            ModelError: the script says so, or it is used up.
        """
        # Kept before anything can go wrong: a failing answer was asked for too.
        self.requests.append(request)
        if not self.script:
            raise ModelError("the script of this model is used up")
        answer = self.script.pop(0)
        if answer.gate is not None:
            await answer.gate.wait()
        for event in _events(answer):
            yield event
        if answer.error is not None:
            raise answer.error

    def prompts(self) -> list[str]:
        """Return, for each request, the texts of its user messages, joined by newlines."""
        return [
            "\n".join(
                str(message.content) for message in request.messages if message.role == "user"
            )
            for request in self.requests
        ]


@dataclass(slots=True)
class RecordingAdapter:
    """An Adapter that keeps what it is given to send; `problems` are raised first, one per send."""

    platform: str = "test"
    sent: list[Delivery] = field(default_factory=list)
    people: dict[str, str] = field(default_factory=dict)
    problems: list[Exception] = field(default_factory=list)

    async def send(self, delivery: Delivery) -> Receipt:
        """Keep the delivery and return a receipt for it."""
        # First come, first raised, so that a test can script a run of failures.
        if self.problems:
            raise self.problems.pop(0)
        self.sent.append(delivery)
        return delivery.receipt or Receipt(message_id=f"m{len(self.sent)}")

    async def find(self, delivery: Delivery) -> Receipt | None:
        """Return the receipt of a delivery that was kept under this entry id."""
        for number, kept in enumerate(self.sent, start=1):
            if kept.entry_id == delivery.entry_id:
                return Receipt(message_id=f"m{number}")
        return None

    async def names(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the names that the test gave."""
        return {person: self.people[person] for person in ids if person in self.people}


def _events(answer: Say) -> list[ModelEvent]:
    events: list[ModelEvent] = [TextDelta(text=word) for word in answer.text.splitlines(True)]
    for name, arguments in answer.calls:
        call_id = new_id("call")
        events.append(ToolCallStart(tool_call_id=call_id, tool_name=name))
        text = json.dumps(arguments)
        events.append(ToolCallDone(tool_call_id=call_id, tool_name=name, arguments=text))
    if answer.error is not None:
        return events
    reason: FinishReason = "tool-calls" if answer.calls else "stop"
    events.append(Finish(reason=reason, usage=Usage(input_tokens=1, output_tokens=1)))
    return events
