"""Suspending and resuming: a pause outlives its process and is answered exactly once."""

import asyncio

import pytest

from core import Agent, Runtime, ToolContext, tool
from core.approvals.store import SuspensionFilter
from core.errors import AlreadyDecided, Conflict, InterlockError, NotSuspended, Unknown
from core.testing import Say, ScriptedModel
from tests.unit.core.runs.office import ADA, KEY, MEMORY, opened

entered: list = []


@pytest.fixture(autouse=True)
def _fresh():
    entered.clear()


@tool
async def ask(question: str, context: ToolContext) -> object:
    """Ask somebody."""
    entered.append((question, context.resume_data if context.resumed else "first"))
    if context.resumed:
        return {"answer": context.resume_data}
    await context.suspend({"question": question})
    return "this is ignored"


def asks(*questions):
    return Say(calls=tuple(("ask", {"question": one}) for one in questions))


async def test_a_pause_is_durable_when_it_is_announced():
    async with opened(asks("a"), tools=[ask]) as office:
        stream = await office.agent.stream("go", memory=MEMORY)
        async for chunk in stream.full_stream:
            if chunk.type == "tool-call-suspended":
                suspension = await office.store.suspension(chunk.payload["token"])
                assert suspension.tool_call_id == chunk.payload["toolCallId"]
                head = await office.store.thread(KEY)
                assert (head.state, head.owner) == ("suspended", None)
        assert await office.history() == ["signal: go", "assistant:  [ask]"]


