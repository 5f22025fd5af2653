"""The loop: model, tools, model, until the answer is there or the steps are used up."""

import asyncio

import pytest

from core import tool
from core.conversation import Conversation
from core.runs.limits import Limits
from core.testing import Say
from tests.support import eventually
from tests.unit.core.runs.office import KEY, MEMORY, PLACE, opened


@tool(idempotent=True)
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ASKS = Say(calls=(("add", {"a": 1, "b": 2}),))


async def test_an_answer_without_calls_is_one_step_and_stops():
    async with opened(Say(text="Hello!")) as office:
        assert await office.told("Hi") == ["Hello!"]
        assert len(office.model.requests) == 1
        assert await office.endings() == [("done", "stop")]


async def test_results_reach_the_model_in_the_next_step():
    async with opened(ASKS, Say(text="It is 3."), tools=[add]) as office:
        assert await office.told("1 + 2?") == ["It is 3."]
        call, result = office.model.requests[1].messages[-2:]
        assert call.tool_calls[0].tool_call_id == result.tool_result.tool_call_id
        assert result.tool_result.result == 3
        assert await office.history() == [
            "signal: 1 + 2?",
            "assistant:  [add]",
            "result add: 3",
            "assistant: It is 3.",
        ]


async def test_a_turn_posts_one_reply_with_the_texts_of_its_steps_in_order():
    first = Say(text="Let me see.", calls=ASKS.calls)
    async with opened(first, Say(text="It is 3."), tools=[add]) as office:
        assert await office.told("1 + 2?") == ["Let me see.\n\nIt is 3."]


async def test_the_step_limit_is_told_and_counted_exactly():
    async with opened(*[ASKS] * 9, tools=[add], max_steps=3) as office:
        assert await office.told("go") == [
            "I stopped after 3 steps without finishing. Write to me to let me go on."
        ]
        assert len(office.model.requests) == 3
        assert await office.endings() == [("done", "max_steps")]
        finish = office.chunks[-1]
        assert (finish.type, finish.payload) == ("finish", {"stepResult": {"reason": "max_steps"}})


async def test_a_caller_may_allow_other_steps_than_the_agent():
    async with opened(*[ASKS] * 9, tools=[add], max_steps=3) as office:
        result = await office.agent.generate("go", memory=MEMORY, max_steps=2)
        assert (result.finish_reason, len(office.model.requests)) == ("max_steps", 2)
        assert [call["toolName"] for call in result.tool_calls] == ["add", "add"]


async def test_no_run_takes_more_steps_than_the_house_allows():
    async with opened(*[ASKS] * 9, tools=[add], max_steps=50, limits=Limits(steps=4)) as office:
        await office.told("go")
        assert len(office.model.requests) == 4


async def test_what_no_step_is_left_for_is_answered_by_the_next_run():
    gate = asyncio.Event()
    last = Say(calls=ASKS.calls, gate=gate)
    async with opened(
        ASKS, last, Say(text="The build is red."), tools=[add], max_steps=2
    ) as office:
        await office.say("go")
        await office.asked(2)
        signal = {"type": "reactive", "contents": "build failed"}
        office.agent.send_signal(signal, resource_id=KEY.resource_id, thread_id=KEY.thread_id)
        await eventually(lambda: _mail(office))
        gate.set()
        assert "The build is red." in await office.posted()
        assert await office.endings() == [("done", "max_steps"), ("done", "stop")]
        assert "build failed" in office.model.prompts()[2]


async def _mail(office) -> int:
    return (await office.store.thread(KEY)).mail


async def test_chunks_come_in_the_order_of_a_step():
    async with opened(ASKS, Say(text="3"), tools=[add]) as office:
        await office.told("1 + 2?")
        assert office.kinds() == [
            "start",
            "data-user-message",
            "step-start",
            "tool-call-input-streaming-start",
            "tool-call",
            "tool-result",
            "step-finish",
            "step-start",
            "text-start",
            "text-delta",
            "text-end",
            "step-finish",
            "finish",
        ]


async def test_each_step_says_what_it_cost():
    async with opened(ASKS, Say(text="3"), tools=[add]) as office:
        result = await office.agent.generate("1 + 2?", memory=MEMORY)
        assert (result.usage.input_tokens, result.usage.output_tokens) == (2, 2)
        run = (await office.runs())[0]
        assert (run.input_tokens, run.output_tokens) == (2, 2)


async def test_instructions_come_first_and_a_call_may_replace_them():
    async with opened(
        Say(text="a"), Say(text="b"), instructions=["Be brief.", "Be kind."]
    ) as office:
        await office.told("Hi")
        await office.agent.generate("Hi", memory=MEMORY, instructions="Shout.")
        first, second = ([m.content for m in r.messages] for r in office.model.requests)
        assert first[:2] == ["Be brief.", "Be kind."]
        assert second[0] == "Shout."


async def test_a_person_is_called_by_the_name_the_platform_knows():
    async with opened(Say(text="ok")) as office:
        office.adapter.people = {"test:u1": "Ada"}
        await office.say("Hi", name=None, id="test:u1")
        await office.posted()
        assert '<user name="Ada" id="test:u1">Hi</user>' in office.model.prompts()[0]
        row = (await office.store.history(KEY))[0].message
        assert row.metadata["signal"]["attributes"]["name"] == "Ada"


@pytest.mark.parametrize("names", ["none", "broken"])
async def test_a_person_nobody_knows_is_called_by_the_id(names):
    async with opened(Say(text="ok")) as office:
        if names == "broken":
            office.adapter.people = None
        await office.say("Hi", name=None, id="test:u1")
        await office.posted()
        assert '<user name="test:u1" id="test:u1">Hi</user>' in office.model.prompts()[0]


async def test_a_name_that_is_known_is_not_asked_for():
    async with opened(Say(text="ok")) as office:
        office.adapter.people = {"test:u1": "Somebody else"}
        await office.say("Hi", name="Ada", id="test:u1")
        await office.posted()
        assert 'name="Ada"' in office.model.prompts()[0]


async def test_the_reply_goes_to_where_the_newest_person_wrote():
    other = Conversation(platform="test", tenant="t", channel="elsewhere", root="2")
    gate = asyncio.Event()
    async with opened(Say(text="one", gate=gate), Say(text="two")) as office:
        await office.say("first")
        await office.asked(1)
        await office.say("second", place=other)
        gate.set()
        await office.posted()
        assert [delivery.conversation for delivery in office.adapter.sent] == [PLACE, other]


async def test_a_thread_without_a_known_place_answers_in_its_first_one():
    async with opened(Say(text="ok")) as office:
        await office.agent.generate("Hi", memory=MEMORY)
        await office.posted()
        assert office.adapter.sent[0].conversation == PLACE
