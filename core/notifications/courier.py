"""The courier: turns notifications that are due into signals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from core.clock import Clock
from core.errors import InterlockError, InvalidInput, StoreUnavailable
from core.notifications.digest import (
    GRACE,
    DigestWindow,
    Opening,
    compose,
    next_opening,
    opening_at,
    present_opening,
)
from core.notifications.inbox import Inbox, Policies, Windows, no_windows, summary_slot
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.notifications.policy import (
    DeliveryDecision,
    DeliveryPolicy,
    PolicyContext,
    PolicyFailed,
    decide,
)
from core.notifications.render import full_signal, summary_signal
from core.notifications.store import InboxFilter, Telling, Verdict
from core.notifications.teller import InboxStore, Teller, Wake, is_active
from core.notifications.telling import Posting, Routing, tell_digest, tell_fully, tell_summary
from core.signals.signal import Signal
from core.threads.thread import Accepted

log = structlog.get_logger(__name__)

BATCH = 100
HOLD = timedelta(seconds=10)
"""How long a held row is put off while its thread is active, before it is looked at again."""
MOST_PER_DIGEST = 5_000
_MOST_ROUNDS = 50
_MISSED = "missed-digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Due rows of one agent on one thread, with its state before any of them was told."""

    rows: tuple[Notification, ...]
    active: bool
    now: datetime

    @property
    def first(self) -> Notification:
        """Return a row that stands for all: they share thread and agent."""
        return self.rows[0]


@dataclass(slots=True)
class Dispatched:
    """What one pass did: the signals that were accepted, and the rows that could not be told."""

    signals: list[Signal] = field(default_factory=list)
    delivered: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def note(self, telling: Telling, accepted: Accepted | None) -> None:
        """Keep the outcome of one emission."""
        if accepted is None:
            return
        self.signals.append(accepted.signal)
        if not telling.summary:
            self.delivered.extend(telling.notification_ids)


