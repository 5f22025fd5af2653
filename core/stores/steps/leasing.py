"""Leasing: taking, keeping and giving back the right to run a thread."""

from datetime import datetime, timedelta

from core.conversation import Notice
from core.ids import ThreadKey
from core.runs.run import RunStatus
from core.runs.store import Ending
from core.stores.steps.ending import finish
from core.stores.steps.heads import Fenced, change, committed, fenced, find_thread, waiting_mail
from core.stores.steps.posting import Post, enqueue
from core.stores.tables import Query, Tables
from core.threads.lease import Lease
from core.threads.thread import ATTEMPT_LIMIT, EPOCH, Lane, Thread, ThreadState


def acquire(
    tables: Tables, key: ThreadKey, owner: str, ttl: timedelta, now: datetime
) -> Lease | None:
    """Take the lease if it is free and there is work; the attempt is counted before the work.

    After three attempts without a commit the thread is set aside and its people are told
    (reliability.md stage 4, poison event).
    """
    thread = find_thread(tables, key)
    if thread is None or not thread.ready or thread.lease_until > now or thread.not_before > now:
        return None
    if thread.attempts >= ATTEMPT_LIMIT:
        _set_aside(tables, thread, now)
        return None
    lease = Lease(key=key, owner=owner, epoch=thread.epoch + 1, until=now + ttl)
    change(
        tables,
        thread,
        now,
        owner=owner,
        epoch=lease.epoch,
        lease_until=lease.until,
        attempts=thread.attempts + 1,
    )
    return lease


def renew(tables: Tables, lease: Lease, ttl: timedelta, now: datetime) -> Lease:
    """Push the lease's end.

    Raises:
        LeaseLost: another owner has taken the thread.
    """
    held = fenced(tables, lease, now)
    tables.threads.put(held.thread.model_copy(update={"lease_until": now + ttl}))
    return Lease(key=lease.key, owner=lease.owner, epoch=lease.epoch, until=now + ttl)


def release_if_drained(tables: Tables, lease: Lease, now: datetime) -> bool:
    """Give the lease back, unless there is work: then it is kept and False returned."""
    held = fenced(tables, lease, now)
    if held.thread.ready and held.thread.not_before <= now:
        return False
    # An owner that comes to say goodbye was not interrupted, even if it found nothing to commit.
    committed(tables, held.thread, now, owner=None, lease_until=EPOCH)
    return True


def runnable(tables: Tables, limit: int, now: datetime) -> list[ThreadKey]:
    """Return threads with work and without a live lease (architecture.md 5)."""
    found = tables.threads.find(
        Query(
            equals={"ready": True},
            at_most={"lease_until": now, "not_before": now},
            order=("lease_until",),
            limit=limit,
        )
    )
    return [thread.key for thread in found]


def postpone(tables: Tables, lease: Lease, seconds: float, now: datetime) -> None:
    """Give the thread a pause and drop the lease; the count of attempts stays."""
    held = fenced(tables, lease, now)
    change(
        tables,
        held.thread,
        now,
        owner=None,
        lease_until=EPOCH,
        not_before=now + timedelta(seconds=seconds),
    )


# A scan, once at the start, where nothing else runs yet.
def void_leases(tables: Tables, now: datetime) -> None:
    """End every lease; right only where one process owns the store (signals.md L1)."""
    held = tables.threads.find(Query(above={"lease_until": now}))
    for thread in held:
        tables.threads.put(thread.model_copy(update={"owner": None, "lease_until": EPOCH}))


def _set_aside(tables: Tables, thread: Thread, now: datetime) -> None:
    notice = Notice(
        text=f"I tried this {ATTEMPT_LIMIT} times and was interrupted each time, so I have "
        "stopped. Write again to let me make another attempt."
    )
    if thread.run_id is not None and tables.runs.get(thread.run_id) is not None:
        ending = Ending(
            run_id=thread.run_id,
            status=RunStatus.FAILED,
            finish_reason="quarantined",
            error="interrupted too often",
            notice=notice,
        )
        thread = finish(tables, Fenced(thread=thread, now=now), ending)
    else:
        thread = _give_up_start(tables, thread, notice, now)
    # The last owner may only be slow: without a name on the lease its fence is shut too.
    change(tables, thread, now, quarantined=True, owner=None, lease_until=EPOCH)


def _give_up_start(tables: Tables, thread: Thread, notice: Notice, now: datetime) -> Thread:
    first = next(iter(waiting_mail(tables, thread, Lane.PENDING, limit=1)), None)
    post = Post(
        entry_id=f"quarantine_{thread.thread_id}_{thread.epoch}",
        payload=notice,
        conversation=first.reply_to if first else None,
    )
    told = enqueue(tables, thread, post, now)
    return told.model_copy(
        update={
            "state": ThreadState.IDLE,
            "run_id": None,
            "run_agent_id": None,
            "abort_run_id": None,
            "attempts": 0,
        }
    )
