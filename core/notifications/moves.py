"""Moves: which status of a notification may follow which, and what each step stamps."""

from datetime import datetime

from core.errors import InvalidInput
from core.notifications.notification import Notification, NotificationStatus

_PENDING = NotificationStatus.PENDING
_DELIVERED = NotificationStatus.DELIVERED
_SEEN = NotificationStatus.SEEN
_DISMISSED = NotificationStatus.DISMISSED
_ARCHIVED = NotificationStatus.ARCHIVED

LEGAL_MOVES: dict[NotificationStatus, frozenset[NotificationStatus]] = {
    _PENDING: frozenset(NotificationStatus) - {_PENDING},
    _DELIVERED: frozenset({_SEEN, _DISMISSED, _ARCHIVED}),
    _SEEN: frozenset({_DISMISSED, _ARCHIVED}),
    _DISMISSED: frozenset(),
    _ARCHIVED: frozenset(),
    NotificationStatus.DISCARDED: frozenset(),
    NotificationStatus.FAILED: frozenset(),
}
"""What may follow each status; the last four are final (signals.md N5)."""

_UNSTAMPED = frozenset({_PENDING, NotificationStatus.FAILED})


def move(row: Notification, status: NotificationStatus, now: datetime) -> Notification:
    """Return the row in this status, with the status's own time stamped (signals.md N4).

    Moving to where the row already stands changes nothing, so a second click is no error.

    Raises:
        InvalidInput: the table has no such move.
    """
    if row.status is status:
        return row
    if status not in LEGAL_MOVES[row.status]:
        raise InvalidInput(
            f"notification {row.id} is {row.status} and cannot become {status}",
            fields={"status": f"{row.status} is final"},
        )
    changes: dict[str, object] = {"status": status, "updated_at": now}
    if status not in _UNSTAMPED:
        changes[f"{status.value}_at"] = now
    return row.model_copy(update=changes)
