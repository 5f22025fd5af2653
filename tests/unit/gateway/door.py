"""A gate over a real runtime with a scripted model, and a way to compare all that is stored."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.agent import Agent
from core.approvals.store import SuspensionFilter
from core.approvals.suspension import Suspension, SuspensionState
from core.conversation import Conversation, Inbound, InboundMessage, InboundSignal, Person
from core.notifications.inbox import Inbox
from core.ports.adapter import Admission
from core.runtime import Runtime, RuntimeOptions
from core.stores.memory import MemoryStore
from core.stores.tables import Query
from core.testing import RecordingAdapter, Say, ScriptedModel
from core.tools.tool import Folders
from gateway.config import PolicySection
from gateway.gate import GatewayGate, PoliteGate
from gateway.policy import Policy

ADA = Person(id="slack:T1:U1", name="Ada", platform="slack")
BOB = Person(id="slack:T1:U2", name="Bob", platform="slack")
PROGRAM = Person(id="api:token", platform="api")
STRANGER = Person(id="slack:T2:U1", name="Mallory", platform="slack")
CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1", root="1.0")
RULES = PolicySection(
    talk=("slack:T1:*", "console:local:*", "api:token"),
    approve=(ADA.id, "api:token"),
)
PLAN = "# Move the docs\n\n1. Copy them\n2. Tell the team\n"
PLAN_SCRIPT = (
    Say(calls=(("write_plan", {"path": "move.md", "content": PLAN}),)),
    Say(calls=(("submit_plan", {"path": "move.md"}),)),
)


@dataclass(frozen=True, kw_only=True)
class Door:
    """The gate under test and what is behind it."""

    gate: GatewayGate
    polite: PoliteGate
    runtime: Runtime
    model: ScriptedModel
    slack: RecordingAdapter

    async def admit(self, inbound: Inbound) -> Admission:
        """Send something through, and wait until the thread has nothing more to do."""
        admission = await self.gate.admit(inbound)
        await self.runtime.idle()
        return admission

    async def say(self, text: str = "hello", **changes: Any) -> Admission:
        """Let somebody say something in the channel."""
        return await self.admit(message(text, **changes))

    async def waiting(self) -> list[Suspension]:
        """Return what waits for a person."""
        wanted = SuspensionFilter(state=SuspensionState.WAITING)
        return await self.runtime.store.suspensions(wanted)

    async def stored(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row of every table."""
        store: Any = self.runtime.store
        return await store._transactor.read(
            lambda tables: {
                table.name: [row.model_dump() for row in getattr(tables, table.name).find(Query())]
                for table in fields(tables)
            }
        )


def message(text: str = "hello", **changes: Any) -> InboundMessage:
    """Return something said in the channel by Ada, unless told otherwise."""
    said = {"event_key": f"slack:T1:C1:{text}", "conversation": CHANNEL, "sender": ADA}
    return InboundMessage(**{**said, "contents": text, **changes})


def signal(kind: str = "user", **changes: Any) -> InboundSignal:
    """Return what a program puts into a thread that it names."""
    given = {"event_key": None, "resource_id": "team", "thread_id": "t1", "sender": PROGRAM}
    spec = {"type": kind, "contents": "hello"}
    return InboundSignal(**{**given, "spec": spec, **changes})


@asynccontextmanager
async def open_door(
    *script: Say, rules: PolicySection = RULES, agents: Iterable[Agent] = ()
) -> AsyncIterator[Door]:
    """Open a gate until the block is left; plans are mirrored to a folder that goes with it."""
    plans = TemporaryDirectory()
    model = ScriptedModel(script=list(script))
    slack = RecordingAdapter(platform="slack")
    policy = Policy(section=rules)
    helper = Agent(id="helper", model=model, tools=("write_plan", "submit_plan", "ask_user"))
    runtime = Runtime(
        store=MemoryStore(),
        agents=[helper, *agents],
        adapters=[slack],
        options=RuntimeOptions(
            may_decide=policy.may_decide, folders=Folders(root=Path(plans.name), plans=Path())
        ),
    )
    with plans:
        async with runtime:
            gate = GatewayGate(runtime=runtime, policy=policy, inbox=_inbox(runtime))
            polite = PoliteGate(gate)
            yield Door(gate=gate, polite=polite, runtime=runtime, model=model, slack=slack)


def _inbox(runtime: Runtime) -> Inbox:
    return Inbox(
        store=runtime.store, clock=runtime.clock, policies=lambda _: None, wake=runtime.wake
    )
