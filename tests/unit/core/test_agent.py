"""Agents: definitions whose verbs find a Runtime by themselves."""

import asyncio
import contextvars
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import pytest

from core import Agent, Runtime
from core.errors import InvalidInput, InvalidSignal
from core.testing import Say, ScriptedModel
from tests.unit.core.runs.office import MEMORY, WHERE, opened
from tests.unit.test_house.tree import ROOT

ALONE = """
import asyncio
from core import Agent, submit_plan
from core.testing import Say, ScriptedModel

calls = (("submit_plan", {"path": "a.md"}),)
model = ScriptedModel([Say(text="Hello!"), Say(calls=calls), Say(text="Good.")])
agent = Agent(name="alone", model=model, tools=[submit_plan])
print(asyncio.run(agent.generate("Hi")).text)
paused = asyncio.run(agent.generate("Plan"))
answer = {"action": "approved", "plan": "x"}
print(asyncio.run(agent.resume_generate(answer, run_id=paused.run_id)).text)
"""


def alone(agent, *texts, **options):
    """Talk to an agent where no Runtime is current; one event loop per message."""

    def talk():
        return [asyncio.run(agent.generate(text, **options)).text for text in texts]

    return contextvars.Context().run(talk)


def speaking(*texts, **fields):
    return Agent(**{"id": "solo", "model": ScriptedModel([Say(text=t) for t in texts])} | fields)


def test_an_agent_answers_where_there_is_no_runtime_at_all():
    asked = [sys.executable, "-W", "error", "-c", ALONE]
    ran = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = [line for line in ran.stdout.splitlines() if not line.startswith("20")]
    assert lines == ["Hello!", "Good."]


def test_a_thread_goes_on_from_one_event_loop_to_the_next():
    agent = speaking("one", "two")
    memory = {"resource": "team", "thread": "across-loops"}
    assert alone(agent, "first", "second", memory=memory) == ["one", "two"]
    assert agent.model.prompts()[1] == "first\nsecond"


def test_two_agents_of_one_name_are_not_taken_for_each_other():
    assert alone(speaking("from the first"), "Hi") == ["from the first"]
    assert alone(speaking("from the second"), "Hi") == ["from the second"]


async def test_the_runtime_that_was_entered_is_the_one_in_use():
    agent = speaking("ok")
    async with Runtime() as runtime:
        await agent.generate("Hi")
        assert runtime.agents() == (agent,)


async def test_registration_makes_a_runtime_the_current_one_until_it_closes():
    agent = speaking("ok")
    runtime = Runtime(agents=[agent])
    result = await agent.generate("Hi", memory=MEMORY)
    assert (await runtime.store.run(result.run_id)).agent_id == "solo"
    await runtime.aclose()
    later = replace(agent, model=ScriptedModel([Say(text="still here")]))
    assert (await later.generate("Hi")).text == "still here"


async def test_an_agent_may_name_its_runtime():
    mine = Runtime()
    agent = speaking("ok", runtime=mine)
    async with Runtime() as other:
        await agent.generate("Hi")
        assert (mine.agents(), other.agents()) == ((agent,), ())
    await mine.aclose()


async def test_leaving_a_runtime_brings_back_the_one_before():
    async with Runtime() as outer:
        async with Runtime():
            pass
        agent = speaking("ok")
        await agent.generate("Hi")
        assert outer.agents() == (agent,)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"id": "a"}, ("a", "a")),
        ({"name": "Ada"}, ("Ada", "Ada")),
        ({"id": "a", "name": "Ada"}, ("a", "Ada")),
    ],
)
def test_id_and_name_stand_in_for_each_other(given, names):
    agent = Agent(**given)
    assert (agent.id, agent.name) == names


def test_an_agent_without_either_is_refused():
    with pytest.raises(InvalidInput, match="needs an id or a name") as caught:
        Agent(instructions="Be brief.")
    assert caught.value.fields == {"id": "missing"}


def test_a_definition_does_not_change():
    with pytest.raises(FrozenInstanceError):
        Agent(id="a").instructions = "other"


async def test_a_message_is_a_persons_whatever_it_claims():
    async with opened(Say(text="ok")) as office:
        message = {"contents": "Hi", "type": "notification", "tagName": "system"}
        sent = office.agent.send_message(message, **WHERE)
        assert (sent.signal.type, sent.signal.tag_name) == ("user", "user")
        queued = office.agent.queue_message(message, **WHERE)
        assert queued.signal.tag_name == "user"
        await office.posted()


async def test_a_slip_is_heard_of_at_once():
    async with opened() as office:
        with pytest.raises(InvalidInput, match="nothing was sent"):
            office.agent.send_message("Hi", resource_id="team")
        with pytest.raises(InvalidSignal):
            office.agent.send_signal({"type": "nonsense", "contents": "x"}, **WHERE)
        with pytest.raises(TypeError):
            office.agent.send_message("Hi", **WHERE, if_busy={})


async def test_a_subscription_goes_on_from_its_cursor():
    async with opened(Say(text="one"), Say(text="two")) as office:
        first = await office.agent.subscribe_to_thread(**WHERE)
        await office.told("first")
        seen = [await anext(first.items())]
        again = await office.agent.subscribe_to_thread(**WHERE, after=seen[0].cursor)
        await office.told("second")
        assert (await anext(again.items())).chunk.type == "data-user-message"
