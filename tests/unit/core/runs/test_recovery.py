"""Recovery: a process dies at the worst moment, or loses its thread, and another goes on."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from core import Runtime, ToolContext, tool
from core.errors import StoreUnavailable
from core.testing import Say
from core.threads.lease import LEASE_TTL
from tests.support import eventually
from tests.unit.core.runs.office import KEY, opened


class Killed(BaseException):
    """What happens to a process between two lines."""


@pytest.fixture
def deaths(monkeypatch):
    """Points at which the next passing is the last one."""
    fatal: list[str] = []

    def point(name):
        if name in fatal:
            fatal.remove(name)
            raise Killed(name)

    for module in ("core.runs.loop", "core.runs.tooling", "core.stores.table_store"):
        monkeypatch.setattr(f"{module}.point", point)
    return fatal


async def die(office, *points):
    """Somebody writes, the process dies; its lease runs out."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    await office.say("go")
    await eventually(lambda: not office.runtime.dispatcher._tasks)
    await office.clock.advance(LEASE_TTL)


@pytest.mark.parametrize(
    "death", ["model.before_call", "model.after_call", "commit_answer.before_commit"]
)
async def test_without_a_stored_answer_the_model_is_asked_again(deaths, death):
    deaths.append(death)
    async with opened(Say(text="lost"), Say(text="kept")) as office:
        if death == "model.before_call":
            office.model.script.pop(0)
        await die(office)
        await office.runtime.tick()
        assert await office.posted() == ["kept"]


@pytest.mark.parametrize(("idempotent", "runs", "result"), [(True, 2, "done"), (False, 1, None)])
async def test_an_intent_is_run_again_only_if_its_tool_bears_it(deaths, idempotent, runs, result):
    ran = []

    @tool(idempotent=idempotent)
    async def work() -> str:
        """Work."""
        ran.append(1)
        return "done"

    deaths.append("tool.after_run")
    async with opened(Say(calls=(("work", {}),)), Say(text="ok"), tools=[work]) as office:
        await die(office)
        await office.runtime.tick()
        assert await office.posted() == ["ok"]
        assert len(ran) == runs
        told = office.model.requests[1].messages[-1].tool_result
        assert told.result == result or "was interrupted" in told.result["message"]
        assert ("tool-error" in office.kinds()) is (not idempotent)


@pytest.mark.parametrize("death", ["settle_call.after_commit", "close_step.before_commit"])
async def test_a_settled_call_is_never_run_again(deaths, death):
    ran = []

    @tool(idempotent=True)
    async def work() -> str:
        """Work."""
        ran.append(1)
        return "done"

    async with opened(Say(calls=(("work", {}),)), Say(text="ok"), tools=[work]) as office:
        office.model.script[0] = Say(calls=(("work", {}),), gate=(gate := asyncio.Event()))
        await office.say("go")
        await office.asked(1)
        deaths.append(death)
        gate.set()
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await eventually(lambda: not office.runtime.dispatcher._tasks)
        await office.clock.advance(LEASE_TTL)
        await office.runtime.tick()
        assert await office.posted() == ["ok"]
        assert len(ran) == 1


@pytest.mark.parametrize(("idempotent", "runs"), [(True, 2), (False, 1)])
async def test_a_resumed_call_that_was_cut_off_runs_again_only_if_it_may(deaths, idempotent, runs):
    sent = []

    @tool(idempotent=idempotent)
    async def send(context: ToolContext) -> str:
        """Send once people agree."""
        if not context.resumed:
            await context.suspend("really?")
            return ""
        sent.append(context.resume_data)
        return "sent"

    async with opened(Say(calls=(("send", {}),)), Say(text="ok"), tools=[send]) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        deaths.append("tool.after_run")
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await office.agent.resume_stream("yes", run_id=waiting.run_id)
        await eventually(lambda: sent and not office.runtime.dispatcher._tasks)
        await office.clock.advance(LEASE_TTL)
        await office.runtime.tick()
        assert (await office.posted())[-1] == "ok"
        assert sent == ["yes"] * runs


