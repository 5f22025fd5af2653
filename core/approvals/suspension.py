"""Suspensions: paused runs that wait for an outside answer, found by an opaque token."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from core.conversation import Conversation
from core.ids import ThreadKey, thread_key
from core.records import Record


class SuspensionState(StrEnum):
    """Where a suspension stands; only `waiting` can be decided."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    """The run was stopped before anybody decided."""


# A tool's own pause is `tool`; the others are known to cards and to policy.
SuspensionKind = Literal["plan", "approval", "question", "tool"]


class PlanText(Record):
    """A plan exactly as it was submitted.

    `content_hash` (SHA-256, hex) binds the decision to this text.
    """

    path: str
    title: str
    body: str
    content: str
    content_hash: str
    version: int = 1


class Decision(Record):
    """Who answered, what, when, and on which content hash."""

    actor_id: str
    actor_name: str | None = None
    action: str
    """`approved`, `rejected`, or `answered`."""
    feedback: str | None = None
    data: Any = None
    """What the tool gets as its resume data."""
    decided_at: datetime
    ends_run: bool = False
    """Whether the run ends with this answer, without another model call (agent.md M4)."""
    content_hash: str | None = None
    event_key: str | None = None
    """The message that was the answer, so that its redelivery is not taken for another message."""


class Suspension(Record):
    """One pause: which call of which run waits, for what, until when."""

    token: str
    kind: SuspensionKind
    run_id: str
    tool_call_id: str
    tool_name: str
    thread_id: str
    resource_id: str
    agent_id: str
    args: Any = None
    payload: Any = None
    plan: PlanText | None = None
    resume_schema: dict[str, Any] | None = None
    state: SuspensionState = SuspensionState.WAITING
    decision: Decision | None = None
    conversation: Conversation | None = None
    created_at: datetime
    expires_at: datetime
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> ThreadKey:
        """Return the key of the thread that waits."""
        return thread_key(self.resource_id, self.thread_id)
