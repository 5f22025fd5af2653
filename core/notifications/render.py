"""Rendering: what the model reads of notifications, in full and in summary."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.ids import new_id
from core.notifications.digest import by_source
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.signals.signal import Signal, create_signal


def full_signal(row: Notification, now: datetime) -> Signal:
    """Return the signal that tells one notification in full (signals.md NR1, NR2).

    The row's own attributes come first and can override nothing of what we say about it.
    """
    attributes = row.attributes | {
        "id": row.id,
        "source": row.source,
        "type": row.kind,
        "kind": row.kind,
        "priority": row.priority.value,
        "status": NotificationStatus.DELIVERED.value,
    }
    # A caller may have sent one: the count is ours to say.
    attributes.pop("coalescedCount", None)
    if row.coalesced_count > 1:
        attributes["coalescedCount"] = row.coalesced_count
    spec = {
        "type": "notification",
        "contents": row.summary,
        "attributes": attributes,
        "metadata": row.metadata | {"notification": _about(row, now)},
    }
    return create_signal(spec, now=now, new_id=_fresh)


def summary_signal(rows: Sequence[Notification], now: datetime) -> Signal:
    """Return the signal that tells how much waits, where, and how urgent it is (NR3 to NR6).

    It holds no text, kind or attribute of a row. Only pending rows are counted.
    """
    # What was seen meanwhile is not waiting any more.
    pending = [row for row in rows if row.status is NotificationStatus.PENDING]
    counts = by_source(pending)
    attributes: dict[str, Any] = {"pending": len(pending)}
    top = max((row.priority for row in pending), key=lambda one: one.rank, default=None)
    if top is not None:
        attributes["priority"] = top.value
    listed = ", ".join(f"{source}: {count}" for source, count in counts.items())
    spec = {
        "type": "notification",
        "tag_name": "notification-summary",
        "contents": listed or "No pending notifications",
        "attributes": attributes,
        "metadata": _summary_metadata(pending, top),
    }
    return create_signal(spec, now=now, new_id=_fresh)


def _fresh() -> str:
    """Return the id of one emission: it is never the row's (NR7)."""
    return new_id("sig")


def _about(row: Notification, now: datetime) -> dict[str, Any]:
    about: dict[str, Any] = {
        "signal": "notification",
        "recordId": row.id,
        "source": row.source,
        "kind": row.kind,
        "priority": row.priority.value,
        "status": NotificationStatus.DELIVERED.value,
        "deliveredAt": now.isoformat(),
    }
    if row.coalesced_count > 1:
        about["coalescedCount"] = row.coalesced_count
    if row.seen_at is not None:
        about["seenAt"] = row.seen_at.isoformat()
    return about


def _summary_metadata(rows: Sequence[Notification], top: Priority | None) -> dict[str, Any]:
    counts = by_source(rows)
    by_priority = dict(Counter(row.priority.value for row in rows))
    ids = [row.id for row in rows]
    about: dict[str, Any] = {
        "signal": "summary",
        "pending": len(rows),
        "groups": [{"source": source, "count": count} for source, count in counts.items()],
        "byPriority": by_priority,
        "notificationIds": ids,
    }
    if top is not None:
        about["priority"] = top.value
    where = {}
    if rows:
        first = rows[0]
        where = {
            "threadId": first.thread_id,
            "resourceId": first.resource_id,
            "agentId": first.agent_id,
        }
    summary = {"bySource": counts, "byPriority": by_priority, "notificationIds": ids} | where
    return {"notification": about, "notificationSummary": summary, "notificationIds": ids}
