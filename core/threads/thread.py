"""Threads: the row that says who owns a thread, what it is doing and what waits for it."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from core.conversation import Conversation
from core.ids import ThreadKey, thread_key
from core.messages import Message
from core.records import Record
from core.signals.signal import Signal

# Stands for "never": an index compares instants, and NULL matches no bound.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ATTEMPT_LIMIT = 3
"""Attempts without a commit before a thread is set aside (architecture.md 9)."""


class ThreadState(StrEnum):
    """What a thread is doing; all but `idle` count as active (signals.md 1)."""

    IDLE = "idle"
    RESERVED = "reserved"
    """A run id is promised, its run has not started."""
    RUNNING = "running"
    SUSPENDED = "suspended"


class Thread(Record):
    """The head row of a thread; every change of the thread passes through it.

    `sequence` is the last number given to a row of the thread. `mail` and `resumes` count what
    waits in the mailbox. The lease is `owner`, `epoch` (the fence) and `lease_until`. `attempts`
    counts starts since the last commit.
    """

    resource_id: str
    thread_id: str
    agent_id: str
    title: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    state: ThreadState = ThreadState.IDLE
    run_id: str | None = None
    run_agent_id: str | None = None
    abort_run_id: str | None = None
    sequence: int = 0
    mail: int = 0
    resumes: int = 0
    owner: str | None = None
    epoch: int = 0
    lease_until: datetime = EPOCH
    attempts: int = 0
    not_before: datetime = EPOCH
    quarantined: bool = False

    @property
    def key(self) -> ThreadKey:
        """Return the pair that names this thread."""
        return thread_key(self.resource_id, self.thread_id)

    @property
    def active(self) -> bool:
        """Say whether a run is promised, going or paused here."""
        return self.state is not ThreadState.IDLE

    @property
    def ready(self) -> bool:
        """Say whether there is work for an owner.

        The one rule behind `runnable` (architecture.md 5).
        """
        # Set aside until a person writes again.
        if self.quarantined:
            return False
        if self.resumes or self.state is ThreadState.RUNNING:
            return True
        # Mail of a paused thread waits for the decision, however much there is.
        return self.state is not ThreadState.SUSPENDED and self.mail > 0


class Lane(StrEnum):
    """Where in the mailbox an entry waits, in the order in which they are taken."""

    RESUME = "resume"
    PENDING = "pending"
    """For the run that is going or promised; drained between steps."""
    QUEUED = "queued"
    """A turn of its own, after the present run."""


class Mail(Record):
    """One waiting entry of a thread's mailbox: a signal, or a decided suspension (`token`)."""

    thread_id: str
    sequence: int
    lane: Lane
    agent_id: str
    run_id: str
    signal: Signal | None = None
    token: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the run that this entry starts, such as `maxSteps`."""
    reply_to: Conversation | None = None


class HistoryRow(Record):
    """A message at its place in a thread's history."""

    thread_id: str
    sequence: int
    message: Message

    @property
    def message_id(self) -> str:
        """Return the message's id, which equals the signal's for a signal row."""
        return self.message.id


class Binding(Record):
    """Which thread a conversation belongs to; made once, never searched by metadata."""

    address: str
    """The conversation's key."""
    conversation: Conversation
    resource_id: str
    thread_id: str
    created_at: datetime

    @property
    def key(self) -> ThreadKey:
        """Return the thread's key."""
        return thread_key(self.resource_id, self.thread_id)


class Ingress(Record):
    """An event that was taken, and what became of it; the same key never counts twice (7 days)."""

    event_key: str
    outcome: dict[str, Any]
    expires_at: datetime


Action = Literal["wake", "deliver", "persist", "discard"]


class Accepted(Record):
    """Where a signal went (signals.md 2.5).

    `signal` has the attributes of the branch that won. `waiting` is the token of the suspension
    that the thread waits for, if any; `duplicate` says that the key was known and this is the
    first outcome.
    """

    action: Action
    signal: Signal
    run_id: str | None = None
    waiting: str | None = None
    duplicate: bool = False