class Courier:
    """Tells what is due: a summary per thread and pass, digests at their windows, the rest in full.

    Any number of couriers may run: what is told is claimed by its key in the store.
    """

    def __init__(
        self,
        *,
        store: InboxStore,
        clock: Clock,
        inbox: Inbox,
        policies: Policies,
        wake: Wake,
        windows: Windows = no_windows,
    ) -> None:
        """Take the collaborators; `inbox` decides what a crash left undecided."""
        self._store = store
        self._clock = clock
        self._inbox = inbox
        self._teller = Teller(store=store, clock=clock, wake=wake)
        self._policies = policies
        self._windows = windows

    async def dispatch_due(self, now: datetime | None = None) -> Dispatched:
        """Tell everything that is due, thread by thread; one that fails does not stop the others.

        Raises:
            InvalidInput: `now` has no time zone.
            StoreUnavailable: the store cannot be read.
        """
        now = self._clock.now() if now is None else now
        if now.tzinfo is None:
            raise InvalidInput("now must be aware of its time zone", fields={"now": "naive"})
        done = Dispatched()
        seen: set[tuple[str, str, bool]] = set()
        for _ in range(_MOST_ROUNDS):
            due = await self._store.due(BATCH)
            # A row that stays due, such as one on hold, must not be met twice in one pass.
            rows = [row for row in due if (row.thread_id, row.id, row.decided) not in seen]
            if not rows:
                break
            # What a crash left undecided comes first, so that a summary has all of it.
            rows = [row for row in rows if not row.decided] or rows
            seen.update((row.thread_id, row.id, row.decided) for row in rows)
            for group in _grouped(rows):
                await self._dispatch(group, now, done)
        return done

    async def _dispatch(self, rows: list[Notification], now: datetime, done: Dispatched) -> None:
        key = rows[0].key
        try:
            # Raises when the agent is gone, before anything of the group is told (DI13).
            self._policies(rows[0].agent_id)
            group = Group(rows=tuple(rows), active=await is_active(self._store, key), now=now)
            await self._inbox.decide_pending([row for row in rows if not row.decided])
            for telling, told in await self._planned(group):
                done.note(telling, await self._teller.tell(told, telling))
        # The store's trouble is no fault of the rows: no attempt is counted.
        except StoreUnavailable as error:
            log.warning("courier.left_for_later", thread=str(key), error=str(error))
        except InterlockError as error:
            done.failed.extend(row.id for row in rows)
            await self._teller.fail(rows, str(error))

    async def _planned(self, group: Group) -> list[tuple[Telling, list[Notification]]]:
        """Return the group's emissions, the most urgent first, then the oldest (DI4)."""
        found = [*await self._summaries(group), *await self._in_full(group)]
        return sorted(found, key=lambda one: _order(one[1]))

    async def _in_full(self, group: Group) -> list[tuple[Telling, list[Notification]]]:
        found = []
        for row in group.rows:
            if not _is_due_in_full(row, group.now):
                continue
            if _is_held(row, active=group.active):
                await self._put_off(row, group.now + HOLD)
                continue
            decision = await self._asked_again(row, group)
            if decision is not None and decision.hold:
                continue
            options = {} if decision is None else decision.stream_options
            signal = full_signal(row, group.now)
            found.append((tell_fully(row, signal, Routing(options=options)), [row]))
        return found

    async def _summaries(self, group: Group) -> list[tuple[Telling, list[Notification]]]:
        """Return at most one summary: all that is due for one, in a digest if a window is open."""
        if not any(_is_due_in_summary(row, group.now) for row in group.rows):
            return []
        rows = await self._all_for_summary(group)
        windows = await self._windows(group.first.key)
        if windows:
            return await self._at_windows(rows, windows, group)
        return await self._plain(rows, group)

    async def _plain(
        self, rows: list[Notification], group: Group
    ) -> list[tuple[Telling, list[Notification]]]:
        if not rows:
            return []
        urgent = any(row.priority.rank >= Priority.HIGH.rank for row in rows)
        if group.active and not urgent:
            slot = await summary_slot(self._store, group.first.key, group.now)
            if slot > group.now:
                await self._reschedule(rows, slot, reason=None)
                return []
        return [(tell_summary(rows, summary_signal(rows, group.now)), rows)]

    async def _at_windows(
        self, rows: list[Notification], windows: Sequence[DigestWindow], group: Group
    ) -> list[tuple[Telling, list[Notification]]]:
        """Tell waiting rows at the present opening; those that are too late wait for the next."""
        waiting = [row for row in rows if _waits_for_window(row, windows)]
        opening = present_opening(windows, group.now)
        if waiting and opening is not None and not await self._is_closed(opening, group):
            return [(await self._digest(rows, opening, group), rows)]
        # Too late, or this window was told by another courier: never a second digest (PB-079).
        if waiting:
            await self._miss(waiting, windows, group)
        return await self._plain([row for row in rows if row not in waiting], group)

    async def _digest(self, rows: list[Notification], opening: Opening, group: Group) -> Telling:
        bindings = await self._store.bindings(group.first.thread_id)
        first = bindings[0].conversation if bindings else None
        conversation = opening.conversation or first
        posting = Posting(
            window=opening.window(group.first.thread_id, group.now),
            card=compose(rows, missed=_missed(rows, group.now)),
            conversations=() if conversation is None else (conversation,),
        )
        return tell_digest(rows, summary_signal(rows, group.now), posting)

    async def _is_closed(self, opening: Opening, group: Group) -> bool:
        closed = await self._store.window(group.first.thread_id, opening.local_date, opening.slot)
        return closed is not None

    async def _miss(
        self, rows: list[Notification], windows: Sequence[DigestWindow], group: Group
    ) -> None:
        """Write down each opening that is too late to keep, and move its rows to the next one."""
        reason = None
        for instant in sorted({row.summary_at for row in rows if row.summary_at is not None}):
            opening = opening_at(windows, instant)
            # Within the grace and yet here: the window is closed, so nothing was missed.
            if opening is None or instant >= group.now - GRACE:
                continue
            log.warning("digest.missed", thread=group.first.thread_id, opening=str(instant))
            reason = f"{_MISSED}:{instant.isoformat()}"
            window = opening.window(group.first.thread_id, group.now, missed=True)
            signal = summary_signal(rows, group.now)
            missed = Posting(window=window, card=compose(rows))
            await self._store.tell(tell_digest(rows, signal, missed))
        following = next_opening(windows, group.now)
        slot = group.now if following is None else following.at
        await self._reschedule(rows, slot, reason=reason)

    async def _all_for_summary(self, group: Group) -> list[Notification]:
        """Return every row of the thread that is due for a summary, not only this batch's."""
        wanted = InboxFilter(statuses=(NotificationStatus.PENDING,), limit=MOST_PER_DIGEST)
        found = await self._store.inbox(group.first.key, wanted)
        due = [
            row
            for row in found
            if row.agent_id == group.first.agent_id and _is_due_in_summary(row, group.now)
        ]
        return sorted(due, key=lambda row: (-row.priority.rank, row.created_at))

    async def _asked_again(self, row: Notification, group: Group) -> DeliveryDecision | None:
        """Ask the policy for options and hold only; a broken one means a bare wake (DI11)."""
        context = PolicyContext(
            record=row, thread_state="active" if group.active else "idle", now=group.now
        )
        try:
            return await decide(self._policies(row.agent_id) or DeliveryPolicy(), context)
        except (PolicyFailed, InvalidInput) as error:
            log.warning("policy.passed_over", notification=row.id, error=str(error))
            return None

    async def _put_off(self, row: Notification, until: datetime) -> None:
        """Move the full text's due time: held rows must not fill the head of the list (5.9)."""
        verdict = Verdict(
            deliver_at=until,
            summary_at=row.summary_at,
            reason=row.delivery_reason or "",
            extra={"coalesced_count": row.coalesced_count},
        )
        await self._store.judge(row.key, row.id, verdict)

    async def _reschedule(
        self, rows: list[Notification], until: datetime, *, reason: str | None
    ) -> None:
        for row in rows:
            verdict = Verdict(
                deliver_at=row.deliver_at,
                summary_at=until,
                reason=reason or row.delivery_reason or "",
                extra={"coalesced_count": row.coalesced_count},
            )
            await self._store.judge(row.key, row.id, verdict)


