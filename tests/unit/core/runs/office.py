"""An office: one agent with a scripted model, on one thread that people of a chat share."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from core import Agent, AgentOptions, Runtime, RuntimeOptions
from core.approvals.store import SuspensionFilter
from core.approvals.suspension import SuspensionState
from core.conversation import Card, Conversation, Notice, Person, Reply
from core.ids import new_id, thread_key
from core.messages import Message, calls_of, text_of
from core.runs.chunks import Chunk
from core.runs.limits import Limits
from core.runs.run import Run
from core.runs.store import RunFilter
from core.signals.signal import create_signal
from core.stores.memory import MemoryStore
from core.testing import FakeClock, RecordingAdapter, Say, ScriptedModel
from core.threads.store import AcceptRequest
from core.tools.tool import Folders
from tests.support import eventually

KEY = thread_key("team", "thr")
PLACE = Conversation(platform="test", tenant="t", channel="c", root="1")
ADA = Person(id="test:ada", name="Ada", platform="test")
WHERE = {"resource_id": KEY.resource_id, "thread_id": KEY.thread_id}
MEMORY = {"resource": KEY.resource_id, "thread": KEY.thread_id}


@dataclass(slots=True, kw_only=True)
class Office:
    """What a test holds in its hands."""

    runtime: Runtime
    agent: Agent
    model: ScriptedModel
    adapter: RecordingAdapter
    clock: FakeClock
    chunks: list[Chunk] = field(default_factory=list)

    @property
    def store(self):
        return self.runtime.store

    async def say(self, text: str, *, queue: bool = False, place=PLACE, **attributes: Any):
        """Somebody writes in a chat: as the gate does it, with the place to answer in."""
        spec = {"type": "user", "contents": text, "attributes": attributes}
        signal = create_signal(spec, now=self.clock.now(), new_id=lambda: new_id("sig"))
        request = AcceptRequest(
            key=KEY,
            agent_id=self.agent.id,
            signal=signal,
            fresh_run_id=new_id("run"),
            own_turn=queue,
            conversation=place,
        )
        return await self.runtime.sending.deliver(request)

    async def told(self, text: str) -> list[str]:
        """Somebody writes and all is done and posted; returns what was posted, ever."""
        await self.say(text)
        return await self.posted()

    async def posted(self) -> list[str]:
        """All that people have been sent, once nothing is left to do or to send."""
        await self.runtime.idle()
        await eventually(self._all_sent)
        return [_shown(delivery.payload) for delivery in self.adapter.sent]

    async def _all_sent(self) -> bool:
        return not any(entry.open for entry in await self.store.outbox())

    async def history(self) -> list[str]:
        """The rows of the thread, one short text each."""
        return [_row(item.message) for item in await self.store.history(KEY)]

    async def runs(self) -> list[Run]:
        """All runs, in the order in which they were first seen."""
        seen = [chunk.run_id for chunk in self.chunks]
        return sorted(await self.store.runs(RunFilter()), key=lambda run: seen.index(run.run_id))

    async def endings(self) -> list[tuple[str, str | None]]:
        return [(run.status.value, run.finish_reason) for run in await self.runs()]

    async def waiting(self):
        """The suspensions of the thread, the oldest first, once the run is paused."""
        await self.runtime.idle()
        found = await self.store.suspensions(_waiting())
        return list(reversed(found))

    async def asked(self, number: int) -> None:
        """Until the model was asked that often."""
        await eventually(lambda: len(self.model.requests) >= number)

    async def passes(self, seconds: float, until) -> None:
        """Time passes in small steps until something is so."""

        async def one_second_later() -> bool:
            await self.clock.advance(timedelta(seconds=seconds))
            return bool(until())

        await eventually(one_second_later)

    def kinds(self) -> list[str]:
        return [chunk.type for chunk in self.chunks]


@asynccontextmanager
async def opened(
    *script: Say,
    tools: Sequence[Any] = (),
    limits: Limits | None = None,
    folders: Folders | None = None,
    store: MemoryStore | None = None,
    clock: FakeClock | None = None,
    max_steps: int = 5,
    **agent: Any,
) -> AsyncIterator[Office]:
    """An office that is open until the block ends."""
    model, adapter, clock = ScriptedModel(list(script)), RecordingAdapter(), clock or FakeClock()
    helper = Agent(
        id="helper",
        model=model,
        tools=tools,
        default_options=AgentOptions(max_steps=max_steps),
        **agent,
    )
    runtime = Runtime(
        store=store or MemoryStore(clock=clock),
        clock=clock,
        agents=[helper],
        adapters=[adapter],
        options=RuntimeOptions(limits=limits or Limits(), folders=folders or Folders()),
    )
    await runtime.store.bind(PLACE, KEY, helper.id)
    office = Office(runtime=runtime, agent=helper, model=model, adapter=adapter, clock=clock)
    office.runtime.broadcaster.publish = _listening(office)
    try:
        async with runtime:
            yield office
    finally:
        await runtime.aclose(timedelta(0))


def _listening(office: Office):
    publish = office.runtime.broadcaster.publish

    def heard(key, chunk):
        office.chunks.append(chunk)
        publish(key, chunk)

    return heard


def _waiting():
    return SuspensionFilter(thread_id=KEY.thread_id, state=SuspensionState.WAITING)


def _shown(payload: Reply | Notice | Card) -> str:
    match payload:
        case Card():
            return f"[{payload.state}] {payload.title}"
        case _:
            return payload.text


def _row(message: Message) -> str:
    if message.role == "tool":
        part = message.content[0]
        return f"result {part.tool_name}: {part.result}"
    calls = " ".join(call.tool_name for call in calls_of(message))
    text = text_of(message)
    return f"{message.role}: {text}" + (f" [{calls}]" if calls else "")
