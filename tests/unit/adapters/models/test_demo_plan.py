"""How the demo model writes, revises and carries out a plan."""

import pytest

from adapters.models.demo_plan import feedback_of, is_waiting, topic_of
from adapters.models.demo_scene import Done
from tests.unit.adapters.models.demo_talk import APPROVED, WAIT, Talk, by, rejected

ASK = by("Ada", "Please write a plan to add dark mode and submit it")


def items(content):
    return [line.partition(". ")[2] for line in content.splitlines() if line[:1].isdigit()]


@pytest.mark.parametrize(
    "text",
    [
        "write a plan",
        "Can you make a plan for the release?",
        "Plan the migration",
        "we need a plan: add dark mode",
        "Please prepare a short plan and submit it for approval.",
        "計画を書いて",
    ],
)
async def test_a_plan_is_written_before_it_is_submitted(text):
    talk = Talk()
    await talk.say(text)
    assert [name for name, _ in talk.calls][:2] == ["write_plan", "submit_plan"]
    assert talk.made("submit_plan") == [{"path": talk.made("write_plan")[0]["path"]}]


@pytest.mark.parametrize(
    "text", ["how did the plan go?", "What is the plan for today?", "the planet is round"]
)
async def test_talking_about_plans_makes_none(text):
    talk = Talk()
    await talk.say(text)
    assert not talk.made("write_plan")


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Please write a plan to add dark mode and submit it", "add dark mode"),
        ("Plan the migration.", "the migration"),
        ("we need a plan: move house, then submit it for approval.", "move house"),
        ("write a plan", "what we talked about"),
        ("make a plan for the release\nwith care", "the release"),
    ],
)
def test_a_plan_is_about_what_was_asked(text, topic):
    assert topic_of(text) == topic


async def test_a_plan_has_a_title_three_items_and_a_name():
    talk = Talk()
    await talk.say(ASK)
    (written,) = talk.made("write_plan")
    assert written["path"] == "add-dark-mode.md"
    assert written["content"].startswith("# Add dark mode\n\n1. ")
    assert len(items(written["content"])) == 3


async def test_an_approved_plan_is_carried_out_with_a_note_for_each_item():
    talk = Talk()
    answer = await talk.say(ASK)
    notes = [note["content"] for note in talk.made("write_note")]
    assert notes == items(talk.made("write_plan")[0]["content"])
    assert len({note["name"] for note in talk.made("write_note")}) == 3
    assert "approved" in answer


async def test_feedback_is_worked_into_the_plan_and_it_is_submitted_again():
    talk = Talk(results={"submit_plan": [rejected("Add error\n\nhandling steps"), APPROVED]})
    await talk.say(ASK)
    first, second = talk.made("write_plan")
    assert first["path"] == second["path"]
    assert items(second["content"]) == [
        *items(first["content"]),
        "From the review: Add error handling steps",
    ]
    assert len(talk.made("submit_plan")) == 2
    assert len(talk.made("write_note")) == 4


async def test_a_plan_rejected_without_a_word_waits():
    talk = Talk(results={"submit_plan": [WAIT]})
    answer = await talk.say(ASK)
    assert "wait for your next message" in answer
    assert len(talk.made("write_plan")) == 1


async def test_the_next_message_revises_what_was_rejected_without_a_word():
    talk = Talk(results={"submit_plan": [WAIT, APPROVED]})
    talk.hear(ASK)
    await talk.step()
    await talk.step()
    await talk.say(by("Bob", "keep the old colours"))
    assert items(talk.made("write_plan")[-1]["content"])[-1] == "Bob asked: keep the old colours"
    assert len(talk.made("submit_plan")) == 2


async def test_a_message_before_the_submission_is_in_the_plan_people_see():
    talk = Talk()
    await talk.say(ASK, late={0: by("Bob", "also the settings page")})
    assert len(talk.made("submit_plan")) == 1
    assert "also the settings page" in talk.made("write_plan")[-1]["content"]


async def test_nothing_changes_a_plan_after_its_approval():
    talk = Talk()
    answer = await talk.say(ASK, late={2: by("Bob", "paint it green")})
    assert len(talk.made("write_plan")) == 1
    assert "Hi Bob" in answer
    assert "> paint it green" in answer


async def test_a_long_plan_fits_into_the_steps_of_a_run():
    talk = Talk(results={"submit_plan": [rejected(f"point {n}") for n in range(6)] + [APPROVED]})
    await talk.say(ASK)
    assert len(talk.made("write_note")) == 9
    steps = [m for m in talk.messages if any(c.tool_name == "write_note" for c in m.tool_calls)]
    assert len(steps) <= 4


async def test_a_second_plan_may_follow_the_first():
    talk = Talk()
    await talk.say(ASK, late={2: by("Ada", "now plan the release")})
    assert [plan["path"] for plan in talk.made("write_plan")] == [
        "add-dark-mode.md",
        "the-release.md",
    ]


async def test_a_plan_can_be_dropped():
    talk = Talk()
    answer = await talk.say(ASK, late={0: by("Ada", "never mind")})
    assert not talk.made("submit_plan")
    assert "> never mind" in answer


@pytest.mark.parametrize("tools", [(), ("write_plan",), ("clock", "submit_plan")])
async def test_without_the_tools_the_plan_is_told_as_text(tools):
    talk = Talk(tools=tools)
    answer = await talk.say(ASK)
    assert not talk.calls
    assert "1. Look at how things stand" in answer


async def test_a_plan_that_cannot_be_written_is_told():
    talk = Talk()
    talk.hear(ASK)
    await talk.step()
    result = talk.messages[-1].tool_result.model_copy(
        update={"is_error": True, "result": "disk full"}
    )
    talk.messages[-1] = type(talk.messages[-1])(role="tool", tool_result=result)
    answer, calls = await talk.step()
    assert not calls
    assert "disk full" in answer


@pytest.mark.parametrize(
    ("result", "feedback", "waiting"),
    [
        (APPROVED, None, False),
        (WAIT, None, True),
        (rejected("a\n\nb"), "a b", False),
        ({"content": rejected("x"), "isError": False}, "x", False),
        ({"content": "The plan was not approved.", "feedback": "y"}, "y", False),
        ("Plan submitted: plan.md", None, False),
    ],
)
def test_what_became_of_a_plan_is_understood(result, feedback, waiting):
    outcome = Done(tool="submit_plan", args={}, result=result)
    assert feedback_of(outcome) == feedback
    assert is_waiting(outcome) is waiting