def _grouped(rows: list[Notification]) -> list[list[Notification]]:
    """Return the rows by thread and agent, in the order in which the groups came due (DI2)."""
    groups: dict[tuple[str, str], list[Notification]] = {}
    for row in rows:
        groups.setdefault((row.thread_id, row.agent_id), []).append(row)
    return list(groups.values())


def _order(rows: list[Notification]) -> tuple[int, datetime]:
    return -max(row.priority.rank for row in rows), min(row.created_at for row in rows)


def _is_due_in_summary(row: Notification, now: datetime) -> bool:
    return row.decided and row.summary_at is not None and row.summary_at <= now


def _is_due_in_full(row: Notification, now: datetime) -> bool:
    """Say whether the full text is due; a row due for both takes its summary first (DI3)."""
    if not row.decided or _is_due_in_summary(row, now):
        return False
    return row.deliver_at is not None and row.deliver_at <= now


def _is_held(row: Notification, *, active: bool) -> bool:
    """Say whether the row was summarised and waits for its thread to be idle (DI6)."""
    return active and row.priority is Priority.HIGH and row.summary_signal_id is not None


def _waits_for_window(row: Notification, windows: Sequence[DigestWindow]) -> bool:
    return row.summary_at is not None and opening_at(windows, row.summary_at) is not None


def _missed(rows: list[Notification], now: datetime) -> int:
    """Return how many openings before this one nobody was told at."""
    late = {row.summary_at for row in rows if row.summary_at and row.summary_at < now - GRACE}
    noted = {row.delivery_reason for row in rows if (row.delivery_reason or "").startswith(_MISSED)}
    return len(late) + len(noted)
