"""Merging: how a new event enters a pending row of its thread, and which rows it makes moot."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from core.notifications.notification import Notification, NotificationStatus

CLEARS = "clears"
"""The metadata key that holds the start of the dedupe keys which an event makes moot."""

_FACTS = "mergedKeys"
_MOST_FACTS = 50
_TOLD = frozenset({NotificationStatus.DELIVERED, NotificationStatus.SEEN})


def absorb(row: Notification, event: Notification, now: datetime) -> Notification:
    """Return the pending row with the event in it.

    The same `dedupe_key` is the same fact again: newest text and payload, no second announcement
    unless the priority rose. Otherwise it is another event on the same object: attributes and
    metadata are merged, attempts start again and the policy decides anew. Id, keys and creation
    stay, and the priority never falls (digests.md, Two keys).
    """
    changes: dict[str, Any] = {
        "summary": event.summary,
        "payload": row.payload if event.payload is None else event.payload,
        "priority": max(row.priority, event.priority, key=lambda priority: priority.rank),
        "coalesced_count": row.coalesced_count + 1,
        "updated_at": now,
    }
    # Two rows without a key are not the same fact: None equals nothing here.
    same_fact = row.dedupe_key is not None and row.dedupe_key == event.dedupe_key
    if not same_fact:
        changes |= _related(row, event)
    if not (same_fact and _was_announced(row) and changes["priority"] is row.priority):
        changes |= undecided(now)
    return row.model_copy(update=changes)


def undecided(now: datetime) -> dict[str, Any]:
    """Return the changes that put a row before the policy at once: it is due until it is judged."""
    return {"decided": False, "deliver_at": now, "summary_at": None, "delivery_reason": None}


def is_cleared(row: Notification, prefix: str) -> bool:
    """Say whether every fact in the row begins with this prefix.

    A row that also holds a comment is not moot because the build is green again.
    """
    facts = [row.dedupe_key, *row.metadata.get(_FACTS, ())]
    return _is_failure(row) and all(fact is not None and fact.startswith(prefix) for fact in facts)


def was_told_red(newest_first: Iterable[Notification], prefix: str) -> bool:
    """Say whether the last thing anybody heard under this prefix was a failure.

    Rows are read from the newest back to the last one that was not a failure.
    """
    for row in newest_first:
        if row.dedupe_key is None or not row.dedupe_key.startswith(prefix):
            continue
        if not _is_failure(row):
            return False
        if row.status in _TOLD or row.summary_signal_id is not None:
            return True
    return False


def _related(row: Notification, event: Notification) -> dict[str, Any]:
    metadata = row.metadata | event.metadata
    if event.dedupe_key != row.dedupe_key:
        facts = [*row.metadata.get(_FACTS, ()), event.dedupe_key]
        metadata[_FACTS] = list(dict.fromkeys(facts))[-_MOST_FACTS:]
    return {
        "kind": event.kind,
        "topic": event.topic or row.topic,
        "attributes": row.attributes | event.attributes,
        "metadata": metadata,
        "delivery_attempts": 0,
        "last_delivery_error": None,
    }


def _was_announced(row: Notification) -> bool:
    return row.decided and row.summary_signal_id is not None


def _is_failure(row: Notification) -> bool:
    return bool(row.attributes.get("outcome") == "failed")
