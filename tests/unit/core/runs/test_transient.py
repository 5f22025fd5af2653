"""Transient signals: told once, to the next model call, and kept nowhere (signals.md 1, S9)."""

from typing import Any

from core.agent import Agent
from core.errors import ModelError
from core.ids import thread_key
from core.runtime import Runtime
from core.testing import Say, ScriptedModel

KEY = thread_key("team", "t1")
WHERE = {"resource_id": "team", "thread_id": "t1"}
HINT = {"type": "reactive", "contents": "the build is red", "transient": True}


async def rows(runtime: Runtime) -> list[str]:
    return [row.message.role for row in await runtime.store.history(KEY)]


async def ask(agent: Agent, message: Any) -> str:
    accepted = await agent.send_message(message, **WHERE).accepted
    return (await accepted.output.consume_stream()).text


async def test_it_wakes_an_idle_thread_and_leaves_no_row() -> None:
    model = ScriptedModel([Say(text="Noted.")])
    agent = Agent(id="helper", model=model)
    async with Runtime() as runtime:
        accepted = await agent.send_signal(HINT, **WHERE).accepted
        await accepted.output.consume_stream()
        assert "the build is red" in model.prompts()[0]
        assert await rows(runtime) == ["assistant"]
        assert (await runtime.store.thread(KEY)).mail == 0


async def test_it_is_told_once_and_not_again_in_a_later_prompt() -> None:
    model = ScriptedModel([Say(text="Noted."), Say(text="Hello.")])
    agent = Agent(id="helper", model=model)
    async with Runtime():
        accepted = await agent.send_signal(HINT, **WHERE).accepted
        await accepted.output.consume_stream()
        assert await ask(agent, "hi") == "Hello."
    assert "the build is red" not in model.prompts()[1]


async def test_it_is_told_again_when_the_first_try_fails() -> None:
    model = ScriptedModel([Say(error=ModelError("busy", retryable=True)), Say(text="Noted.")])
    agent = Agent(id="helper", model=model)
    async with Runtime():
        accepted = await agent.send_signal(HINT, **WHERE).accepted
        await accepted.output.consume_stream()
    assert ["the build is red" in prompt for prompt in model.prompts()] == [True, True]


async def test_asked_to_persist_it_is_discarded() -> None:
    """S9."""
    agent = Agent(id="helper", model=ScriptedModel())
    async with Runtime() as runtime:
        sent = agent.send_signal(HINT, **WHERE, if_idle={"behavior": "persist"})
        assert (await sent.accepted).action == "discard"
        assert await runtime.store.runnable() == []
