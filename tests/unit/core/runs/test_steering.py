"""Steering: what people write while a run goes on, and what waits for a turn of its own."""

import asyncio

from core import tool
from core.signals.signal import create_signal
from core.testing import NOON, Say
from core.threads.lease import LEASE_TTL
from core.threads.store import AcceptRequest
from tests.unit.core.runs.office import KEY, WHERE, opened


async def test_a_message_during_the_run_changes_the_next_request():
    gate = asyncio.Event()
    async with opened(Say(text="Blue it is.", gate=gate), Say(text="Red then.")) as office:
        await office.say("Paint it blue")
        await office.asked(1)
        await office.say("No, red!")
        gate.set()
        assert await office.posted() == ["Blue it is.", "Red then."]
        assert office.model.prompts()[1] == "Paint it blue\nNo, red!"
        assert len(await office.runs()) == 1


async def test_a_message_during_a_tool_is_read_with_its_result():
    gate = asyncio.Event()

    @tool
    async def paint() -> str:
        """Paint."""
        await gate.wait()
        return "painted"

    async with opened(Say(calls=(("paint", {}),)), Say(text="Done."), tools=[paint]) as office:
        await office.say("Paint it")
        await office.asked(1)
        await office.say("Twice, please")
        gate.set()
        await office.posted()
        assert await office.history() == [
            "signal: Paint it",
            "assistant:  [paint]",
            "result paint: painted",
            "signal: Twice, please",
            "assistant: Done.",
        ]
        assert [message.role for message in office.model.requests[1].messages[-3:]] == [
            "assistant",
            "tool",
            "user",
        ]


async def test_steering_gives_the_run_its_steps_anew():
    gate = asyncio.Event()
    asks = Say(calls=(("nap", {}),))

    @tool
    async def nap() -> str:
        """Nap."""
        return "rested"

    script = [asks, Say(calls=asks.calls, gate=gate), asks, Say(text="Done.")]
    async with opened(*script, tools=[nap], max_steps=2) as office:
        await office.say("go")
        await office.asked(2)
        await office.say("go on")
        gate.set()
        assert await office.posted() == ["Done."]


async def test_a_signal_of_a_program_gives_no_new_steps():
    gate = asyncio.Event()
    asks = Say(calls=(("nap", {}),))

    @tool
    async def nap() -> str:
        """Nap."""
        return "rested"

    script = [Say(calls=asks.calls, gate=gate), asks, asks]
    async with opened(*script, tools=[nap], max_steps=2) as office:
        await office.say("go")
        await office.asked(1)
        signal = {"type": "reactive", "contents": "tick"}
        await office.agent.send_signal(signal, **WHERE).accepted
        gate.set()
        await office.posted()
        assert len(office.model.requests) == 2


async def test_a_message_after_the_last_look_starts_the_next_run():
    async with opened(Say(text="one"), Say(text="two")) as office:
        release = office.store.release_if_drained

        async def a_message_comes_first(lease):
            office.runtime.store.release_if_drained = release
            await office.say("second")
            return await release(lease)

        office.runtime.store.release_if_drained = a_message_comes_first
        assert await office.told("first") == ["one", "two"]
        assert await office.endings() == [("done", "stop"), ("done", "stop")]


async def test_a_queued_message_becomes_a_turn_of_its_own():
    gate = asyncio.Event()
    script = [Say(text="one", gate=gate), Say(text="two"), Say(text="three"), Say(text="four")]
    async with opened(*script) as office:
        await office.say("first")
        await office.asked(1)
        await office.say("third", queue=True)
        await office.say("fourth", queue=True)
        await office.say("second")
        gate.set()
        assert await office.posted() == ["one", "two", "three", "four"]
        assert office.model.prompts()[1] == "first\nsecond"
        assert len(await office.runs()) == 3


async def test_queueing_on_an_idle_thread_answers_at_once():
    async with opened(Say(text="one")) as office:
        result = office.agent.queue_message("Hi", **WHERE, if_idle={"behavior": "persist"})
        assert (await result.accepted).action == "wake"
        assert await office.posted() == ["one"]


async def test_two_quick_wakes_are_one_model_call():
    async with opened(Say(text="both")) as office:
        await asyncio.gather(office.say("one"), office.say("two"))
        office.runtime.wake(KEY)
        assert await office.posted() == ["both"]
        assert office.model.prompts() == ["one\ntwo"]


async def test_two_people_in_one_thread_are_told_apart():
    async with opened(Say(text="Hello both")) as office:
        await asyncio.gather(office.say("hi", name="Ada"), office.say("hey", name="Ben"))
        await office.posted()
        assert office.model.prompts() == ['<user name="Ada">hi</user>\n<user name="Ben">hey</user>']


async def test_a_persisted_message_is_seen_by_the_next_run_only():
    async with opened(Say(text="ok")) as office:
        result = office.agent.send_message("for later", **WHERE, if_idle={"behavior": "persist"})
        await result.persisted
        assert office.model.requests == []
        await office.told("now")
        assert office.model.prompts() == ["for later\nnow"]


async def test_watchers_see_a_steering_message_before_the_answer_to_it():
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        await office.say("first")
        await office.asked(1)
        await office.say("second")
        gate.set()
        await office.posted()
        echoes = [at for at, kind in enumerate(office.kinds()) if kind == "data-user-message"]
        deltas = [at for at, kind in enumerate(office.kinds()) if kind == "text-delta"]
        assert echoes[0] < deltas[0] < echoes[1] < deltas[1]


async def test_a_thread_in_work_elsewhere_is_left_to_its_owner():
    async with opened(Say(text="ok")) as office:
        request = AcceptRequest(
            key=KEY, agent_id="helper", signal=signal("Hi"), fresh_run_id="run_1"
        )
        await office.store.accept(request)
        await office.store.acquire(KEY, "another process", LEASE_TTL)
        office.runtime.wake(KEY)
        await office.runtime.tick()
        assert await office.posted() == []
        await office.clock.advance(LEASE_TTL)
        await office.runtime.tick()
        assert await office.posted() == ["ok"]


def signal(text):
    return create_signal({"type": "user", "contents": text}, now=NOON, new_id=lambda: "sig_1")
