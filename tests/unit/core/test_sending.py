"""Sending: what a send answers, when, and what it refuses."""

import asyncio

import pytest

from core.errors import Conflict, InvalidInput, InvalidSignal, StoreUnavailable, Unknown
from core.sending import memory_key, read_if_active, read_if_idle
from core.testing import Say
from tests.unit.core.runs.office import KEY, MEMORY, WHERE, opened


async def test_a_wake_brings_the_stream_of_its_run():
    async with opened(Say(text="Hello")) as office:
        accepted = await office.agent.send_message("Hi", **WHERE).accepted
        assert accepted.action == "wake"
        result = await accepted.output.consume_stream()
        assert (result.run_id, result.text) == (accepted.run_id, "Hello")


async def test_a_message_to_a_busy_thread_names_the_run_and_merges_that_branch():
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        first = await office.agent.send_message("Hi", **WHERE).accepted
        await office.asked(1)
        sent = office.agent.send_message(
            {"contents": "more", "attributes": {"source": "chat"}},
            **WHERE,
            if_active={"attributes": {"delivery": "while-active"}},
            if_idle={"attributes": {"delivery": "idle"}},
        )
        accepted = await sent.accepted
        assert (accepted.action, accepted.run_id) == ("deliver", first.run_id)
        assert accepted.output is None
        assert accepted.signal.attributes == {"source": "chat", "delivery": "while-active"}
        gate.set()
        await office.posted()


async def test_a_run_may_be_addressed_by_its_id():
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        first = await office.agent.send_message("Hi", **WHERE).accepted
        sent = await office.agent.send_message("more", run_id=first.run_id).accepted
        assert sent.action == "deliver"
        gate.set()
        await office.posted()
        with pytest.raises(Unknown):
            await office.agent.send_message("more", run_id="run_nowhere").accepted


async def test_accepted_is_never_told_before_the_row_is_there():
    async with opened() as office:

        async def full(*_):
            raise StoreUnavailable("the disk is full")

        office.runtime.store.accept = full
        sent = office.agent.send_message("Hi", **WHERE, if_idle={"behavior": "persist"})
        for future in (sent.accepted, sent.persisted):
            with pytest.raises(StoreUnavailable):
                await future


async def test_what_is_persisted_is_shown_without_a_run():
    async with opened() as office:
        sent = office.agent.send_message("later", **WHERE, if_idle={"behavior": "persist"})
        await sent.persisted
        assert office.kinds() == ["start", "data-user-message", "finish"]
        assert await office.history() == ["signal: later"]
        assert await office.runs() == []


async def test_what_is_discarded_leaves_nothing():
    async with opened() as office:
        sent = office.agent.send_message("no", **WHERE, if_idle={"behavior": "discard"})
        accepted = await sent.accepted
        assert (accepted.action, sent.persisted) == ("discard", None)
        assert office.chunks == []


async def test_the_options_of_a_wake_are_those_of_its_run():
    asks = Say(calls=(("clock", {}),))
    async with opened(*[asks] * 3, tools=["clock"]) as office:
        idle = {"stream_options": {"maxSteps": 1}}
        await office.agent.send_message("go", **WHERE, if_idle=idle).accepted
        await office.posted()
        assert len(office.model.requests) == 1


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        ("one", "one"),
        (["one", "two"], "one\ntwo"),
        ([{"role": "user", "content": "one"}, "two"], "one\ntwo"),
        ([{"role": "user", "content": [{"type": "text", "text": "one"}]}, "two"], "one\ntwo"),
    ],
)
async def test_messages_come_in_several_forms(messages, prompt):
    async with opened(Say(text="ok")) as office:
        await office.agent.generate(messages)
        content = office.model.requests[0].messages[-1].content
        text = content if isinstance(content, str) else "\n".join(part.text for part in content)
        assert text == prompt


@pytest.mark.parametrize(
    ("messages", "options", "error"),
    [
        ([{"role": "assistant", "content": "I said"}], {}, InvalidInput),
        ([{"role": "user"}], {}, InvalidSignal),
        ("Hi", {"max_step": 3}, InvalidInput),
        ("Hi", {"memory": {"resource": "team"}}, InvalidInput),
        ("Hi", {"memory": {"thread": "thr"}}, InvalidInput),
    ],
)
async def test_what_is_not_understood_starts_nothing(messages, options, error):
    async with opened() as office:
        with pytest.raises(error):
            await office.agent.stream(messages, **options)
        assert await office.store.runnable() == []


async def test_a_run_id_is_used_once():
    async with opened(Say(text="one"), Say(text="two")) as office:
        assert (await office.agent.generate("Hi", run_id="mine")).run_id == "mine"
        with pytest.raises(Conflict, match="run mine exists already"):
            await office.agent.generate("Hi", run_id="mine")


async def test_a_thread_of_another_resource_is_not_touched():
    async with opened(Say(text="ok")) as office:
        with pytest.raises(Unknown):
            await office.agent.generate("Hi", memory={**MEMORY, "resource": "thief"})
        assert await office.history() == []


async def test_a_caller_waits_for_its_own_turn_on_a_busy_thread():
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        calls = [office.agent.generate(text, memory=MEMORY) for text in ("first", "second")]
        together = asyncio.gather(*calls)
        await office.asked(1)
        gate.set()
        assert [result.text for result in await together] == ["one", "two"]
        assert [row for row in await office.history() if row.startswith("signal")] == [
            "signal: first",
            "signal: second",
        ]


def test_a_thread_may_be_named_by_its_object():
    assert memory_key({"resource": "team", "thread": {"id": "thr", "title": "x"}}) == KEY
    assert memory_key(None) != memory_key(None)


@pytest.mark.parametrize("read", [read_if_active, read_if_idle])
def test_a_branch_nobody_knows_is_refused_with_those_that_are(read):
    with pytest.raises(InvalidInput, match=r"is not one of (deliver|wake), persist, discard"):
        read({"behavior": "explode"})


def test_a_branch_says_what_to_do_and_what_to_add():
    branch = read_if_active({"behavior": "persist", "attributes": {"late": True}})
    assert (branch.behavior, branch.attributes) == ("persist", {"late": True})
    assert read_if_idle({}).behavior == "wake"