@pytest.mark.parametrize("data", [False, 0, "", None, [], {"x": 1}])
async def test_the_same_call_is_entered_again_with_its_arguments_and_the_answer(data):
    async with opened(asks("a"), Say(text="ok"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        result = await office.agent.resume_generate(data, run_id=paused.run_id)
        assert entered == [("a", "first"), ("a", data)]
        assert result.tool_results[0]["result"] == {"answer": data}
        assert len(office.model.requests) == 2


async def test_earlier_tools_of_the_step_do_not_run_again():
    ran = []

    @tool
    async def work() -> None:
        """Work."""
        ran.append(1)

    both = Say(calls=(("work", {}), ("ask", {"question": "a"})))
    async with opened(both, Say(text="ok"), tools=[work, ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        await office.agent.resume_generate("yes", run_id=paused.run_id)
        assert ran == [1]


async def test_several_pauses_are_answered_in_any_order_and_the_model_waits_for_all():
    async with opened(asks("a", "b", "c"), Say(text="ok"), tools=[ask]) as office:
        await office.say("go")
        waiting = {one.args["question"]: one for one in await office.waiting()}
        for left, question in ((2, "b"), (1, "c")):
            one = waiting[question]
            await office.agent.resume_stream(
                question, run_id=one.run_id, tool_call_id=one.tool_call_id
            )
            assert len(await office.waiting()) == left
            assert len(office.model.requests) == 1
        await office.agent.resume_stream("a", run_id=waiting["a"].run_id)
        await office.posted()
        results = [m.tool_result.result for m in office.model.requests[1].messages[-3:]]
        assert results == [{"answer": "a"}, {"answer": "b"}, {"answer": "c"}]


async def test_answers_that_come_together_are_all_heard():
    async with opened(asks("a", "b"), Say(text="ok"), tools=[ask]) as office:
        await office.say("go")
        resumes = [
            office.agent.resume_stream(
                one.args["question"], run_id=one.run_id, tool_call_id=one.tool_call_id
            )
            for one in await office.waiting()
        ]
        await asyncio.gather(*resumes)
        assert (await office.posted())[-1] == "ok"
        assert len(entered) == 4


async def test_without_a_call_id_exactly_one_must_wait():
    async with opened(asks("a", "b"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        with pytest.raises(NotSuspended, match="several calls"):
            await office.agent.resume_stream("x", run_id=paused.run_id)


@pytest.mark.parametrize("call", ["", "call_nobody_made"])
async def test_a_call_that_does_not_wait_cannot_be_answered(call):
    async with opened(asks("a"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        with pytest.raises(NotSuspended, match="does not wait"):
            await office.agent.resume_stream("x", run_id=paused.run_id, tool_call_id=call)
        assert entered == [("a", "first")]


async def test_a_run_that_is_over_or_unknown_cannot_be_resumed():
    async with opened(Say(text="ok")) as office:
        done = await office.agent.generate("go", memory=MEMORY)
        with pytest.raises(NotSuspended, match=f"run {done.run_id} does not wait"):
            await office.agent.resume_stream("x", run_id=done.run_id)
        with pytest.raises(Unknown, match="run_nowhere is not in the store"):
            await office.agent.resume_stream("x", run_id="run_nowhere")


async def test_the_second_answer_in_a_row_is_refused():
    async with opened(asks("a"), Say(text="ok"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        await office.agent.resume_generate("one", run_id=paused.run_id)
        with pytest.raises(NotSuspended):
            await office.agent.resume_stream("two", run_id=paused.run_id)
        assert [data for _, data in entered] == ["first", "one"]


async def test_of_two_answers_at_once_one_wins():
    async with opened(asks("a"), Say(text="ok"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        answers = [office.agent.resume_stream(n, run_id=paused.run_id) for n in range(5)]
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        lost = [one for one in outcomes if isinstance(one, InterlockError)]
        assert len(lost) == 4
        assert all(isinstance(one, (AlreadyDecided, NotSuspended)) for one in lost)
        await office.posted()
        assert len(entered) == 2


async def test_a_late_click_never_answers_a_newer_question():
    async with opened(asks("old"), asks("new"), tools=[ask]) as office:
        await office.say("go")
        [old] = await office.waiting()
        await office.agent.resume_stream("x", run_id=old.run_id, tool_call_id=old.tool_call_id)
        [new] = await office.waiting()
        with pytest.raises(AlreadyDecided):
            await office.runtime.decider.decide(old.token, ADA, "approved", None)
        with pytest.raises(NotSuspended):
            await office.agent.resume_stream("x", run_id=old.run_id, tool_call_id=old.tool_call_id)
        assert [one.token for one in await office.waiting()] == [new.token]


async def test_a_tool_may_pause_again_after_an_answer():
    @tool
    async def twice(context: ToolContext) -> str:
        """Ask twice."""
        if context.resume_data != "second":
            await context.suspend(f"after {context.resume_data}")
        return "both"

    async with opened(Say(calls=(("twice", {}),)), Say(text="ok"), tools=[twice]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        again = await office.agent.resume_generate("first", run_id=paused.run_id)
        assert again.suspend_payload["payload"] == "after first"
        done = await office.agent.resume_generate("second", run_id=paused.run_id)
        assert done.tool_results[0]["result"] == "both"


async def test_another_process_finds_the_pause_and_goes_on():
    async with opened(asks("a"), tools=[ask]) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        model = ScriptedModel([Say(text="from the next process")])
        later = Agent(id="helper", model=model, tools=[ask])
        async with Runtime(store=office.store, clock=office.clock) as runtime:
            [found] = await runtime.store.suspensions(SuspensionFilter(agent_id="helper"))
            assert found == waiting
            result = await later.resume_generate("yes", run_id=found.run_id)
            assert result.text == "from the next process"
        assert entered == [("a", "first"), ("a", "yes")]


async def test_an_agent_resumes_only_its_own_runs():
    async with opened(asks("a"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        other = Agent(id="other", model=office.model)
        with pytest.raises(Unknown, match="not one of agent other"):
            await other.resume_stream("x", run_id=paused.run_id)
        assert len(await office.waiting()) == 1


async def test_resuming_inside_the_loop_over_the_paused_stream_works():
    async with opened(asks("a"), asks("b"), Say(text="done"), tools=[ask]) as office:
        said, todo = [], [await office.agent.stream("go")]
        while todo:
            stream = todo.pop()
            async for chunk in stream.full_stream:
                if chunk.type == "tool-call-suspended":
                    todo.append(await office.agent.resume_stream("yes", run_id=stream.run_id))
                elif chunk.type == "text-delta":
                    said.append(chunk.payload["text"])
        assert said == ["done"]
        assert len(entered) == 4


async def test_a_run_without_memory_pauses_and_resumes_by_its_id():
    async with opened(asks("a"), Say(text="done"), tools=[ask]) as office:
        paused = await office.agent.generate("go")
        assert (await office.agent.resume_generate("yes", run_id=paused.run_id)).text == "done"


async def test_nothing_is_left_waiting_once_a_run_is_over():
    async with opened(asks("a", "b"), tools=[ask]) as office:
        await office.say("go")
        await office.waiting()
        await office.runtime.abort(KEY)
        assert await office.waiting() == []
        results = [row for row in await office.history() if row.startswith("result")]
        assert len(results) == 2


async def test_a_large_pause_can_be_answered_at_once():
    async with opened(asks("x" * 1_000_000), Say(text="ok"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        assert (await office.agent.resume_generate(1, run_id=paused.run_id)).text == "ok"


async def test_a_pause_gives_the_run_its_steps_anew():
    async with opened(asks("a"), asks("b"), Say(text="ok"), tools=[ask], max_steps=1) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        again = await office.agent.resume_generate("1", run_id=paused.run_id)
        assert again.finish_reason == "suspended"


async def test_a_closed_runtime_refuses_instead_of_waiting_for_ever():
    async with opened(asks("a"), tools=[ask]) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        agent = Agent(id="helper", model=office.model, tools=[ask], runtime=office.runtime)
    with pytest.raises(Conflict, match="closed"):
        await agent.resume_stream("x", run_id=paused.run_id)
