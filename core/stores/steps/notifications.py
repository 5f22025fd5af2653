"""Notifications: the atomic steps of the inbox, from the arrival of an event to its telling."""

import hashlib
from datetime import datetime, timedelta

from core.conversation import Conversation
from core.errors import Unknown
from core.ids import ThreadKey
from core.notifications.merging import CLEARS, absorb, is_cleared, undecided, was_told_red
from core.notifications.moves import move
from core.notifications.notification import (
    Notification,
    NotificationStatus,
    Priority,
    Window,
)
from core.notifications.store import InboxFilter, Recorded, Telling, Verdict
from core.notifications.telling import full_key
from core.outbox.entry import DIGEST_EXPIRY
from core.stores.steps.accepting import accept, new_thread
from core.stores.steps.heads import change, find_thread, get_thread
from core.stores.steps.posting import Post, enqueue
from core.stores.tables import Query, Tables
from core.threads.thread import Accepted, Ingress

DELIVERY_MEMORY = timedelta(days=7)
"""How long a delivery id is remembered; GitHub redelivers for three days (reliability.md 0.3)."""
ATTEMPTS = 5
"""Failed tellings after which a row is given up (signals.md DI12)."""

_PENDING = NotificationStatus.PENDING
_OPEN = ("pending", "delivered", "seen")


def record(
    tables: Tables, ingress_key: str | None, rows: tuple[Notification, ...], now: datetime
) -> Recorded:
    """Claim the delivery id and keep every row, or nothing of it.

    Raises:
        Unknown: a thread id belongs to another resource.
    """
    known = None if ingress_key is None else tables.ingress.get(ingress_key)
    if known is not None:
        return Recorded(rows=_first_rows(tables, known), duplicate=True)
    kept = tuple(_keep(tables, row, now) for row in rows)
    if ingress_key is not None:
        named = [{"threadId": row.thread_id, "id": row.id} for row in kept]
        expires_at = now + DELIVERY_MEMORY
        tables.ingress.put(
            Ingress(event_key=ingress_key, outcome={"rows": named}, expires_at=expires_at)
        )
    return Recorded(rows=kept)


def judge(
    tables: Tables, key: ThreadKey, notification_id: str, verdict: Verdict, now: datetime
) -> Notification | None:
    """Store a verdict on a pending row.

    `verdict.extra` may name the `coalesced_count` that was judged: a row that grew meanwhile has
    not been judged, stays due, and None is returned as for a row that is no longer pending.
    """
    row = _find(tables, key, notification_id)
    if row is None or row.status is not _PENDING or not _matches(row, verdict):
        return None
    judged = row.model_copy(
        update={
            "deliver_at": verdict.deliver_at,
            "summary_at": verdict.summary_at,
            "delivery_reason": verdict.reason,
            "decided": True,
            "updated_at": now,
        }
    )
    if verdict.status is not None:
        judged = move(judged, verdict.status, now)
    tables.notifications.put(judged)
    return judged


def tell(tables: Tables, telling: Telling, now: datetime) -> Accepted | None:
    """Accept the signal and mark what it tells, or None when nothing of it is left to tell.

    A missed window is only written down. A signal that was routed to nowhere tells nothing: the
    rows stay as they were and its key is free again (signals.md NI12).
    """
    if telling.window is not None and not _claim_window(tables, telling.window):
        return None
    rows = _tellable(tables, telling)
    if not rows:
        return None
    accepted = accept(tables, telling.request, now)
    if accepted.action == "discard":
        # Its key was claimed a moment ago; kept, it would answer every later attempt.
        _forget(tables, telling.request.event_key)
        return accepted
    for row in rows:
        tables.notifications.put(_told(row, telling, accepted.signal.id, now))
    _close_window(tables, telling, rows, now)
    return accepted


