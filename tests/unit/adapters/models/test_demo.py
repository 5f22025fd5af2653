"""The demo model as people meet it."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.models.demo import DemoModel
from adapters.models.demo_scene import Done, Event
from adapters.models.demo_words import clock_words, event_words, inbox_words
from core.ports.model import Finish, TextDelta, ToolCallDelta, ToolCallDone, ToolCallStart
from tests.unit.adapters.models.demo_talk import Talk, by, calls_in


class CountingClock:
    """Notes how long it was asked to wait, and waits not at all."""

    def __init__(self):
        self.waits = []

    async def sleep(self, seconds):
        self.waits.append(seconds)


async def test_it_greets_by_name_after_a_step_with_the_clock():
    talk = Talk()
    answer = await talk.say(by("Ada", "hello there"))
    assert talk.calls == [("clock", {})]
    assert answer.startswith("Hi Ada, you wrote:\n> hello there\n")


async def test_it_says_that_it_is_a_demo_model():
    talk = Talk()
    assert "I am the demo model" in await talk.say("hello")
    assert "demo model" in await talk.say("hello again")


async def test_a_message_in_the_middle_visibly_changes_the_answer():
    talk = Talk()
    late = {0: by("Bob", "and look at staging too")}
    answer = await talk.say(by("Ada", "check the deploy"), late=late)
    assert "Hi Ada, you wrote:\n> check the deploy" in answer
    assert "Hi Bob, you added while I was working:\n> and look at staging too" in answer


async def test_the_same_person_is_greeted_once():
    answer = await Talk().say(by("Ada", "first"), late={0: by("Ada", "second")})
    assert answer.count("Hi Ada") == 1
    assert "Ada, you added while I was working:\n> second" in answer


async def test_without_a_name_it_is_polite_all_the_same():
    assert (await Talk(tools=()).say("hello")).startswith("Hi there, you wrote:\n> hello")


async def test_it_tells_the_time_when_asked():
    answer = await Talk().say(by("Ada", "What time is it?"))
    assert "It is 14:05 UTC on Tuesday, 01 December 2026." in answer


async def test_it_reads_the_inbox_when_asked():
    items = [{"summary": "CI failed on main", "source": "github", "priority": "high"}]
    talk = Talk(results={"notification_inbox": json.dumps({"notifications": items})})
    answer = await talk.say("what is in my inbox?")
    assert talk.calls == [("notification_inbox", {"action": "list"})]
    assert "- high github: CI failed on main" in answer


async def test_two_questions_are_looked_up_in_one_step():
    talk = Talk()
    talk.hear("what time is it, and what did I miss?")
    _, calls = await talk.step()
    assert [call.tool_name for call in calls] == ["clock", "notification_inbox"]
    assert len({call.tool_call_id for call in calls}) == 2


async def test_it_calls_no_tool_it_was_not_offered():
    talk = Talk(tools=("search",))
    answer = await talk.say("what time is it, and what is in my inbox?")
    assert not talk.calls
    assert "I have no clock here" in answer


async def test_it_calls_nothing_when_it_must_not():
    talk = Talk()
    talk.hear(by("Ada", "hello"))
    request = replace(talk.request(), tool_choice="none")
    assert not calls_in([event async for event in talk.model.stream(request)])


async def test_a_failure_is_told_with_a_next_step():
    talk = Talk()
    talk.hear(
        '<notification source="github" kind="ci-status">Build 7 failed on main</notification>'
    )
    answer, calls = await talk.step()
    assert not calls
    assert "**github** reports ci-status: Build 7 failed on main" in answer
    assert "Next step: read the first error" in answer


@pytest.mark.parametrize(
    ("tag", "attributes", "text", "words"),
    [
        ("notification", {"source": "ci"}, "the build is red", "read the first error"),
        ("notification", {"kind": "pull-request"}, "opened", "plan the review"),
        ("github-star", {}, "one more", "nothing is urgent"),
        ("notification-summary", {"pending": "10"}, "email: 5", "**10 notifications** are waiting"),
    ],
)
def test_each_kind_of_event_gets_its_own_advice(tag, attributes, text, words):
    assert words in event_words(Event(tag=tag, attributes=attributes, text=text))


async def test_the_advice_can_be_taken_word_for_word():
    talk = Talk()
    await talk.say("<notification>the build failed</notification>")
    await talk.say("plan the fix")
    assert talk.made("write_plan")[0]["path"] == "the-fix.md"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"notifications": []}, "empty"),
        ({"notifications": [{"summary": "a"}]}, "one notification:\n- a"),
        ({"notifications": [{"summary": "a"}] * 12}, "12 notifications"),
        ({"notifications": [{"summary": "a"}], "hasMore": True}, "- and more"),
        ("no such tool", "could not read the inbox: no such tool"),
    ],
)
def test_an_inbox_of_any_size_is_told(result, words):
    assert words in inbox_words(Done(tool="notification_inbox", args={}, result=result))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("2026-12-01T14:05:00+00:00", "14:05 UTC on Tuesday, 01 December 2026"),
        ({"zone": "UTC", "now": "2026-12-01T14:05:00+00:00"}, "14:05 UTC"),
        ("five past two", "five past two"),
        ({"words": "five past two"}, "five past two"),
        ([1], "[1]"),
    ],
)
def test_a_clock_of_any_form_is_understood(result, words):
    assert words in clock_words(Done(tool="clock", args={}, result=result))


async def test_a_long_message_is_quoted_short():
    answer = await Talk(tools=()).say("word " * 400)
    assert len(answer) < 700


async def test_a_prompt_with_nothing_new_is_answered():
    answer, calls = await Talk().step()
    assert "nothing new" in answer
    assert not calls


async def test_it_answers_the_same_to_the_same_prompt():
    talk = Talk()
    talk.hear(by("Ada", "hello"))
    first = [event async for event in talk.model.stream(talk.request())]
    assert first == [event async for event in talk.model.stream(talk.request())]


async def test_its_events_come_in_the_order_of_the_port():
    talk = Talk()
    talk.hear("what time is it?")
    kinds = [type(event) for event in [event async for event in talk.model.stream(talk.request())]]
    assert kinds[0] is TextDelta
    assert kinds[-4:] == [ToolCallStart, ToolCallDelta, ToolCallDone, Finish]


async def test_a_step_with_calls_takes_its_pace_so_that_people_can_steer():
    clock = CountingClock()
    talk = Talk(model=DemoModel(pace=timedelta(seconds=1.5), clock=clock))
    talk.hear("hello")
    await talk.step()
    assert clock.waits[-1] == 1.5
    assert max(clock.waits[:-1]) < 0.1


async def test_without_a_pace_it_never_waits():
    clock = CountingClock()
    talk = Talk(model=DemoModel(pace=timedelta(0), clock=clock))
    await talk.say("write a plan")
    assert clock.waits == []
