"""Aborting: whenever a run is stopped, it ends there, and what waits behind it is answered."""

import asyncio

import pytest

from core import submit_plan, tool
from core.errors import ModelError, Unknown
from core.ids import thread_key
from core.testing import Say
from tests.support import eventually
from tests.unit.core.runs.office import KEY, MEMORY, opened


async def test_a_stop_during_the_model_call_ends_the_run_without_an_answer():
    async with opened(Say(text="never", gate=asyncio.Event()), Say(text="here")) as office:
        await office.say("go")
        await office.asked(1)
        assert await office.runtime.abort(KEY)
        assert await office.posted() == []
        assert await office.endings() == [("aborted", "aborted")]
        assert office.kinds()[-1] == "abort"
        assert "step-finish" not in office.kinds()
        assert await office.told("still there?") == ["here"]


async def test_a_stop_during_a_tool_cancels_it_and_answers_its_call():
    cancelled = asyncio.Event()

    @tool
    async def dig() -> str:
        """Dig."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with opened(Say(calls=(("dig", {}),)), Say(text="ok"), tools=[dig]) as office:
        await office.say("go")
        await eventually(lambda: "tool-call" in office.kinds())
        await office.runtime.abort(KEY)
        await office.posted()
        assert cancelled.is_set()
        assert (await office.history())[-1].startswith("result dig: {'error': 'The run ended")
        await office.told("again")
        assert office.model.requests[1].messages[-2].tool_result.is_error


async def test_a_stop_before_the_start_calls_no_model_for_what_started_it():
    async with opened(Say(text="the second")) as office:
        await office.say("first")
        await office.say("second", queue=True)
        await office.runtime.abort(KEY)
        assert await office.posted() == ["the second"]
        assert await office.endings() == [("aborted", "aborted"), ("done", "stop")]
        assert office.model.prompts() == ["first\nsecond"]


async def test_a_stop_while_people_are_asked_ends_the_wait(tmp_path):
    calls = (("submit_plan", {"path": "x.md"}),)
    async with opened(Say(calls=calls), Say(text="next"), tools=[submit_plan]) as office:
        await office.say("plan it")
        await office.waiting()
        await office.say("something else", queue=True)
        assert await office.runtime.abort(KEY)
        posted = await office.posted()
        assert posted[0].startswith("[waiting]")
        assert posted[1].startswith("[cancelled]")
        assert posted[2] == "next"
        assert await office.endings() == [("aborted", "aborted"), ("done", "stop")]


async def test_a_stop_during_the_pause_before_another_try_does_not_wait_for_it():
    busy = ModelError("busy", retryable=True)
    async with opened(Say(error=busy), Say(text="never")) as office:
        await office.say("go")
        await office.asked(1)
        await office.runtime.abort(KEY)
        assert await office.posted() == []
        assert len(office.model.requests) == 1


async def test_queued_work_survives_a_stop_in_its_order():
    script = [Say(text="never", gate=asyncio.Event()), Say(text="steered"), Say(text="queued")]
    async with opened(*script) as office:
        await office.say("go")
        await office.asked(1)
        await office.say("later", queue=True)
        await office.say("steer")
        await office.runtime.abort(KEY)
        assert await office.posted() == ["steered", "queued"]


async def test_a_stop_is_meant_for_one_run_only():
    gate = asyncio.Event()
    async with opened(Say(text="one"), Say(text="two", gate=gate)) as office:
        first = await office.say("first")
        await office.posted()
        await office.say("second")
        await office.asked(2)
        assert not office.runtime._runner.abort(KEY, first.run_id)
        gate.set()
        assert await office.posted() == ["one", "two"]


async def test_a_stop_asked_for_in_another_process_is_heard_within_a_renewal():
    async with opened(Say(text="never", gate=asyncio.Event())) as office:
        await office.say("go")
        await office.asked(1)
        await office.store.request_abort(KEY)
        await office.passes(1, lambda: "abort" in office.kinds())
        assert await office.endings() == [("aborted", "aborted")]


async def test_nothing_to_stop_is_no_error_but_a_strange_thread_is():
    async with opened(Say(text="ok")) as office:
        await office.told("Hi")
        assert not await office.runtime.abort(KEY)
        with pytest.raises(Unknown):
            await office.runtime.abort(thread_key("team", "nowhere"))


async def test_whoever_waits_for_a_stopped_run_learns_of_it():
    async with opened(Say(text="never", gate=asyncio.Event())) as office:
        waiting = asyncio.create_task(office.agent.generate("go", memory=MEMORY))
        await office.asked(1)
        await office.runtime.abort(KEY)
        assert (await waiting).finish_reason == "aborted"
