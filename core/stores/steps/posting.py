"""Posting: putting replies into the outbox, and the steps of sending them in order."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core.conversation import Conversation, Outgoing, Receipt
from core.outbox.entry import ATTEMPT_LIMIT, REPLY_EXPIRY, EntryState, OutboxEntry
from core.stores.tables import Query, Tables
from core.threads.thread import Binding, Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """What is to go out: the entry's id, where to, what, and for how long it is worth sending.

    `conversation` None means the thread's first one; a thread without any gets no entry.
    """

    entry_id: str
    payload: Outgoing
    conversation: Conversation | None = None
    edits: str | None = None
    expiry: timedelta = REPLY_EXPIRY


def enqueue(tables: Tables, thread: Thread, post: Post, now: datetime) -> Thread:
    """Put one entry at the end of the thread's outbox.

    Returns the head with its new sequence, *not yet stored*.

    An entry whose id is there already is left alone: one turn has one reply.
    """
    conversation = post.conversation or first_conversation(tables, thread)
    if conversation is None or tables.outbox.get(post.entry_id) is not None:
        return thread
    sequence = thread.sequence + 1
    tables.outbox.put(
        OutboxEntry(
            entry_id=post.entry_id,
            thread_id=thread.thread_id,
            sequence=sequence,
            conversation=conversation,
            payload=post.payload,
            edits=post.edits,
            due_at=now,
            expires_at=now + post.expiry,
            created_at=now,
        )
    )
    return thread.model_copy(update={"sequence": sequence})


def first_conversation(tables: Tables, thread: Thread) -> Conversation | None:
    """Return the thread's oldest conversation, or None."""
    query = Query(equals={"thread_id": thread.thread_id}, order=("created_at",), limit=1)
    found = tables.bindings.find(query)
    return found[0].conversation if found else None


def outbox_due(tables: Tables, limit: int, now: datetime) -> list[str]:
    """Return ids of threads with an open entry that is due."""
    # The limit is on threads: a hundred entries stuck behind one must not hide the other threads.
    found = tables.outbox.find(
        Query(equals={"open": True}, at_most={"due_at": now}, order=("due_at",))
    )
    return list(dict.fromkeys(entry.thread_id for entry in found))[:limit]


def claim(
    tables: Tables, thread_id: str, now: datetime
) -> tuple[OutboxEntry, Receipt | None] | None:
    """Take the first open entry if it is due.

    One that can no longer be sent is closed and the next one looked at.
    """
    open_entries = tables.outbox.find(
        Query(equals={"thread_id": thread_id, "open": True}, order=("sequence",))
    )
    for entry in open_entries:
        edited = tables.outbox.get(entry.edits) if entry.edits else None
        if _closed(tables, entry, edited, now):
            continue
        if entry.due_at > now:
            return None
        return _started(tables, entry, now), edited.receipt if edited else None
    return None


def sent(tables: Tables, entry_id: str, receipt: Receipt, now: datetime) -> None:
    """Close the entry: the platform has it.

    What was posted at top level becomes a further conversation of its thread, so that an answer
    below it comes back (architecture.md 4, Thread).
    """
    entry = tables.outbox.get(entry_id)
    if entry is None:
        return
    tables.outbox.put(
        entry.model_copy(update={"state": EntryState.SENT, "receipt": receipt, "error": None})
    )
    thread = tables.threads.get(entry.thread_id)
    if receipt.root is None or entry.conversation.root == receipt.root or thread is None:
        return
    place = entry.conversation.model_copy(update={"root": receipt.root})
    if tables.bindings.get(place.key) is None:
        tables.bindings.put(
            Binding(
                address=place.key,
                conversation=place,
                resource_id=thread.resource_id,
                thread_id=thread.thread_id,
                created_at=now,
            )
        )


def retry_at(tables: Tables, entry: OutboxEntry, error: str) -> None:
    """Put the entry back with its new `due_at` and `state`.

    One that was tried too often is dead.
    """
    stored = tables.outbox.get(entry.entry_id)
    if stored is None or not stored.open:
        return
    if stored.attempts >= ATTEMPT_LIMIT:
        _close(tables, stored, EntryState.DEAD, error=error)
        return
    changes = {"due_at": entry.due_at, "state": entry.state, "error": error}
    tables.outbox.put(stored.model_copy(update=changes))


def hold_back(tables: Tables, entry: OutboxEntry, error: str) -> None:
    """Put the entry back until its `due_at`, uncounted: the platform asked to wait, nothing failed.

    Its expiry still ends the waiting.
    """
    stored = tables.outbox.get(entry.entry_id)
    if stored is None or not stored.open:
        return
    changes = {
        "due_at": entry.due_at,
        "state": EntryState.PENDING,
        "attempts": max(stored.attempts - 1, 0),
        "error": error,
    }
    tables.outbox.put(stored.model_copy(update=changes))


def dead(tables: Tables, entry_id: str, error: str) -> None:
    """Close the entry for good."""
    entry = tables.outbox.get(entry_id)
    if entry is not None and entry.open:
        _close(tables, entry, EntryState.DEAD, error=error)


def outbox(tables: Tables, thread_id: str | None, limit: int) -> list[OutboxEntry]:
    """Return entries, the newest first."""
    equals = {} if thread_id is None else {"thread_id": thread_id}
    return tables.outbox.find(Query(equals=equals, order=("-due_at", "-sequence"), limit=limit))


def _closed(tables: Tables, entry: OutboxEntry, edited: OutboxEntry | None, now: datetime) -> bool:
    """Close an entry that can no longer be sent; returns whether it was one."""
    if entry.expires_at <= now and entry.state is EntryState.PENDING:
        _close(tables, entry, EntryState.EXPIRED, error="not sent in time")
    elif entry.attempts >= ATTEMPT_LIMIT:
        # Whoever tried never came back to say how it went: a send that ends its process, say.
        _close(tables, entry, EntryState.DEAD, error="tried too often")
    elif entry.edits and (edited is None or edited.receipt is None):
        # What it would edit never reached the platform: there is nothing to make equal.
        _close(tables, entry, EntryState.DEAD, error="the message to edit was never sent")
    else:
        return False
    return True


def _started(tables: Tables, entry: OutboxEntry, now: datetime) -> OutboxEntry:
    started = {
        "state": EntryState.SENDING,
        "attempts": entry.attempts + 1,
        "attempted_at": now,
    }
    tables.outbox.put(entry.model_copy(update=started))
    return entry


def _close(tables: Tables, entry: OutboxEntry, state: EntryState, *, error: str) -> None:
    tables.outbox.put(entry.model_copy(update={"state": state, "error": error}))