def undelivered(
    tables: Tables,
    key: ThreadKey,
    notification_id: str,
    failure: tuple[str, datetime],
    now: datetime,
) -> Notification | None:
    """Count a failed telling and put the row off; `failure` is the error and when to try again."""
    row = _find(tables, key, notification_id)
    if row is None or row.status is not _PENDING:
        return None
    error, due_at = failure
    attempts = min(row.delivery_attempts + 1, ATTEMPTS)
    failed = row.model_copy(
        update={
            "delivery_attempts": attempts,
            "last_delivery_attempt_at": now,
            "last_delivery_error": error,
            "updated_at": now,
            **_put_off(row, due_at),
        }
    )
    if attempts >= ATTEMPTS:
        failed = move(failed, NotificationStatus.FAILED, now)
    tables.notifications.put(failed)
    return failed


def due(tables: Tables, limit: int, now: datetime) -> list[Notification]:
    """Return pending rows whose time has come, the longest due first (signals.md N10)."""
    query = Query(at_most={"due_at": now}, order=("due_at", "updated_at"), limit=limit)
    return tables.notifications.find(query)


def notification(tables: Tables, key: ThreadKey, notification_id: str) -> Notification:
    """Return one row.

    Raises:
        Unknown: this thread's inbox has no such row.
    """
    row = _find(tables, key, notification_id)
    if row is None:
        raise Unknown(f"notification {notification_id} is not in the inbox of thread {key}")
    return row


def inbox(tables: Tables, key: ThreadKey, wanted: InboxFilter) -> list[Notification]:
    """Return rows of one inbox, the most recently updated first (signals.md N7)."""
    thread = find_thread(tables, key)
    if thread is None:
        return []
    equals: dict[str, str | tuple[str, ...]] = {"thread_id": key.thread_id}
    if wanted.statuses:
        equals["status"] = tuple(status.value for status in wanted.statuses)
    if wanted.priorities:
        equals["priority"] = tuple(priority.value for priority in wanted.priorities)
    if wanted.source is not None:
        equals["source"] = wanted.source
    # What is searched is no column: only then is the limit applied afterwards.
    limit = None if wanted.search else wanted.limit
    found = tables.notifications.find(
        Query(equals=equals, order=("-updated_at", "-created_at"), limit=limit)
    )
    if wanted.search:
        found = [row for row in found if _says(row, wanted.search.casefold())]
    return found[: wanted.limit]


def mark(
    tables: Tables,
    key: ThreadKey,
    notification_ids: tuple[str, ...],
    status: NotificationStatus,
    now: datetime,
) -> list[Notification]:
    """Move rows to a status; unknown ids are skipped and each row comes back once.

    Raises:
        InvalidInput: a move is not legal; then none was made.
    """
    found = [_find(tables, key, one) for one in dict.fromkeys(notification_ids)]
    moved = [move(row, status, now) for row in found if row is not None]
    for row in moved:
        tables.notifications.put(row)
    return moved


def _first_rows(tables: Tables, known: Ingress) -> tuple[Notification, ...]:
    named = known.outcome.get("rows", ())
    found = (tables.notifications.get(one["threadId"], one["id"]) for one in named)
    return tuple(row for row in found if row is not None)


def _keep(tables: Tables, row: Notification, now: datetime) -> Notification:
    """Clear what the event makes moot, then merge it into a pending row or insert it."""
    if find_thread(tables, row.key) is None:
        tables.threads.put(new_thread(row.key, row.agent_id, now))
    known = tables.notifications.get(row.thread_id, row.id)
    if known is not None:
        return known
    # First what it clears, then what it joins: good news must not merge into the bad news it ends.
    row = _clear(tables, row, now)
    twin = _twin(tables, row)
    if twin is not None:
        kept = absorb(twin, row, now)
    else:
        kept = row.model_copy(update={"created_at": now, "updated_at": now} | undecided(now))
    tables.notifications.put(kept)
    return kept


def _clear(tables: Tables, row: Notification, now: datetime) -> Notification:
    """Dismiss the pending failures that this event clears; good news of a told one is medium."""
    prefix = row.metadata.get(CLEARS)
    if not isinstance(prefix, str) or not prefix:
        return row
    found = tables.notifications.find(
        Query(
            equals={"thread_id": row.thread_id, "status": _OPEN, "source": row.source},
            order=("-updated_at", "-created_at"),
        )
    )
    told = was_told_red(found, prefix)
    for moot in found:
        if moot.status is _PENDING and is_cleared(moot, prefix):
            dismissed = move(moot, NotificationStatus.DISMISSED, now)
            tables.notifications.put(dismissed.model_copy(update={"delivery_reason": "cleared"}))
    if told and row.priority is Priority.LOW:
        return row.model_copy(update={"priority": Priority.MEDIUM})
    return row


