"""The runtime: the one object a gateway or a script holds: agents, store, what runs them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any

import structlog

from core.agent import Agent, SignalResult, Target
from core.approvals.ask_user import ask_user
from core.approvals.decide import Answering, Decider, MayDecide
from core.approvals.submit_plan import submit_plan
from core.approvals.suspension import Suspension
from core.clock import Clock, SystemClock
from core.conversation import Person
from core.errors import Conflict, ModelAuthError, Unknown
from core.ids import ThreadKey, new_id
from core.names import NameBook
from core.outbox.sender import Sender
from core.ports.adapter import Adapter
from core.ports.model import Model, Models
from core.ports.runtime import current_runtime, private_runtime
from core.runs.chunks import Chunk
from core.runs.fallback import FallbackModel
from core.runs.limits import Limits
from core.runs.loop import Equipment, LoopTools
from core.runs.output import RunOutput
from core.runs.run import Run
from core.runs.runner import Runner
from core.sending import Sending
from core.store import Store
from core.stores.memory import MemoryStore
from core.threads.dispatcher import Dispatcher
from core.threads.subscription import Broadcaster, Subscription
from core.tools.builtin import clock as clock_tool
from core.tools.builtin import write_note, write_plan
from core.tools.tool import Folders, Tool
from core.tools.toolset import build_toolset

log = structlog.get_logger(__name__)
PROGRAM = Person(id="api:program", name="the program", platform="api")
"""The actor of a bare `agent.resume_stream`: the house's own code."""
BUILTIN_TOOLS: Mapping[str, Tool] = {
    tool.id: tool for tool in (ask_user, clock_tool, submit_plan, write_note, write_plan)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    """What a Runtime may be told; everything has a default that works offline.

    `may_decide` is asked before each decision of a person; `tools` are further built-in tools, by
    the names that agents use for them.
    """

    default_model: str | None = None
    models: Models | None = None
    folders: Folders = field(default_factory=Folders)
    limits: Limits = field(default_factory=Limits)
    may_decide: MayDecide = lambda _person, _suspension: True
    tools: Mapping[str, Tool] = field(default_factory=dict)


class Runtime:
    """Holds the agents, the store, and what takes signals in, runs threads and sends replies.

    Use it as `async with Runtime(...)`: inside, agents without a runtime of their own lead to it.
    """

    def __init__(
        self,
        *,
        store: Store | None = None,
        clock: Clock | None = None,
        agents: Iterable[Agent] = (),
        adapters: Iterable[Adapter] = (),
        options: RuntimeOptions | None = None,
    ) -> None:
        """Wire the parts together; nothing runs before the first signal or tick."""
        self.options = options or RuntimeOptions()
        self.clock = clock or SystemClock()
        self.store: Store = store or MemoryStore(clock=self.clock)
        # Adapters need the runtime's gate, so the gateway adds them here afterwards.
        self.adapters: dict[str, Adapter] = {item.platform: item for item in adapters}
        self.broadcaster: Broadcaster[Chunk] = Broadcaster()
        self.sender = Sender(store=self.store, adapters=self.adapters, clock=self.clock)
        self._agents: dict[str, Agent] = {}
        self._tools = {**BUILTIN_TOOLS, **self.options.tools}
        self._names = NameBook(self.adapters)
        self._runner = self._make_runner()
        self.dispatcher = Dispatcher(store=self.store, own=self._runner.own, owner=new_id("p"))
        self.decider = Decider(
            store=self.store,
            clock=self.clock,
            may_decide=self.options.may_decide,
            decided=self._decided,
        )
        self._program = Decider(
            store=self.store,
            clock=self.clock,
            may_decide=lambda _person, _suspension: True,
            decided=self._decided,
        )
        self.sending = Sending(
            store=self.store,
            dispatcher=self.dispatcher,
            broadcaster=self.broadcaster,
            clock=self.clock,
        )
        self._before: Any = None
        self._closed = False
        for agent in agents:
            self.register(agent)

    async def __aenter__(self) -> "Runtime":
        """Become the current Runtime."""
        self._before = current_runtime.get()
        current_runtime.set(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop and close."""
        # Not by a token: a fixture may leave in another context than it entered.
        if current_runtime.get() is self and self._before is not self:
            current_runtime.set(self._before)
        await self.aclose()

    async def aclose(self, grace: timedelta = timedelta(seconds=10)) -> None:
        """Let runs come to a step's end within the grace period, then close the store."""
        self._closed = True
        if current_runtime.get() is self:
            current_runtime.set(None)
        self._runner.leave()
        await self.dispatcher.stop(grace)
        await self.sender.stop()
        await self.store.aclose()

    # Agents

    def register(self, agent: Agent) -> Agent:
        """Make the agent known under its id, and this Runtime the current one; returns the agent.

        Raises:
            InvalidConfig: its tools cannot be offered; says which and why.
        """
        self._add(agent)
        current_runtime.set(self)
        return agent

    def agents(self) -> tuple[Agent, ...]:
        """Return the agents in the order of their registration; the first is the default one."""
        return tuple(self._agents.values())

    def agent(self, agent_id: str | None = None) -> Agent:
        """Return the agent of that id, or the default one.

        Raises:
            Unknown: there is no such agent, or none at all.
        """
        if agent_id is None and self._agents:
            return next(iter(self._agents.values()))
        if agent_id is None or agent_id not in self._agents:
            known = ", ".join(self._agents) or "none"
            raise Unknown(f"there is no agent {agent_id!r}; known: {known}")
        return self._agents[agent_id]

    # The verbs of agents

    def send(
        self, agent: Agent, spec: Mapping[str, Any], target: Target, *, own_turn: bool
    ) -> SignalResult:
        """Create the signal, checking it at once, and begin to send it."""
        self._known(agent)
        return self.sending.send(agent.id, spec, target, own_turn=own_turn)

    async def start(self, agent: Agent, messages: Any, options: Mapping[str, Any]) -> RunOutput:
        """Start a run on the thread of `memory`, else on one of its own, and return its stream."""
        self._known(agent)
        return await self.sending.start(agent.id, messages, options)

    async def resume(self, agent: Agent, data: Any, options: Mapping[str, Any]) -> RunOutput:
        """Answer a paused run of this agent and return the stream of what follows.

        Raises:
            Unknown: no such run, or it is another agent's (agent.md R20).
            NotSuspended: nothing of it waits, or several calls do and none was named.
        """
        self._known(agent)
        run = await self.store.run(str(options["run_id"]))
        if run.agent_id != agent.id:
            raise Unknown(f"run {run.run_id} is not one of agent {agent.id}")
        waiting = await self._program.waiting(run.run_id, options.get("tool_call_id"))
        output = RunOutput(run.run_id, self.subscribe(run.key), run.texts)
        await self._program.answer(Answering(suspension=waiting, actor=PROGRAM, data=data))
        return output

    def subscribe(self, key: ThreadKey, after: str | None = None) -> Subscription[Chunk]:
        """Open a subscription to a thread; `after` is a cursor to go on from."""
        return self.broadcaster.subscribe(key, after)

    async def abort(self, key: ThreadKey) -> bool:
        """End the thread's run, wherever it goes on; what waits in the mailbox survives.

        Returns whether there was one. Raises Unknown for a thread that is not in the store.
        """
        stopped = await self.store.request_abort(key)
        if stopped is None:
            return False
        # A paused run has no owner who could say it: its watchers hear it from us.
        if stopped.ended:
            self.broadcaster.publish(key, Chunk(type="abort", run_id=stopped.run_id))
            self.sender.wake(key.thread_id)
            self.dispatcher.wake(key)
        else:
            self._runner.abort(key, stopped.run_id)
        return True

    # Upkeep

    async def tick(self) -> None:
        """Find again what a crash, a full store or a passing time left: runs, expiries, replies."""
        for suspension in await self.store.expire():
            self._decided(suspension)
        await self.dispatcher.reap()
        await self.sender.tick()

    async def idle(self) -> None:
        """Wait until no thread of this process has work; for scripts and tests."""
        await self.dispatcher.idle()

    def wake(self, key: ThreadKey) -> None:
        """See that the thread gets an owner and its outbox a poster."""
        self.dispatcher.wake(key)
        self.sender.wake(key.thread_id)

    def _known(self, agent: Agent) -> None:
        if self._closed:
            raise Conflict(f"this Runtime is closed, agent {agent.id} cannot run on it any more")
        if self._agents.get(agent.id) is not agent:
            self._add(agent)

    def _add(self, agent: Agent) -> None:
        # Built once on trial: a wrong name is told at registration, not to a person later.
        build_toolset(agent.tools, self._tools)
        self._agents[agent.id] = agent

    def _decided(self, suspension: Suspension) -> None:
        decision = suspension.decision
        payload = {
            "token": suspension.token,
            "state": suspension.state.value,
            "by": decision.actor_name or decision.actor_id if decision else None,
        }
        chunk = Chunk(type="data-decision", run_id=suspension.run_id, payload=payload)
        self.broadcaster.publish(suspension.key, chunk)
        self.wake(suspension.key)

    def _make_runner(self) -> Runner:
        shared = LoopTools(
            store=self.store,
            clock=self.clock,
            limits=self.options.limits,
            folders=self.options.folders,
            names=self._names.names,
            publish=lambda run, chunk: self.broadcaster.publish(run.key, chunk),
            committed=self._committed,
        )
        return Runner(shared=shared, approvals=self.store, equip=self._equip)

    def _committed(self, run: Run) -> None:
        self.sender.wake(run.thread_id)

    def _equip(self, agent_id: str) -> Equipment:
        agent = self.agent(agent_id)
        toolset = build_toolset(agent.tools, self._tools)
        return Equipment(agent=agent, model=self._model(agent), toolset=toolset)

    def _model(self, agent: Agent) -> Model:
        named = agent.model or self.options.default_model
        if named is None:
            raise ModelAuthError(
                f"agent {agent.id} has no model: set its `model` or INTERLOCK_MODEL"
            )
        if isinstance(named, Sequence) and not isinstance(named, str):
            return FallbackModel([self._one_model(agent, item) for item in named])
        return self._one_model(agent, named)

    def _one_model(self, agent: Agent, named: str | Model) -> Model:
        if not isinstance(named, str):
            return named
        if self.options.models is None:
            raise ModelAuthError(f"agent {agent.id} names {named}, but this Runtime has no models")
        return self.options.models.model(named)


private_runtime.made_by(Runtime)
