"""Steps: each piece of an answer is shown as it comes, and none but the text is the answer."""

from dataclasses import replace

from core.ports.model import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
)
from core.testing import Say
from tests.unit.core.runs.office import MEMORY, opened

THINKS = [
    ReasoningDelta(text="What time? "),
    TextDelta(text="Let me look."),
    ToolCallStart(tool_call_id="c1", tool_name="clock"),
    ToolCallDelta(tool_call_id="c1", text="{"),
    ToolCallDelta(tool_call_id="c1", text="}"),
    ToolCallDone(tool_call_id="c1", tool_name="clock", arguments="{}"),
    Finish(reason="tool-calls"),
]


class Playing:
    """A model that plays events, and knows whether it was closed."""

    def __init__(self, *answers):
        self.answers, self.closed = list(answers), 0

    async def stream(self, request):
        try:
            for event in self.answers.pop(0):
                yield event
        finally:
            self.closed += 1


class Plain:
    """A model whose stream is an iterator without a close of its own."""

    def stream(self, request):
        return self

    def __aiter__(self):
        self.events = [TextDelta(text="Hi"), Finish(reason="stop")]
        return self

    async def __anext__(self):
        if not self.events:
            raise StopAsyncIteration
        return self.events.pop(0)


async def test_thoughts_and_arguments_are_shown_while_they_grow():
    model = Playing(THINKS, [TextDelta(text="Noon."), Finish(reason="stop")])
    async with opened(tools=["clock"]) as office:
        office.runtime.register(replace(office.agent, model=model))
        assert await office.told("Time?") == ["Let me look.\n\nNoon."]
        shown = {chunk.type: chunk.payload for chunk in reversed(office.chunks)}
        assert shown["reasoning-delta"]["text"] == "What time? "
        assert shown["tool-call-delta"] == {"toolCallId": "c1", "argsTextDelta": "{"}
        assert shown["tool-call-input-streaming-start"]["toolName"] == "clock"
        assert "What time?" not in str(await office.history())
        assert model.closed == 2


async def test_a_models_stream_need_not_know_how_to_close():
    async with opened() as office:
        office.runtime.register(replace(office.agent, model=Plain()))
        assert await office.told("Hi") == ["Hi"]


async def test_every_chunk_of_a_call_names_it():
    async with opened(Say(calls=(("clock", {}),)), Say(text="ok"), tools=["clock"]) as office:
        result = await office.agent.generate("Time?", memory=MEMORY)
        call = result.tool_calls[0]["toolCallId"]
        of_calls = [chunk for chunk in office.chunks if chunk.type.startswith("tool-")]
        assert {chunk.payload["toolCallId"] for chunk in of_calls} == {call}
