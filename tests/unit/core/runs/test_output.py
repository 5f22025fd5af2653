"""Outputs: a run as its caller watches it."""

import asyncio

import pytest

from core import ToolContext, tool
from core.errors import ModelError
from core.runs.output import RunFailed
from core.testing import Say
from tests.unit.core.runs.office import MEMORY, opened


@tool
async def ask(question: str, context: ToolContext) -> str:
    """Ask."""
    if context.resumed:
        return str(context.resume_data)
    await context.suspend({"question": question})
    return ""


def asks(*questions, text=""):
    return Say(text=text, calls=tuple(("ask", {"question": one}) for one in questions))


async def test_text_comes_piece_by_piece():
    async with opened(Say(text="one\ntwo\n")) as office:
        stream = await office.agent.stream("Hi", memory=MEMORY)
        assert [piece async for piece in stream.text_stream] == ["one\n", "two\n"]
        assert (await stream.consume_stream()).text == "one\ntwo\n"


async def test_a_stream_that_was_read_whole_still_tells_its_result():
    async with opened(Say(text="Hello")) as office:
        stream = await office.agent.stream("Hi", memory=MEMORY)
        kinds = [chunk.type async for chunk in stream.full_stream]
        assert kinds[-1] == "finish"
        result = await stream.consume_stream()
        assert (result.text, result.finish_reason, result.run_id) == (
            "Hello",
            "stop",
            stream.run_id,
        )


async def test_a_failure_is_a_chunk_to_readers_and_an_error_to_who_wants_the_result():
    async with opened(Say(error=ModelError("no"))) as office:
        stream = await office.agent.stream("Hi", memory=MEMORY)
        last = [chunk async for chunk in stream.full_stream][-1]
        assert (last.type, last.payload["error"]) == ("error", "no")
        with pytest.raises(RunFailed):
            await stream.consume_stream()


async def test_a_pause_ends_the_stream_and_says_what_is_asked():
    async with opened(asks("Which?"), tools=[ask]) as office:
        result = await office.agent.generate("Hi", memory=MEMORY)
        assert result.finish_reason == "suspended"
        call = result.tool_calls[0]["toolCallId"]
        assert result.suspend_payload == {"question": "Which?", "toolCallId": call}
        assert result.resume_schema is None


async def test_a_pause_with_a_bare_payload_still_names_its_call():
    @tool
    async def wait(context: ToolContext) -> None:
        """Wait."""
        await context.suspend("well?", resume_schema={"type": "string"})

    async with opened(Say(calls=(("wait", {}),)), tools=[wait]) as office:
        result = await office.agent.generate("Hi", memory=MEMORY)
        assert result.suspend_payload["payload"] == "well?"
        assert result.resume_schema == {"type": "string"}


async def test_every_pause_of_a_step_is_seen_before_the_stream_ends():
    async with opened(asks("a", "b", "c"), tools=[ask]) as office:
        stream = await office.agent.stream("Hi", memory=MEMORY)
        asked = [
            chunk.payload["suspendPayload"]["question"]
            async for chunk in stream.full_stream
            if chunk.type == "tool-call-suspended"
        ]
        assert sorted(asked) == ["a", "b", "c"]


async def test_the_text_before_a_pause_belongs_to_the_resumed_answer():
    async with opened(asks("ok?", text="I would. "), Say(text="Done."), tools=[ask]) as office:
        paused = await office.agent.generate("Hi", memory=MEMORY)
        result = await office.agent.resume_generate("yes", run_id=paused.run_id)
        assert (paused.text, result.text) == ("I would. ", "I would. Done.")
        assert result.tool_results[0]["result"] == "yes"


async def test_a_stream_shows_its_own_run_only():
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        first = await office.agent.stream("first", memory=MEMORY)
        second = await office.agent.stream("second", memory=MEMORY)
        gate.set()
        assert (await second.consume_stream()).text == "two"
        assert (await first.consume_stream()).text == "one"


async def test_a_stream_that_nobody_reads_does_not_hold_the_run_up():
    async with opened(Say(text="ok")) as office:
        await office.agent.stream("Hi", memory=MEMORY)
        assert await office.posted() == ["ok"]
