"""Agents: what a bot is: a frozen definition whose verbs hand over to the current Runtime."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

from core.errors import InvalidInput
from core.ids import ThreadKey, thread_key
from core.memory.memory import Memory
from core.ports.model import Model
from core.ports.runtime import current_runtime, private_runtime
from core.signals.signal import Signal, message_input
from core.tools.tool import Tool

Instructions = str | Sequence[str]
Branch = Mapping[str, Any]
"""`if_active` or `if_idle`: `{"behavior": ..., "attributes": {...}, "stream_options": {...}}`."""


class RunStream(Protocol):
    """A run as its caller watches it."""

    run_id: str

    @property
    def full_stream(self) -> AsyncIterator[Any]:
        """Yield every chunk of the run, in order, until it ends or pauses."""

    @property
    def text_stream(self) -> AsyncIterator[str]:
        """Yield the pieces of the answer's text."""

    async def consume_stream(self) -> Any:
        """Watch the run to its end; raises what the run raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Where a signal went (signals.md 2.5).

    `wake` brings `output`, the stream of the run it started.
    """

    action: Literal["wake", "deliver", "persist", "discard"]
    signal: Signal
    run_id: str | None = None
    output: RunStream | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalResult:
    """What a send returns at once: `accepted` resolves when the signal is durable and routed.

    `persisted` is there only where the caller asked for `persist`; it resolves after the write
    (S7).
    """

    accepted: asyncio.Future[Acceptance]
    signal: Signal
    persisted: asyncio.Future[None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which thread or run a send is for, and what to do when it is active or idle."""

    resource_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    if_active: Branch = field(default_factory=dict)
    if_idle: Branch = field(default_factory=dict)

    def key(self) -> ThreadKey | None:
        """Return the thread's key; None when only a run is named.

        Raises:
            InvalidInput: neither thread and resource nor a run are named (signals.md S1).
        """
        if self.resource_id is not None and self.thread_id is not None:
            return thread_key(self.resource_id, self.thread_id)
        if self.run_id is None:
            raise InvalidInput("name resource_id and thread_id, or run_id: nothing was sent")
        return None


class AgentRuntime(Protocol):
    """What an agent needs of the Runtime that its verbs lead to."""

    def send(
        self, agent: "Agent", spec: Mapping[str, Any], target: Target, *, own_turn: bool
    ) -> SignalResult:
        """Create the signal, checking it at once, and begin to send it."""

    async def start(self, agent: "Agent", messages: Any, options: Mapping[str, Any]) -> RunStream:
        """Start a run and return its stream."""

    async def resume(self, agent: "Agent", data: Any, options: Mapping[str, Any]) -> RunStream:
        """Answer a paused run of this agent and return the stream of what follows."""

    def subscribe(self, key: ThreadKey, after: str | None = None) -> Any:
        """Open a subscription to a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Defaults of an agent's runs.

    `max_steps` model steps are allowed anew after each user signal and each resume (agent.md 1.2).
    `settings` go to the model's provider as they are.
    """

    max_steps: int = 5
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What a bot is: instructions, a model, tools (seed 002).

    `id` or `name` is required, each is the other's default. `model` is a `provider/model` text or
    a Model, or a list of these that is tried in order; None takes the Runtime's default. `tools`
    is a list (a text names a built-in tool) or a map from the name that the model sees. `runtime`
    None leads to the current Runtime.
    """

    id: str = ""
    name: str = ""
    description: str = ""
    instructions: Instructions = ""
    model: str | Model | Sequence[str | Model] | None = None
    tools: Sequence[Tool | str] | Mapping[str, Tool] = ()
    default_options: AgentOptions = field(default_factory=AgentOptions)
    memory: Memory = field(default_factory=Memory)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    delivery_policy: Any = None
    """A core.notifications.policy.DeliveryPolicy; None takes the built-in matrix."""
    runtime: AgentRuntime | None = None

    def __post_init__(self) -> None:
        """Fill in the id or the name from the other.

        Raises:
            InvalidInput: neither was given.
        """
        if not (self.id or self.name):
            raise InvalidInput("an agent needs an id or a name", fields={"id": "missing"})
        # Frozen for everybody else; here the two names are made whole once.
        object.__setattr__(self, "id", self.id or self.name)
        object.__setattr__(self, "name", self.name or self.id)

    def send_message(self, message: Any, **target: Any) -> SignalResult:
        """Send a person's message; it steers what runs, or starts a run on an idle thread.

        `message` is text, a list of parts, or `{contents, attributes, metadata, ...}`. Keywords are
        those of Target: `resource_id, thread_id, run_id, if_active, if_idle`.

        Raises:
            InvalidSignal: the message breaks a rule; nothing was sent.
            InvalidInput: no thread and no run is named.
        """
        return self._runtime().send(self, message_input(message), Target(**target), own_turn=False)

    def queue_message(self, message: Any, **target: Any) -> SignalResult:
        """Send a person's message for a turn of its own, after what runs now (signals.md 2.4)."""
        return self._runtime().send(self, message_input(message), Target(**target), own_turn=True)

    def send_signal(self, signal: Mapping[str, Any], **target: Any) -> SignalResult:
        """Send a signal of any type: `{type, tag_name, contents, attributes, metadata, ...}`."""
        return self._runtime().send(self, signal, Target(**target), own_turn=False)

    async def subscribe_to_thread(
        self, *, resource_id: str, thread_id: str, after: str | None = None
    ) -> Any:
        """Watch a thread's chunks, run after run (signals.md 2.12).

        `after` is a cursor to go on from.
        """
        return self._runtime().subscribe(thread_key(resource_id, thread_id), after)

    async def stream(self, messages: Any, **options: Any) -> RunStream:
        """Run the agent and watch its chunks.

        `memory={"resource": ..., "thread": ...}` names the thread.
        """
        return await self._runtime().start(self, messages, options)

    async def generate(self, messages: Any, **options: Any) -> Any:
        """Run the agent to its end, or to its first pause, and return the result."""
        output = await self.stream(messages, **options)
        return await output.consume_stream()

    async def resume_stream(
        self, data: Any, *, run_id: str, tool_call_id: str | None = None
    ) -> RunStream:
        """Answer a paused run: `data` is the resume data.

        Without `tool_call_id` exactly one call must wait.
        """
        options = {"run_id": run_id, "tool_call_id": tool_call_id}
        return await self._runtime().resume(self, data, options)

    async def resume_generate(
        self, data: Any, *, run_id: str, tool_call_id: str | None = None
    ) -> Any:
        """Answer a paused run and return the result of what follows."""
        output = await self.resume_stream(data, run_id=run_id, tool_call_id=tool_call_id)
        return await output.consume_stream()

    def _runtime(self) -> AgentRuntime:
        if self.runtime is not None:
            return self.runtime
        return cast("AgentRuntime", current_runtime.get() or private_runtime.get())
