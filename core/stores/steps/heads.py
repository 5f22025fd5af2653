"""Heads: reading and changing a thread's head row, which every step goes through."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import LeaseLost, Unknown
from core.ids import ThreadKey
from core.messages import Message
from core.stores.tables import Query, Tables
from core.threads.lease import Lease
from core.threads.thread import HistoryRow, Lane, Mail, Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """A thread whose lease was checked in this transaction, with the instant of the step."""

    thread: Thread
    now: datetime


def find_thread(tables: Tables, key: ThreadKey) -> Thread | None:
    """Return the head row, or None when the thread is new.

    Raises:
        Unknown: the id belongs to another resource; nothing of it is told (agent.md Y4).
    """
    thread = tables.threads.get(key.thread_id)
    # Unknown and not forbidden: a stranger must not learn that the id is taken.
    if thread is not None and thread.resource_id != key.resource_id:
        raise Unknown(f"thread {key.thread_id} is not one of resource {key.resource_id}")
    return thread


def get_thread(tables: Tables, key: ThreadKey) -> Thread:
    """Return the head row.

    Raises:
        Unknown: no such thread, or it is another resource's.
    """
    thread = find_thread(tables, key)
    if thread is None:
        raise Unknown(f"thread {key.thread_id} of resource {key.resource_id} is not in the store")
    return thread


def fenced(tables: Tables, lease: Lease, now: datetime) -> Fenced:
    """Check the fence of a write: the lease must be the newest one given out.

    Raises:
        LeaseLost: another owner has taken the thread since.
    """
    thread = get_thread(tables, lease.key)
    # The epoch alone decides: an expired lease that nobody took is still the newest.
    if thread.epoch != lease.epoch or thread.owner != lease.owner:
        raise LeaseLost(f"thread {lease.key} is run by another owner since epoch {thread.epoch}")
    return Fenced(thread=thread, now=now)


def change(tables: Tables, thread: Thread, now: datetime, **changes: Any) -> Thread:
    """Store the head row with these changes and return it."""
    changed = thread.model_copy(update={"updated_at": now, **changes})
    tables.threads.put(changed)
    return changed


def committed(tables: Tables, thread: Thread, now: datetime, **changes: Any) -> Thread:
    """Store the head row as after a commit of its run: the count of attempts starts again."""
    return change(tables, thread, now, attempts=0, **changes)


def append(tables: Tables, thread: Thread, messages: list[Message]) -> Thread:
    """Append rows to the history; returns the head with its new sequence, *not yet stored*."""
    # One counter for all rows of a thread: history, mail and outbox can be put in one order.
    sequence = thread.sequence
    for message in messages:
        sequence += 1
        row = HistoryRow(thread_id=thread.thread_id, sequence=sequence, message=message)
        tables.history.put(row)
    return thread.model_copy(update={"sequence": sequence})


def waiting_mail(
    tables: Tables, thread: Thread, lane: Lane, limit: int | None = None
) -> list[Mail]:
    """Return the entries of one lane, in order."""
    return tables.mail.find(
        Query(
            equals={"thread_id": thread.thread_id, "lane": lane.value},
            order=("sequence",),
            limit=limit,
        )
    )
