"""The Runtime: the one object a gateway or a script holds."""

import asyncio
from datetime import timedelta

import pytest

from core import Agent, Runtime, RuntimeOptions
from core.errors import Conflict, DeliveryError, InvalidConfig, ModelError, Unknown
from core.runs.output import RunFailed
from core.testing import FakeClock, Say, ScriptedModel
from core.tools.builtin import clock
from tests.unit.core.runs.office import KEY, MEMORY, WHERE, opened


class Registry:
    """Models by name, as the gateway offers them."""

    def __init__(self, **models):
        self.models = models

    def model(self, name):
        return self.models[name]


def saying(*texts):
    return ScriptedModel([Say(text=text) for text in texts])


async def test_the_first_agent_is_the_default_one():
    runtime = Runtime(agents=[Agent(id="a"), Agent(id="b")])
    assert [agent.id for agent in runtime.agents()] == ["a", "b"]
    assert (runtime.agent().id, runtime.agent("b").id) == ("a", "b")


@pytest.mark.parametrize(("agents", "known"), [([], "none"), ([Agent(id="a")], "a")])
async def test_an_agent_nobody_registered_is_named_with_those_there_are(agents, known):
    with pytest.raises(Unknown, match=f"no agent 'z'; known: {known}"):
        Runtime(agents=agents).agent("z")


async def test_without_any_agent_there_is_no_default_one():
    with pytest.raises(Unknown):
        Runtime().agent()


async def test_an_agent_with_tools_that_cannot_be_is_refused_at_registration():
    with pytest.raises(InvalidConfig, match="no built-in tool 'fly'"):
        Runtime(agents=[Agent(id="a", tools=["fly"])])


async def test_a_model_is_found_by_its_name_or_the_default_is_taken():
    models = Registry(small=saying("from small"), large=saying("from large"))
    options = RuntimeOptions(models=models, default_model="small")
    async with Runtime(options=options):
        assert (await Agent(id="a").generate("Hi")).text == "from small"
        assert (await Agent(id="b", model="large").generate("Hi")).text == "from large"


async def test_a_chain_of_models_is_tried_in_order():
    broken = ScriptedModel([Say(error=ModelError("down"))])
    async with Runtime():
        agent = Agent(id="a", model=[broken, saying("from the second")])
        assert (await agent.generate("Hi")).text == "from the second"


@pytest.mark.parametrize(
    ("model", "told"),
    [(None, "agent a has no model"), ("openai/x", "names openai/x, but this Runtime has no")],
)
async def test_an_agent_without_a_model_says_what_to_set(model, told):
    async with Runtime():
        with pytest.raises(RunFailed, match=told):
            await Agent(id="a", model=model).generate("Hi")


async def test_further_built_in_tools_go_by_their_names():
    async with Runtime(options=RuntimeOptions(tools={"time": clock}), clock=FakeClock()):
        model = ScriptedModel([Say(calls=(("clock", {}),)), Say(text="noon")])
        result = await Agent(id="a", model=model, tools=["time"]).generate("Hi")
        assert result.tool_results[0]["result"] == {"now": "2026-03-02T12:00:00+00:00"}


async def test_a_tick_takes_up_what_another_process_left():
    async with opened(Say(text="ok")) as office:
        office.runtime.dispatcher._stopping = True
        await office.say("Hi")
        later = Runtime(store=office.store, clock=office.clock, agents=[office.agent])
        await later.tick()
        await later.idle()
        assert await office.history() == ["signal: Hi", "assistant: ok"]


async def test_a_tick_sends_what_could_not_be_sent():
    async with opened(Say(text="ok")) as office:
        office.adapter.problems = [DeliveryError("busy", retry_after=5)]
        await office.say("Hi")
        await office.passes(0, lambda: not office.adapter.problems)
        await office.runtime.idle()
        await office.clock.advance(timedelta(minutes=1))
        await office.runtime.tick()
        assert await office.posted() == ["ok"]


async def test_a_closed_runtime_takes_nothing_more():
    async with opened() as office:
        agent = office.agent
    await office.runtime.aclose()
    with pytest.raises(Conflict, match="closed"):
        office.runtime.send(agent, {"type": "user", "contents": "Hi"}, None, own_turn=False)
    with pytest.raises(Conflict, match="closed"):
        await office.runtime.start(agent, "Hi", {})


async def test_a_runtime_may_be_left_in_another_task_than_it_was_entered():
    runtime = Runtime()
    await asyncio.create_task(runtime.__aenter__())
    await runtime.__aexit__(None, None, None)
    agent = Agent(id="a", model=saying("from elsewhere"))
    assert (await agent.generate("Hi")).text == "from elsewhere"


async def test_two_agents_share_a_thread_one_after_the_other():
    gate = asyncio.Event()
    async with opened(Say(text="first", gate=gate)) as office:
        other = Agent(id="other", model=saying("second"))
        office.runtime.register(other)
        await office.say("Hi")
        await office.asked(1)
        accepted = await other.send_message("and you?", **WHERE).accepted
        assert accepted.action == "deliver"
        gate.set()
        await office.posted()
        assert [run.agent_id for run in await office.runs()] == ["helper", "other"]
        assert (await office.history())[-1] == "assistant: second"


async def test_a_run_of_an_agent_that_is_gone_tells_its_people():
    async with opened(Say(text="never")) as office:
        office.runtime._agents.clear()
        assert "there is no agent 'helper'" in (await office.told("Hi"))[0]


async def test_the_newest_definition_of_an_agent_counts():
    async with opened(Say(text="old")) as office:
        newer = Agent(id="helper", model=saying("new"))
        assert (await newer.generate("Hi", memory=MEMORY)).text == "new"
        assert office.runtime.agent("helper") is newer
        assert (await office.store.thread(KEY)).agent_id == "helper"
