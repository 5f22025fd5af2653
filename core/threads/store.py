"""The thread store: taking signals in, holding leases, finding conversations."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from core.conversation import Conversation
from core.ids import ThreadKey
from core.signals.routing import IfActive, IfIdle
from core.signals.signal import Signal
from core.threads.lease import Lease
from core.threads.thread import Accepted, Binding, HistoryRow, Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptRequest:
    """One signal on its way into a thread.

    `event_key` names the event for ever; None means that this call is the event. `fresh_run_id` is
    used where a run has to be promised. `options` belong to the run that the signal may start.
    `conversation` is where the answer goes.
    """

    key: ThreadKey
    agent_id: str
    signal: Signal
    fresh_run_id: str
    event_key: str | None = None
    own_turn: bool = False
    if_active: IfActive = field(default_factory=IfActive)
    if_idle: IfIdle = field(default_factory=IfIdle)
    options: dict[str, Any] = field(default_factory=dict)
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What an abort found: the run, and whether it ended at once because it was paused."""

    run_id: str
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFilter:
    """Which threads a list shows; None means any."""

    resource_id: str | None = None
    agent_id: str | None = None
    limit: int = 100


# A Protocol of its own: whoever only wakes threads need not know what a run is.
class ThreadStore(Protocol):
    """Threads, their mailboxes and their leases."""

    async def accept(self, request: AcceptRequest) -> Accepted:
        """Claim the key, route by the thread's state, merge attributes, append (architecture.md 5).

        Makes the thread on its first signal. A known key returns the first outcome with
        `duplicate`.

        Raises:
            Unknown: the thread id belongs to another resource.
            ThreadBlocked: the mailbox is full.
            StoreUnavailable: nothing was stored.
        """

    async def bind(self, conversation: Conversation, key: ThreadKey, agent_id: str) -> Binding:
        """Return the conversation's thread, binding it to `key` if it has none."""

    async def binding(self, address: str) -> Binding | None:
        """Return the binding of a conversation's key, or None when no thread was ever there."""

    async def bindings(self, thread_id: str) -> list[Binding]:
        """Return the conversations of a thread, oldest first."""

    async def thread(self, key: ThreadKey) -> Thread:
        """Return the head row.

        Raises:
            Unknown: no such thread, or it belongs to another resource.
        """

    async def threads(self, wanted: ThreadFilter) -> list[Thread]:
        """Return threads, the most recently used first."""

    async def save_thread(self, key: ThreadKey, changes: dict[str, Any], agent_id: str) -> Thread:
        """Create the thread, or change its `agent_id`, `title`, `metadata` (merged by key)."""

    async def history(
        self, key: ThreadKey, *, after: int = 0, limit: int = 1000
    ) -> list[HistoryRow]:
        """Return rows with a sequence above `after`, in order."""

    async def newest(self, key: ThreadKey, limit: int) -> list[HistoryRow]:
        """Return the newest rows, in order."""

    async def acquire(self, key: ThreadKey, owner: str, ttl: timedelta) -> Lease | None:
        """Take the thread's lease if it is free and there is work.

        Counts the attempt before the work.
        """

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease:
        """Push the lease's end; raises LeaseLost when it is another's."""

    async def release_if_drained(self, lease: Lease) -> bool:
        """Give the lease back; False while there is work, so that no wake-up is lost."""

    async def runnable(self, limit: int = 100) -> list[ThreadKey]:
        """Return threads with work and without a live lease.

        The one query of wake, reaper and start-up.
        """

    async def request_abort(self, key: ThreadKey) -> Stopped | None:
        """Ask for the end of the thread's run.

        A paused one ends in this step. None when nothing is active.
        """

    async def purge(self, limit: int = 1000) -> int:
        """Forget expired ingress keys; returns how many."""

    async def void_leases(self) -> None:
        """End every lease: only for a store that one process owns, at its start."""
