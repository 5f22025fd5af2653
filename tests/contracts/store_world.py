"""A store under test, and the moves that people, models and owners make on it."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.approvals.suspension import Decision, Suspension
from core.conversation import Conversation, Notice
from core.ids import ThreadKey, thread_key
from core.messages import Message, TextPart, ToolCallPart
from core.outbox.entry import OutboxEntry
from core.runs.run import Call, CallState, Run, RunStatus
from core.runs.store import Answer, Drained, Ending, Outcome, Step, Work
from core.signals.signal import create_signal
from core.stores.memory_tables import MemoryTransactor
from core.stores.table_store import TableStore
from core.stores.tables import Query, Tables, Transactor
from core.testing import FakeClock
from core.threads.lease import Lease
from core.threads.store import AcceptRequest
from core.threads.thread import Accepted, HistoryRow, Mail, Thread

KINDS = ("memory", "sqlite")
KEY = thread_key("res", "thr")
PLACE = Conversation(platform="test", tenant="T", channel="C", root="1")
ELSEWHERE = Conversation(platform="test", tenant="T", channel="C", root="2")
TTL = timedelta(seconds=6)


@dataclass
class World:
    """One store, one clock; every move is one step of the store, or says how many it is."""

    store: TableStore
    clock: FakeClock
    transactor: Transactor
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def request(self, text: str = "hi", **wishes: Any) -> AcceptRequest:
        number = next(self.numbers)
        spec = {"type": wishes.pop("kind", "user"), "contents": text}
        if wishes.pop("transient", False):
            spec["transient"] = True
        told: dict[str, Any] = {
            "key": KEY,
            "agent_id": "ada",
            "fresh_run_id": f"run{number}",
            "conversation": PLACE,
            "signal": create_signal(spec, now=self.clock.now(), new_id=lambda: f"sig{number}"),
        }
        return AcceptRequest(**{**told, **wishes})

    async def say(self, text: str = "hi", **wishes: Any) -> Accepted:
        return await self.store.accept(self.request(text, **wishes))

    async def take(self, owner: str = "p1", key: ThreadKey = KEY) -> Lease:
        lease = await self.store.acquire(key, owner, TTL)
        assert lease is not None, f"{owner} did not get the lease of {key}"
        return lease

    async def work(self, lease: Lease) -> Work | None:
        return await self.store.next_run(lease, f"fresh{next(self.numbers)}")

    async def begin(self, owner: str = "p1") -> tuple[Lease, Run]:
        """Acquire and start what is there."""
        lease = await self.take(owner)
        work = await self.work(lease)
        assert work is not None, "there is nothing to start"
        return lease, work.run

    async def begin_answered(self, text: str = "An answer.") -> tuple[Lease, Run]:
        """Bring a new run to the end of its first turn."""
        await self.say("start")
        lease, run = await self.begin()
        run = await self.drain(lease, run)
        return lease, await self.answer(lease, run, text)

    async def drain(self, lease: Lease, run: Run, **changes: Any) -> Run:
        """Close the step with everything that waits for the run."""
        mail = await self.store.mail(lease, run.run_id)
        drained = tuple(Drained(sequence=one.sequence, signal=one.signal) for one in mail)
        return await self.close(lease, run, drained=drained, **changes)

    async def close(self, lease: Lease, run: Run, **changes: Any) -> Run:
        return await self.store.close_step(lease, Step(run_id=run.run_id, **changes))

    async def answer(
        self, lease: Lease, run: Run, text: str = "", calls: Sequence[str] = ()
    ) -> Run:
        return await self.store.commit_answer(lease, self.composed(run, text, calls))

    def composed(self, run: Run, text: str = "", calls: Sequence[str] = ()) -> Answer:
        parts = [TextPart(text=text)] if text else []
        asked = [ToolCallPart(tool_call_id=one, tool_name="tool") for one in calls]
        message = Message(
            id=f"msg{next(self.numbers)}",
            role="assistant",
            content=(*parts, *asked),
            created_at=self.clock.now(),
            run_id=run.run_id,
            step=run.step,
            turn=run.turn,
        )
        intents = tuple(intent(run, one, position) for position, one in enumerate(calls))
        return Answer(
            run_id=run.run_id,
            message=message,
            text=text,
            calls=intents,
            input_tokens=3,
            output_tokens=2,
        )

    async def settle(
        self, lease: Lease, run: Run, call: str, result: Any = "ok", **changes: Any
    ) -> Call:
        told = {"state": CallState.DONE, "result": result, **changes}
        return await self.store.settle_call(
            lease, Outcome(run_id=run.run_id, tool_call_id=call, **told)
        )

    async def suspend(self, lease: Lease, run: Run, call: str, **changes: Any) -> Call:
        """Suspend a call; its token is the call's name with `tok_` in front."""
        return await self.settle(
            lease,
            run,
            call,
            None,
            state=CallState.SUSPENDED,
            suspension=self.suspension(run, call, **changes),
        )

    def suspension(self, run: Run, call: str, **changes: Any) -> Suspension:
        told = {
            "token": f"tok_{call}",
            "kind": "approval",
            "run_id": run.run_id,
            "tool_call_id": call,
            "tool_name": "tool",
            "thread_id": run.thread_id,
            "resource_id": run.resource_id,
            "agent_id": run.agent_id,
            "created_at": self.clock.now(),
            "expires_at": self.clock.now() + timedelta(days=1),
        }
        return Suspension(**{**told, **changes})

    def decision(self, who: str = "Grace", action: str = "approved", **changes: Any) -> Decision:
        told = {
            "actor_id": f"test:{who}",
            "actor_name": who,
            "action": action,
            "data": {"approved": action == "approved"},
            "decided_at": self.clock.now(),
        }
        return Decision(**{**told, **changes})

    async def decide(self, token: str, who: str = "Grace", **changes: Any) -> Suspension:
        return await self.store.resolve(token, self.decision(who, **changes))

    async def tools(self, *calls: str, text: str = "") -> tuple[Lease, Run]:
        """Bring a new run to the tools phase of its first step."""
        await self.say("start")
        lease, run = await self.begin()
        run = await self.drain(lease, run)
        return lease, await self.answer(lease, run, text, calls)

    async def pause(self, *calls: str, text: str = "") -> Run:
        """Bring a new run to its pause: each call waits for people."""
        names = calls or ("c1",)
        lease, run = await self.tools(*names, text=text)
        for call in names:
            await self.suspend(lease, run, call)
        return await self.close(lease, run)

    async def end(self, lease: Lease, run: Run, **changes: Any) -> Run:
        told = {"status": RunStatus.DONE, "finish_reason": "stop", **changes}
        return await self.store.end_run(lease, Ending(run_id=run.run_id, **told))

    async def fail(self, lease: Lease, run: Run, line: str | None = "It failed.") -> Run:
        notice = Notice(text=line) if line else None
        failed = {"status": RunStatus.FAILED, "finish_reason": "error", "notice": notice}
        return await self.end(lease, run, **failed)

    async def bring(self, doing: str) -> str | None:
        """Bring the thread to a state by agent ada; returns its run id."""
        if doing == "idle":
            return None
        if doing == "suspended":
            return (await self.pause()).run_id
        accepted = await self.say("first")
        if doing == "running":
            lease, run = await self.begin()
            await self.drain(lease, run)
        return accepted.run_id

    # What can be seen afterwards

    async def head(self, key: ThreadKey = KEY) -> Thread:
        return await self.store.thread(key)

    async def rows(self, key: ThreadKey = KEY) -> list[HistoryRow]:
        return await self.store.history(key)

    async def told(self) -> list[str]:
        """Return the history as `role:text`, calls as `call c1`, results as `result c1`."""
        return [_told(row.message) for row in await self.rows()]

    async def mailbox(self, key: ThreadKey = KEY) -> list[Mail]:
        query = Query(equals={"thread_id": key.thread_id}, order=("sequence",))
        return await self.transactor.read(lambda tables: tables.mail.find(query))

    async def waiting(self) -> list[tuple[str, str]]:
        """Return the mailbox as (lane, contents)."""
        return [
            (entry.lane.value, str(entry.signal.contents) if entry.signal else str(entry.token))
            for entry in await self.mailbox()
        ]

    async def posts(self, key: ThreadKey = KEY) -> list[OutboxEntry]:
        """Return the thread's outbox in its own order."""
        entries = await self.store.outbox(key.thread_id)
        return sorted(entries, key=lambda entry: entry.sequence)

    async def lines(self) -> list[str]:
        """Return what is in the outbox: texts, and cards by their state."""
        payloads = [entry.payload for entry in await self.posts()]
        return [getattr(one, "text", None) or f"card {one.state}" for one in payloads]

    async def mend(self, **changes: Any) -> None:
        """Write fields of the head row as no step would: to stand for what takes too long here."""

        def write(tables: Tables) -> None:
            head = tables.threads.get(KEY.thread_id)
            tables.threads.put(head.model_copy(update=changes))

        await self.transactor.write(write)


def intent(run: Run, call: str, position: int = 0) -> Call:
    return Call(
        run_id=run.run_id,
        tool_call_id=call,
        thread_id=run.thread_id,
        step=run.step,
        position=position,
        tool_name="tool",
    )


async def opened(kind: str, folder: Path) -> World:
    clock = FakeClock()
    transactor: Transactor = MemoryTransactor()
    if kind == "sqlite":
        transactor = await SqliteTransactor.open(SqliteSettings(path=folder / "store.db"))
    return World(TableStore(transactor, clock=clock), clock, transactor)


def _told(message: Message) -> str:
    words = []
    for part in message.content:
        match part.type:
            case "text":
                words.append(part.text)
            case "tool-call":
                words.append(f"call {part.tool_call_id}")
            case "tool-result":
                words.append(f"result {part.tool_call_id}")
    return f"{message.role}:{' '.join(words)}"
