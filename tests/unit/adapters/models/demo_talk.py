"""A conversation with the demo model: the steps it takes, and tools that answer it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from adapters.models.demo import DemoModel
from core.clock import SystemClock
from core.messages import ToolCallPart, ToolResultPart
from core.ports.model import (
    ModelEvent,
    ModelRequest,
    PromptMessage,
    TextDelta,
    ToolCallDone,
    ToolSpec,
)

TOOLS = ("clock", "write_plan", "submit_plan", "write_note", "notification_inbox")
APPROVED = "Plan approved. Proceed with implementation following the approved plan."
WAIT = (
    "The plan was not approved. Stop here and wait for the user's next message before you revise"
    " it."
)
RESULTS: dict[str, Any] = {
    "clock": {"now": "2026-12-01T14:05:00+00:00"},
    "write_plan": {"path": ".interlock/plans/thread--plan.md"},
    "submit_plan": APPROVED,
    "write_note": {"name": "note"},
    "notification_inbox": {"notifications": [], "hasMore": False, "markedSeen": 0},
}


def rejected(feedback: str) -> str:
    return (
        "The plan was not approved. The reviewer asks for this:\n\n"
        f"{feedback}\n\n"
        "Revise the plan accordingly, then submit it again with submit_plan."
    )


def by(name: str, text: str) -> str:
    return f'<user name="{name}" from="console" id="console:local:{name.lower()}">{text}</user>'


@dataclass
class Talk:
    """Plays the run loop: asks, answers calls from `results` (a list is used up), goes on."""

    tools: tuple[str, ...] = TOOLS
    results: dict[str, Any] = field(default_factory=dict)
    messages: list[PromptMessage] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    model: DemoModel = field(
        default_factory=lambda: DemoModel(pace=timedelta(0), clock=SystemClock())
    )

    def request(self) -> ModelRequest:
        tools = tuple(ToolSpec(name=name, description="", parameters={}) for name in self.tools)
        return ModelRequest(messages=tuple(self.messages), tools=tools)

    def hear(self, text: str) -> None:
        self.messages.append(PromptMessage(role="user", content=text))

    async def say(self, text: str, *, late: dict[int, str] | None = None) -> str:
        """Say something, let it work to its answer; `late` texts arrive during a step."""
        self.hear(text)
        for step in range(20):
            answer, calls = await self.step()
            if not calls:
                return answer
            if late and step in late:
                self.hear(late[step])
        raise AssertionError("it never came to an end")

    async def step(self) -> tuple[str, list[ToolCallDone]]:
        events = [event async for event in self.model.stream(self.request())]
        answer = "".join(event.text for event in events if isinstance(event, TextDelta))
        calls = calls_in(events)
        parts = tuple(
            ToolCallPart(
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                args=json.loads(call.arguments),
            )
            for call in calls
        )
        self.messages.append(PromptMessage(role="assistant", content=answer, tool_calls=parts))
        for part in parts:
            self._settle(part)
        return answer, calls

    def made(self, tool: str) -> list[dict[str, Any]]:
        return [args for name, args in self.calls if name == tool]

    def _settle(self, part: ToolCallPart) -> None:
        self.calls.append((part.tool_name, part.args))
        result = (RESULTS | self.results)[part.tool_name]
        if isinstance(result, list):
            result = result.pop(0)
        settled = ToolResultPart(
            tool_call_id=part.tool_call_id, tool_name=part.tool_name, result=result
        )
        self.messages.append(PromptMessage(role="tool", tool_result=settled))


def calls_in(events: list[ModelEvent]) -> list[ToolCallDone]:
    return [event for event in events if isinstance(event, ToolCallDone)]
