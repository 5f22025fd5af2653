"""Ports of the console: what it asks of the runtime behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.clock import Clock
from core.conversation import Person
from core.ids import ThreadKey
from core.runs.chunks import Chunk
from core.store import Store
from core.threads.subscription import Subscription

Permit = Callable[[Person], bool]
"""Says whether policy lets this person write here; asked where no signal passes the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """What the console shows of an agent; `model` is None where the gateway's default stands."""

    id: str
    name: str
    description: str = ""
    tools: tuple[str, ...] = ()
    model: str | None = None


class Host(Protocol):
    """The runtime as the console sees it: rows to read, a clock, agents, and the chunks of runs."""

    @property
    def store(self) -> Store:
        """Return the store: read here, and marked in the inbox; all else goes by the gate."""

    @property
    def clock(self) -> Clock:
        """Return the clock that heartbeats and sessions count by."""

    @property
    def default_agent_id(self) -> str:
        """Return the agent of a thread that nobody gave one."""

    def agents(self) -> Sequence[AgentInfo]:
        """Return the configured agents, in order."""

    def subscribe(self, key: ThreadKey, after: str | None = None) -> Subscription[Chunk]:
        """Open a subscription to a thread's chunks; a cursor replays what came after it."""
