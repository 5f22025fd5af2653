"""The table store: the whole Store, as steps over any Transactor."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from core.approvals.store import SuspensionFilter
from core.approvals.suspension import Decision, Suspension
from core.clock import Clock, SystemClock
from core.conversation import Conversation, Receipt
from core.facts import Fact
from core.faults import point
from core.ids import ThreadKey
from core.notifications.notification import Notification, NotificationStatus, Window
from core.notifications.store import InboxFilter, Recorded, Telling, Verdict
from core.outbox.entry import OutboxEntry
from core.runs.run import Call, Document, Run
from core.runs.store import Answer, Ending, Outcome, RunFilter, Step, Work
from core.stores.steps import (
    accepting,
    deciding,
    ending,
    leasing,
    listing,
    notifications,
    posting,
    running,
)
from core.stores.steps.heads import get_thread
from core.stores.tables import Tables, Transactor
from core.threads.lease import Lease
from core.threads.store import AcceptRequest, Stopped, ThreadFilter
from core.threads.thread import Accepted, Binding, HistoryRow, Mail, Thread

T = TypeVar("T")


class TableStore:
    """Implements every method of `core.store.Store` as one step in one transaction.

    The docstrings of the Protocols beside the records say what each does; nothing is decided here.
    """

    def __init__(self, transactor: Transactor, *, clock: Clock | None = None) -> None:
        """Keep the transactor that runs the steps, and the clock that says when they happen."""
        self._transactor = transactor
        self._clock = clock or SystemClock()

    async def aclose(self) -> None:
        """Close the transactor."""
        await self._transactor.aclose()

    async def _write(self, name: str, step: Callable[[Tables, datetime], T]) -> T:
        # Read once: all rows of a step carry the same instant.
        now = self._clock.now()
        point(f"{name}.before_commit")
        value = await self._transactor.write(lambda tables: step(tables, now))
        point(f"{name}.after_commit")
        return value

    async def _read(self, step: Callable[[Tables], T]) -> T:
        return await self._transactor.read(step)

    # Threads

    async def accept(self, request: AcceptRequest) -> Accepted:
        """See ThreadStore."""
        return await self._write("accept", lambda t, now: accepting.accept(t, request, now))

    async def bind(self, conversation: Conversation, key: ThreadKey, agent_id: str) -> Binding:
        """See ThreadStore."""
        # Nearly always there: a read costs no commit.
        bound = await self.binding(conversation.key)
        if bound is not None:
            return bound
        return await self._write(
            "bind",
            lambda t, now: accepting.bind(
                t, conversation, accepting.new_thread(key, agent_id, now), now
            ),
        )

    async def binding(self, address: str) -> Binding | None:
        """See ThreadStore."""
        return await self._read(lambda t: t.bindings.get(address))

    async def bindings(self, thread_id: str) -> list[Binding]:
        """See ThreadStore."""
        return await self._read(lambda t: listing.bindings(t, thread_id))

    async def thread(self, key: ThreadKey) -> Thread:
        """See ThreadStore."""
        return await self._read(lambda t: get_thread(t, key))

    async def threads(self, wanted: ThreadFilter) -> list[Thread]:
        """See ThreadStore."""
        return await self._read(lambda t: listing.threads(t, wanted))

    async def save_thread(self, key: ThreadKey, changes: dict[str, Any], agent_id: str) -> Thread:
        """See ThreadStore."""
        return await self._write(
            "save_thread",
            lambda t, now: accepting.save_thread(
                t, accepting.new_thread(key, agent_id, now), changes, now
            ),
        )

    async def history(
        self, key: ThreadKey, *, after: int = 0, limit: int = 1000
    ) -> list[HistoryRow]:
        """See ThreadStore."""
        return await self._read(lambda t: listing.history(t, key, after, limit))

    async def newest(self, key: ThreadKey, limit: int) -> list[HistoryRow]:
        """See ThreadStore."""
        return await self._read(lambda t: listing.newest(t, key, limit))

    async def acquire(self, key: ThreadKey, owner: str, ttl: timedelta) -> Lease | None:
        """See ThreadStore."""
        return await self._write("acquire", lambda t, now: leasing.acquire(t, key, owner, ttl, now))

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease:
        """See ThreadStore."""
        return await self._write("renew", lambda t, now: leasing.renew(t, lease, ttl, now))

    async def release_if_drained(self, lease: Lease) -> bool:
        """See ThreadStore."""
        return await self._write(
            "release", lambda t, now: leasing.release_if_drained(t, lease, now)
        )

    async def runnable(self, limit: int = 100) -> list[ThreadKey]:
        """See ThreadStore."""
        now = self._clock.now()
        return await self._read(lambda t: leasing.runnable(t, limit, now))

    async def request_abort(self, key: ThreadKey) -> Stopped | None:
        """See ThreadStore."""
        return await self._write("abort", lambda t, now: deciding.request_abort(t, key, now))

    async def purge(self, limit: int = 1000) -> int:
        """See ThreadStore."""
        return await self._write("purge", lambda t, now: accepting.purge(t, limit, now))

    async def void_leases(self) -> None:
        """See ThreadStore."""
        await self._write("void_leases", leasing.void_leases)

    # Runs

    async def next_run(self, lease: Lease, fresh_run_id: str) -> Work | None:
        """See RunStore."""
        return await self._write(
            "next_run", lambda t, now: running.next_run(t, lease, fresh_run_id, now)
        )

    async def mail(self, lease: Lease, run_id: str) -> list[Mail]:
        """See RunStore."""
        now = self._clock.now()
        return await self._read(lambda t: running.mail(t, lease, run_id, now))

    async def commit_answer(self, lease: Lease, answer: Answer) -> Run:
        """See RunStore."""
        return await self._write(
            "commit_answer", lambda t, now: running.commit_answer(t, lease, answer, now)
        )

    async def settle_call(self, lease: Lease, outcome: Outcome) -> Call:
        """See RunStore."""
        return await self._write(
            "settle_call", lambda t, now: running.settle_call(t, lease, outcome, now)
        )

    async def close_step(self, lease: Lease, step: Step) -> Run:
        """See RunStore."""
        return await self._write(
            "close_step", lambda t, now: running.close_step(t, lease, step, now)
        )

    async def end_run(self, lease: Lease, ended: Ending) -> Run:
        """See RunStore."""
        return await self._write("end_run", lambda t, now: running.end_run(t, lease, ended, now))

    async def run(self, run_id: str) -> Run:
        """See RunStore."""
        return await self._read(lambda t: ending.get_run(t, run_id))

    async def runs(self, wanted: RunFilter) -> list[Run]:
        """See RunStore."""
        return await self._read(lambda t: listing.runs(t, wanted))

    async def calls(self, run_id: str, step: int | None = None) -> list[Call]:
        """See RunStore."""
        return await self._read(lambda t: listing.calls(t, run_id, step))

    async def document(self, key: ThreadKey, path: str) -> Document | None:
        """See RunStore."""
        return await self._read(lambda t: listing.document(t, key, path))

    async def documents(self, key: ThreadKey, kind: str | None = None) -> list[Document]:
        """See RunStore."""
        return await self._read(lambda t: listing.documents(t, key, kind))

    async def abort_requested(self, lease: Lease, run_id: str) -> bool:
        """See RunStore."""
        now = self._clock.now()
        return await self._read(lambda t: running.abort_requested(t, lease, run_id, now))

    async def postpone(self, lease: Lease, seconds: float) -> None:
        """See RunStore."""
        await self._write("postpone", lambda t, now: leasing.postpone(t, lease, seconds, now))

    # Approvals

    async def suspension(self, token: str) -> Suspension:
        """See ApprovalStore."""
        return await self._read(lambda t: deciding.get_suspension(t, token))

    async def suspensions(self, wanted: SuspensionFilter) -> list[Suspension]:
        """See ApprovalStore."""
        return await self._read(lambda t: deciding.suspensions(t, wanted))

    async def resolve(self, token: str, decision: Decision) -> Suspension:
        """See ApprovalStore."""
        return await self._write(
            "resolve", lambda t, now: deciding.resolve(t, token, decision, now)
        )

    async def expire(self, limit: int = 100) -> list[Suspension]:
        """See ApprovalStore."""
        now = self._clock.now()
        # Asked at every tick: an idle gateway must not pay for a commit each time.
        if not await self._read(lambda t: deciding.overdue(t, 1, now)):
            return []
        return await self._write("expire", lambda t, now: deciding.expire(t, limit, now))

    # Outbox

    async def outbox_due(self, limit: int = 100) -> list[str]:
        """See OutboxStore."""
        now = self._clock.now()
        return await self._read(lambda t: posting.outbox_due(t, limit, now))

    async def claim(self, thread_id: str) -> tuple[OutboxEntry, Receipt | None] | None:
        """See OutboxStore."""
        return await self._write("claim", lambda t, now: posting.claim(t, thread_id, now))

    async def sent(self, entry_id: str, receipt: Receipt) -> None:
        """See OutboxStore."""
        await self._write("sent", lambda t, now: posting.sent(t, entry_id, receipt, now))

    async def retry_at(self, entry: OutboxEntry, error: str) -> None:
        """See OutboxStore."""
        await self._write("retry_at", lambda t, _: posting.retry_at(t, entry, error))

    async def hold_back(self, entry: OutboxEntry, error: str) -> None:
        """See OutboxStore."""
        await self._write("hold_back", lambda t, _: posting.hold_back(t, entry, error))

    async def dead(self, entry_id: str, error: str) -> None:
        """See OutboxStore."""
        await self._write("dead", lambda t, _: posting.dead(t, entry_id, error))

    async def outbox(self, thread_id: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        """See OutboxStore."""
        return await self._read(lambda t: posting.outbox(t, thread_id, limit))

    # Facts

    async def fact(self, name: str) -> dict[str, Any] | None:
        """See FactStore."""
        found = await self._read(lambda t: t.facts.get(name))
        return None if found is None else found.value

    async def learn(self, name: str, value: dict[str, Any]) -> None:
        """See FactStore."""
        await self._write(
            "learn", lambda t, now: t.facts.put(Fact(name=name, value=value, learned_at=now))
        )

    # Notifications

    async def record(self, ingress_key: str | None, rows: tuple[Notification, ...]) -> Recorded:
        """See NotificationStore."""
        return await self._write(
            "record", lambda t, now: notifications.record(t, ingress_key, rows, now)
        )

    async def judge(
        self, key: ThreadKey, notification_id: str, verdict: Verdict
    ) -> Notification | None:
        """See NotificationStore."""
        return await self._write(
            "judge", lambda t, now: notifications.judge(t, key, notification_id, verdict, now)
        )

    async def tell(self, telling: Telling) -> Accepted | None:
        """See NotificationStore."""
        return await self._write("tell", lambda t, now: notifications.tell(t, telling, now))

    async def undelivered(
        self, key: ThreadKey, notification_id: str, error: str, due_at: datetime
    ) -> Notification | None:
        """See NotificationStore."""
        return await self._write(
            "undelivered",
            lambda t, now: notifications.undelivered(t, key, notification_id, (error, due_at), now),
        )

    async def due(self, limit: int = 100) -> list[Notification]:
        """See NotificationStore."""
        now = self._clock.now()
        return await self._read(lambda t: notifications.due(t, limit, now))

    async def notification(self, key: ThreadKey, notification_id: str) -> Notification:
        """See NotificationStore."""
        return await self._read(lambda t: notifications.notification(t, key, notification_id))

    async def inbox(self, key: ThreadKey, wanted: InboxFilter) -> list[Notification]:
        """See NotificationStore."""
        return await self._read(lambda t: notifications.inbox(t, key, wanted))

    async def mark(
        self, key: ThreadKey, notification_ids: tuple[str, ...], status: NotificationStatus
    ) -> list[Notification]:
        """See NotificationStore."""
        return await self._write(
            "mark", lambda t, now: notifications.mark(t, key, notification_ids, status, now)
        )

    async def window(self, inbox: str, local_date: str, slot: str) -> Window | None:
        """See NotificationStore."""
        return await self._read(lambda t: t.windows.get(inbox, local_date, slot))