def _twin(tables: Tables, row: Notification) -> Notification | None:
    """Return the oldest pending row of the same thread and source with the same key."""
    # The same fact is the closer relation, so it is looked for first.
    for column in ("dedupe_key", "coalesce_key"):
        value = getattr(row, column)
        if value is None:
            continue
        query = Query(
            equals={
                "thread_id": row.thread_id,
                "status": "pending",
                "source": row.source,
                column: value,
            },
            order=("created_at",),
            limit=1,
        )
        found = tables.notifications.find(query)
        if found:
            return found[0]
    return None


def _find(tables: Tables, key: ThreadKey, notification_id: str) -> Notification | None:
    row = tables.notifications.get(key.thread_id, notification_id)
    return row if row is not None and row.resource_id == key.resource_id else None


def _matches(row: Notification, verdict: Verdict) -> bool:
    expected = verdict.extra.get("coalesced_count")
    return expected is None or expected == row.coalesced_count


def _says(row: Notification, words: str) -> bool:
    return any(words in text.casefold() for text in (row.summary, row.kind, row.source))


def _claim_window(tables: Tables, window: Window) -> bool:
    if tables.windows.get(window.inbox, window.local_date, window.slot) is not None:
        return False
    if window.missed:
        tables.windows.put(window)
        return False
    return True


def _tellable(tables: Tables, telling: Telling) -> list[Notification]:
    """Return the rows that may still be told: pending, judged, and as they were when rendered."""
    key = telling.request.key
    found = [_find(tables, key, one) for one in dict.fromkeys(telling.notification_ids)]
    pending = [row for row in found if row is not None and row.status is _PENDING]
    if telling.summary:
        # A row that grew since is undecided again: it waits for its own verdict.
        return [row for row in pending if row.decided]
    return [row for row in pending if full_key(row) == telling.request.event_key]


def _told(row: Notification, telling: Telling, signal_id: str, now: datetime) -> Notification:
    changes = {"last_delivery_attempt_at": now, "last_delivery_error": None, "updated_at": now}
    if telling.summary:
        summarised = {"summary_at": None, "summary_signal_id": signal_id}
        return row.model_copy(update=changes | summarised)
    delivered = move(row, NotificationStatus.DELIVERED, now)
    return delivered.model_copy(
        update=changes | {"delivered_signal_id": signal_id, "decided": True}
    )


def _forget(tables: Tables, event_key: str | None) -> None:
    if event_key is not None:
        tables.ingress.remove(event_key)


def _close_window(
    tables: Tables, telling: Telling, rows: list[Notification], now: datetime
) -> None:
    if telling.window is not None:
        told = tuple(row.id for row in rows)
        tables.windows.put(telling.window.model_copy(update={"notification_ids": told}))
    if telling.card is None:
        return
    thread = get_thread(tables, telling.request.key)
    for conversation in telling.conversations:
        post = Post(
            entry_id=_card_id(telling, conversation),
            payload=telling.card,
            conversation=conversation,
            expiry=DIGEST_EXPIRY,
        )
        thread = enqueue(tables, thread, post, now)
    change(tables, thread, now)


def _card_id(telling: Telling, conversation: Conversation) -> str:
    """Return the id of a digest's card: the same window can never have two."""
    name = f"{telling.request.event_key}\0{conversation.key}"
    return f"out_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _put_off(row: Notification, due_at: datetime) -> dict[str, datetime]:
    """Return the due times that are past moved to `due_at`; a row without any gets one (NI8)."""
    times = {"deliver_at": row.deliver_at, "summary_at": row.summary_at}
    late = {name: due_at for name, time in times.items() if time is not None and time < due_at}
    return late or ({} if any(times.values()) else {"deliver_at": due_at})
