"""`ask_user`: a question is asked, waits, and is answered in words or by choice (Q1, Q2)."""

from typing import Any

import pytest

from core.agent import Agent
from core.approvals.ask_user import ask_user, read_answer
from core.errors import InvalidInput
from core.runtime import Runtime
from core.testing import Say, ScriptedModel
from core.tools.execution import execute
from core.tools.tool import ToolContext

THREAD = {"resource": "team", "thread": "t1"}


def asking(**arguments: Any) -> tuple[Agent, ScriptedModel]:
    model = ScriptedModel([Say(calls=(("ask_user", arguments),)), Say(text="Understood.")])
    return Agent(id="helper", model=model, tools=["ask_user"]), model


async def test_a_question_waits_and_its_answer_goes_on() -> None:
    agent, _ = asking(question="Which branch?", options=[{"label": "main"}])
    async with Runtime():
        paused = await agent.generate("release", memory=THREAD)
        assert paused.finish_reason == "suspended"
        assert paused.suspend_payload["question"] == "Which branch?"
        assert paused.suspend_payload["selectionMode"] == "single_select"
        done = await agent.resume_generate("main", run_id=paused.run_id)
    assert done.text == "Understood."
    assert done.tool_results[0]["result"] == {"answer": "main"}


async def test_several_selections_are_one_answer() -> None:
    agent, _ = asking(
        question="Which?", options=[{"label": "a"}, {"label": "b"}], selectionMode="multi_select"
    )
    async with Runtime():
        paused = await agent.generate("release", memory=THREAD)
        done = await agent.resume_generate(["a", "b"], run_id=paused.run_id)
    assert done.tool_results[0]["result"] == {"answer": "a, b"}


async def test_an_answer_of_the_wrong_shape_keeps_the_question_waiting() -> None:
    agent, _ = asking(question="Which?")
    async with Runtime():
        paused = await agent.generate("release", memory=THREAD)
        with pytest.raises(InvalidInput, match="text or a list of texts"):
            await agent.resume_generate({"a": 1}, run_id=paused.run_id)
        assert (await agent.resume_generate("main", run_id=paused.run_id)).finish_reason == "stop"


async def test_a_mode_without_options_is_an_error_and_no_pause() -> None:
    agent, model = asking(question="Which?", selectionMode="multi_select")
    async with Runtime():
        result = await agent.generate("release", memory=THREAD)
    assert result.finish_reason == "stop"
    assert "needs options" in str(model.requests[1].messages[-1].tool_result)


async def test_outside_a_run_the_question_comes_back_in_words() -> None:
    arguments = {"question": "Which?", "options": [{"label": "a"}]}
    outcome = await execute(ask_user, arguments, ToolContext())
    assert "Which?" in outcome.result
    assert "single_select" in outcome.result
    assert not outcome.is_error


@pytest.mark.parametrize(("data", "answer"), [("", ""), ("x", "x"), (["a", "b"], "a, b")])
def test_texts_are_answers(data: Any, answer: str) -> None:
    assert read_answer(data) == answer


@pytest.mark.parametrize("data", [None, 7, [], [1], {"a": 1}, False])
def test_anything_else_is_none(data: Any) -> None:
    with pytest.raises(InvalidInput):
        read_answer(data)
