"""DemoModel: the offline model of `interlock dev`, which shows the product without any key."""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

from adapters.models.demo_plan import plan_of, plan_step, plan_words
from adapters.models.demo_scene import Scene, read_scene
from adapters.models.demo_words import (
    Call,
    Step,
    answer_words,
    names_of,
    wants_inbox,
    wants_time,
)
from core.clock import Clock
from core.messages import TextPart
from core.ports.model import (
    Finish,
    ModelEvent,
    ModelRequest,
    PromptMessage,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    Usage,
)

_WORDS_PER_PACE = 60
"""Words told while a step's pace goes by."""


class DemoModel:
    """A model that answers the same to the same prompt, slowly enough to be steered.

    A step with tool calls waits `pace` before it calls, so that a message can still arrive and be
    seen by the next step; the last step addresses whatever its prompt of this turn holds.
    """

    def __init__(self, *, pace: timedelta, clock: Clock) -> None:
        """Take the pace (INTERLOCK_DEMO_PACE; zero never waits) and the clock to wait on."""
        self._pace = pace.total_seconds()
        self._clock = clock

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer; see the port. It cannot fail, and asks nobody."""
        step = decide(request)
        words = re.findall(r"\S+\s*|\s+", step.text)
        for word in words:
            yield TextDelta(text=word)
            await self._wait(self._pace / _WORDS_PER_PACE)
        # Before the calls and not after them: what arrives now is drained at this step's boundary,
        # so that the next step's prompt already holds it.
        if step.calls:
            await self._wait(self._pace)
        for event in _call_events(step.calls, request):
            yield event
        usage = Usage(input_tokens=_size(request), output_tokens=len(words))
        yield Finish(reason="tool-calls" if step.calls else "stop", usage=usage)

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            await self._clock.sleep(seconds)


def decide(request: ModelRequest) -> Step:
    """Return the next step for a prompt: look up, plan, look at the clock first, or answer."""
    scene = read_scene(request.messages)
    tools = frozenset[str]()
    # Told to call nothing, it must answer now with what it has.
    if request.tool_choice != "none":
        tools = frozenset(tool.name for tool in request.tools)
    plan = plan_of(scene)
    step = _look_up(scene, tools) or (plan_step(plan, tools) if plan is not None else None)
    if step is None and plan is None:
        step = _first_look(scene, tools)
    if step is not None:
        return step
    return Step(text=answer_words(scene, plan=plan_words(plan) if plan else None))


def _look_up(scene: Scene, tools: frozenset[str]) -> Step | None:
    """Return the calls for what people asked to know and no tool has told yet."""
    wanted = {
        "clock": (wants_time, Call(name="clock")),
        "notification_inbox": (
            wants_inbox,
            Call(name="notification_inbox", args={"action": "list"}),
        ),
    }
    calls = tuple(
        call
        for tool, (asks, call) in wanted.items()
        if tool in tools
        and scene.last_result(tool) is None
        and any(asks(said.text) for said in scene.said)
    )
    return Step(text="Let me look that up.", calls=calls) if calls else None


def _first_look(scene: Scene, tools: frozenset[str]) -> Step | None:
    """Return a step before the answer, so that people see a tool at work and may still steer."""
    if not scene.said or scene.done or "clock" not in tools:
        return None
    return Step(text=f"One moment, {names_of(scene.said)}.", calls=(Call(name="clock"),))


def _call_events(calls: tuple[Call, ...], request: ModelRequest) -> Iterator[ModelEvent]:
    """Yield the events of a step's calls in the order of the port."""
    named = [(f"call_{_digest(request)}_{place}", call) for place, call in enumerate(calls)]
    # All begin before any is done, as real models write parallel calls.
    texts = {call_id: json.dumps(call.args, ensure_ascii=False) for call_id, call in named}
    for call_id, call in named:
        yield ToolCallStart(tool_call_id=call_id, tool_name=call.name)
        yield ToolCallDelta(tool_call_id=call_id, text=texts[call_id])
    for call_id, call in named:
        yield ToolCallDone(tool_call_id=call_id, tool_name=call.name, arguments=texts[call_id])


def _digest(request: ModelRequest) -> str:
    """Return a name for the prompt: the same prompt calls by the same ids, the next by others."""
    text = "\x1e".join(f"{message!r}" for message in request.messages)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _size(request: ModelRequest) -> int:
    """Return roughly how many tokens the prompt has, so that the budget shows something."""
    return sum(len(_text(message).split()) for message in request.messages)


def _text(message: PromptMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return " ".join(part.text for part in message.content if isinstance(part, TextPart))