async def test_who_lost_the_lease_stops_without_another_word():
    async with opened(Say(text="too late", gate=asyncio.Event()), Say(text="mine")) as office:
        await office.say("go")
        await office.asked(1)
        await office.store.void_leases()
        taken = await office.store.acquire(KEY, "another", LEASE_TTL)
        before = await office.history()
        await office.passes(1, lambda: not office.runtime.dispatcher._tasks)
        assert await office.history() == before
        assert (await office.store.thread(KEY)).epoch == taken.epoch
        assert (await office.runs())[0].status == "running"


async def test_an_answer_that_comes_after_the_lease_was_lost_is_not_stored():
    gate = asyncio.Event()
    async with opened(Say(text="too late", gate=gate)) as office:
        await office.say("go")
        await office.asked(1)
        await office.store.void_leases()
        await office.store.acquire(KEY, "another", LEASE_TTL)
        gate.set()
        await office.runtime.idle()
        assert await office.history() == ["signal: go"]
        assert office.adapter.sent == []


async def test_a_store_that_stays_away_ends_the_ownership_in_time():
    async with opened(Say(text="never", gate=asyncio.Event())) as office:

        async def away(*_):
            raise StoreUnavailable("the disk is full")

        await office.say("go")
        await office.asked(1)
        office.runtime.store.renew = away
        began = office.clock.monotonic()
        await office.passes(1, lambda: not office.runtime.dispatcher._tasks)
        assert office.clock.monotonic() - began <= LEASE_TTL.total_seconds() + 3


async def test_a_full_disk_leaves_the_run_to_be_taken_up_again():
    gate = asyncio.Event()
    async with opened(Say(text="lost", gate=gate), Say(text="kept")) as office:
        commit = office.store.commit_answer

        async def full(*_):
            office.runtime.store.commit_answer = commit
            raise StoreUnavailable("the disk is full")

        office.runtime.store.commit_answer = full
        await office.say("go")
        gate.set()
        await office.runtime.idle()
        assert await office.endings() == [("running", None)]
        await office.clock.advance(LEASE_TTL)
        await office.runtime.tick()
        assert await office.posted() == ["kept"]


async def test_a_process_told_to_stop_finishes_its_step_and_leaves_the_rest():
    gate = asyncio.Event()

    @tool
    async def work() -> str:
        """Work."""
        await gate.wait()
        return "done"

    script = [Say(calls=(("work", {}),)), Say(text="from the next")]
    async with opened(*script, tools=[work]) as office:
        await office.say("go")
        await eventually(lambda: "tool-call" in office.kinds())
        closing = asyncio.create_task(office.runtime.aclose())
        await asyncio.sleep(0)
        gate.set()
        await closing
        assert (await office.history())[-1] == "result work: done"
        after = Runtime(store=office.store, clock=office.clock, agents=[office.agent])
        await after.tick()
        await after.idle()
        assert (await office.history())[-1] == "assistant: from the next"


async def test_a_process_cut_off_in_mid_step_gives_its_lease_back():
    async with opened(Say(text="never", gate=asyncio.Event())) as office:
        await office.say("go")
        await office.asked(1)
        with suppress(asyncio.CancelledError):
            await office.runtime.aclose(timedelta(0))
        assert await office.store.runnable() == [KEY]


async def test_what_fails_again_and_again_is_set_aside_and_told():
    async with opened(Say(text="back")) as office:
        commit = office.store.close_step

        async def broken(*_):
            raise StoreUnavailable("never again")

        office.runtime.store.close_step = broken
        await office.say("go")
        await office.runtime.idle()
        for _ in range(3):
            await office.clock.advance(LEASE_TTL)
            await office.runtime.tick()
            await office.runtime.idle()
        assert (await office.store.thread(KEY)).quarantined
        office.runtime.store.close_step = commit
        assert "I tried this 3 times" in (await office.told("again"))[0]
        assert office.adapter.sent[-1].payload.text == "back"
