"""What a type checker says of a program on the agent runtime; mypy reads it, nobody runs it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, assert_type

from core import Agent, AgentOptions, Memory, Runtime, ToolContext, submit_plan, tool
from core.agent import Acceptance, Branch, RunStream, SignalResult
from core.ports.adapter import Adapter
from core.ports.model import Model
from core.ports.runtime import current_runtime
from core.runs.output import RunOutput
from core.testing import RecordingAdapter, Say, ScriptedModel
from core.tools.tool import Tool


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(id="look_up", idempotent=True)
async def look(word: str, context: ToolContext) -> str | None:
    """Look a word up."""
    await context.suspend({"word": word})
    return None


assert_type(add, Tool)
assert_type(look, Tool)
assert_type(submit_plan, Tool)

model: Model = ScriptedModel([Say(text="Hi")])
adapter: Adapter = RecordingAdapter()
agent = Agent(
    id="helper",
    instructions=["Be brief.", "Be kind."],
    model=model,
    tools=[add, "clock"],
    default_options=AgentOptions(max_steps=3),
    memory=Memory(last_turns=5),
)
mapped = Agent(name="mapped", model="openai/gpt-5-mini", tools={"plus": add})


async def talk() -> None:
    """Use every verb of an agent as a program would."""
    async with Runtime(agents=[agent], adapters=[adapter]) as runtime:
        assert_type(runtime, Runtime)
        branch: Branch = {"behavior": "persist", "attributes": {"late": True}}
        sent = agent.send_message("Hi", resource_id="r", thread_id="t", if_active=branch)
        assert_type(sent, SignalResult)
        accepted = await sent.accepted
        assert_type(accepted, Acceptance)
        assert_type(accepted.output, RunStream | None)
        assert_type(sent.persisted, asyncio.Future[None] | None)
        stream = await agent.stream("Hi", memory={"resource": "r", "thread": "t"})
        assert_type(stream, RunStream)
        async for text in stream.text_stream:
            assert_type(text, str)
        resumed = await agent.resume_stream({"action": "approved"}, run_id=stream.run_id)
        assert_type(resumed.run_id, str)
        assert_type(await runtime.start(agent, "Hi", {}), RunOutput)
        assert_type(agent.tools, Sequence[Tool | str] | Mapping[str, Tool])
        assert_type(current_runtime.get(), Any)
