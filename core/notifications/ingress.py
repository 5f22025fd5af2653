"""Ingress: what an outside event looks like on its way into an inbox, and what became of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import Field

from core.conversation import OutsideEvent
from core.errors import InvalidSignal
from core.ids import ThreadKey, new_id
from core.notifications.merging import CLEARS
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.notifications.policy import DeliveryDecision
from core.notifications.render import full_signal
from core.notifications.subscriptions import Subscription
from core.notifications.telling import Routing
from core.records import Record
from core.signals.signal import Signal
from core.threads.thread import Accepted


class NotificationInput(Record):
    """One event as a program hands it over (seed 002, sendNotificationSignal)."""

    id: str | None = Field(default=None, min_length=1, max_length=200)
    source: str = Field(min_length=1, max_length=200)
    kind: str = Field(min_length=1, max_length=200)
    summary: str = Field(min_length=1, max_length=100_000)
    priority: Priority = Priority.MEDIUM
    payload: Any = None
    source_id: str | None = None
    dedupe_key: str | None = Field(default=None, max_length=1_000)
    coalesce_key: str | None = Field(default=None, max_length=1_000)
    attributes: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyOptions:
    """How a program wants its events taken: by which agent, once under which key, and how."""

    agent_id: str
    ingress_key: str | None = None
    routing: Routing = field(default_factory=Routing)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationResult:
    """What became of one event.

    `signal` and `accepted` are there where something was told at once, be it the full text or a
    summary (signals.md NI3, NI6).
    """

    record: Notification
    decision: DeliveryDecision
    accepted: Accepted | None = None

    @property
    def signal(self) -> Signal | None:
        """Return the signal that was told, with the attributes of the branch that won."""
        return None if self.accepted is None else self.accepted.signal

    @property
    def run_id(self) -> str | None:
        """Return the run that takes the signal, where one does."""
        return None if self.accepted is None else self.accepted.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveResult:
    """What became of a webhook delivery: how many threads have it, and whether it was known."""

    threads: int
    duplicate: bool = False


def from_input(
    key: ThreadKey, agent_id: str, event: NotificationInput, now: datetime
) -> Notification:
    """Return the row of a program's event.

    Raises:
        InvalidSignal: its attributes could not be shown to a model; nothing is stored.
    """
    row = Notification(
        id=event.id or new_id("ntf"),
        thread_id=key.thread_id,
        resource_id=key.resource_id,
        agent_id=agent_id,
        source=event.source,
        kind=event.kind,
        priority=event.priority,
        summary=event.summary,
        payload=event.payload,
        source_id=event.source_id,
        dedupe_key=event.dedupe_key,
        coalesce_key=event.coalesce_key,
        attributes=event.attributes,
        metadata=event.metadata,
        created_at=now,
        updated_at=now,
    )
    # Rendered once on trial: a name that is no XML name must not wait in the store (5.1).
    full_signal(row, now)
    return row


def from_event(
    key: ThreadKey, subscription: Subscription, source: str, event: OutsideEvent, now: datetime
) -> Notification:
    """Return the row of an outside event for one subscriber; unfit attributes are left out."""
    outcome = {"outcome": event.outcome} if event.outcome else {}
    clears = {CLEARS: event.clears} if event.clears else {}
    row = Notification(
        id=new_id("ntf"),
        thread_id=key.thread_id,
        resource_id=key.resource_id,
        agent_id=subscription.agent_id,
        source=source,
        kind=event.event_kind,
        priority=subscription.priority_of(event),
        summary=event.summary,
        payload=event.payload,
        topic=event.topic,
        dedupe_key=event.dedupe_key,
        coalesce_key=event.coalesce_key,
        attributes=event.attributes | outcome,
        metadata=event.metadata | clears,
        created_at=now,
        updated_at=now,
    )
    try:
        full_signal(row, now)
    except InvalidSignal:
        return row.model_copy(update={"attributes": outcome})
    return row


def remembered(row: Notification) -> NotificationResult:
    """Return the outcome of an event that came a second time, as its row tells it."""
    action: dict[NotificationStatus, Any] = {
        NotificationStatus.DISCARDED: "discard",
        NotificationStatus.PENDING: "summarize" if _is_for_summary(row) else "defer",
    }
    decision = DeliveryDecision(
        action=action.get(row.status, "deliver"),
        deliver_at=row.deliver_at,
        summary_at=row.summary_at,
        reason=row.delivery_reason or "",
    )
    return NotificationResult(record=row, decision=decision)


def _is_for_summary(row: Notification) -> bool:
    return row.summary_at is not None or row.summary_signal_id is not None
