"""Notifications: durable outside events kept for a thread, and the states they move through."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from core.ids import ThreadKey, thread_key
from core.records import Record


class Priority(StrEnum):
    """How urgent an event is; the order of the words is the order of the ranks."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"

    @property
    def rank(self) -> int:
        """Return 0 for low to 3 for urgent."""
        # The order of the words is the order of the ranks: one place to add another.
        return list(Priority).index(self)


class NotificationStatus(StrEnum):
    """Where a record stands (signals.md 2.8)."""

    PENDING = "pending"
    DELIVERED = "delivered"
    SEEN = "seen"
    DISMISSED = "dismissed"
    ARCHIVED = "archived"
    DISCARDED = "discarded"
    FAILED = "failed"


class Notification(Record):
    """One event of the outside world, kept for one thread (signals.md 2.8).

    `deliver_at` is when the full text is due, `summary_at` when it is due for a summary; both UTC.
    `payload` never reaches the model (X20).
    """

    id: str
    thread_id: str
    resource_id: str
    agent_id: str
    source: str
    kind: str
    priority: Priority = Priority.MEDIUM
    status: NotificationStatus = NotificationStatus.PENDING
    summary: str
    payload: Any = None
    source_id: str | None = None
    topic: str | None = None
    dedupe_key: str | None = None
    coalesce_key: str | None = None
    coalesced_count: int = 1
    attributes: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    delivered_at: datetime | None = None
    seen_at: datetime | None = None
    dismissed_at: datetime | None = None
    archived_at: datetime | None = None
    discarded_at: datetime | None = None
    deliver_at: datetime | None = None
    summary_at: datetime | None = None
    delivery_reason: str | None = None
    delivery_attempts: int = 0
    last_delivery_attempt_at: datetime | None = None
    last_delivery_error: str | None = None
    delivered_signal_id: str | None = None
    summary_signal_id: str | None = None
    decided: bool = False
    """Whether the policy has been asked since the record was made or merged."""

    @property
    def key(self) -> ThreadKey:
        """Return the key of the thread that keeps it."""
        return thread_key(self.resource_id, self.thread_id)

    @property
    def due_at(self) -> datetime | None:
        """Return the earlier of the two due times while pending, else None (signals.md N10)."""
        # What was told, seen or closed is never due again, whatever its times say.
        if self.status is not NotificationStatus.PENDING:
            return None
        times = [time for time in (self.deliver_at, self.summary_at) if time is not None]
        return min(times, default=None)


class Window(Record):
    """One digest of one inbox at one slot of one local day; the triple is unique (digests.md)."""

    inbox: str
    """The thread's id."""
    local_date: str
    slot: str
    notification_ids: tuple[str, ...] = ()
    missed: bool = False
    closed_at: datetime
