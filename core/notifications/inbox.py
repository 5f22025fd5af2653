"""The inbox: takes outside events in, asks the policy, and does what it says."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

import structlog

from core.clock import Clock
from core.conversation import Conversation, InboundEvents
from core.errors import InterlockError, InvalidInput
from core.ids import ThreadKey, thread_key
from core.notifications.digest import DigestWindow, next_opening
from core.notifications.ingress import (
    NotificationInput,
    NotificationResult,
    NotifyOptions,
    ReceiveResult,
    from_event,
    from_input,
    remembered,
)
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.notifications.policy import (
    DeliveryDecision,
    DeliveryPolicy,
    PolicyContext,
    PolicyFailed,
    built_in,
    complete,
    decide,
)
from core.notifications.render import full_signal, summary_signal
from core.notifications.store import InboxFilter, Verdict
from core.notifications.subscriptions import Subscription, Subscriptions
from core.notifications.teller import InboxStore, Teller, Wake, is_active
from core.notifications.telling import Routing, tell_fully, tell_summary
from core.signals.routing import IfActive, IfIdle

log = structlog.get_logger(__name__)

SUMMARY_INTERVAL = timedelta(seconds=10)
"""An active thread hears at most one summary of medium and low rows in this time (5.11)."""
_NO_RUN = Routing(if_active=IfActive(behavior="persist"), if_idle=IfIdle(behavior="persist"))

Policies = Callable[[str], DeliveryPolicy | None]
Windows = Callable[[ThreadKey], Awaitable[Sequence[DigestWindow]]]


async def no_windows(_key: ThreadKey) -> Sequence[DigestWindow]:
    """Return no digest windows: what a thread has unless somebody set one."""
    return ()


class Inbox:
    """Keeps outside events for threads, and tells them when the agent's policy says.

    An event is stored before anything is decided about it. Until then its row is due, so that a
    crash costs one tick of the courier.
    """

    def __init__(
        self,
        *,
        store: InboxStore,
        clock: Clock,
        policies: Policies,
        wake: Wake,
        subscriptions: Subscriptions | None = None,
        windows: Windows = no_windows,
    ) -> None:
        """Take the collaborators; `policies` gives an agent's own policy or None, by its id."""
        self._store = store
        self._clock = clock
        self._policies = policies
        self._subscriptions = subscriptions or Subscriptions()
        self._windows = windows
        self._teller = Teller(store=store, clock=clock, wake=wake)

    async def receive(self, inbound: InboundEvents) -> ReceiveResult:
        """Keep a webhook delivery for every thread that subscribed to it, all or nothing.

        What goes wrong after that is not the sender's affair: the courier comes back to it.

        Raises:
            StoreUnavailable: nothing was stored; let the sender try again.
        """
        rows = [
            from_event(await self._thread_of(one), one, inbound.source, event, self._clock.now())
            for event in inbound.events
            for one in self._subscriptions.match(event.topic)
        ]
        if not rows:
            return ReceiveResult(threads=0)
        recorded = await self._store.record(inbound.ingress_key, tuple(rows))
        threads = len({row.key for row in recorded.rows})
        if recorded.duplicate:
            return ReceiveResult(threads=threads, duplicate=True)
        await self._settle_what_can_be(recorded.rows)
        return ReceiveResult(threads=threads)

    async def notify(
        self, key: ThreadKey, inputs: Sequence[NotificationInput], options: NotifyOptions
    ) -> list[NotificationResult]:
        """Keep a program's events for one thread and act on each; one result per event (NI1-NI13).

        The thread's state is looked at once for the whole list. An event whose telling fails stays
        in the inbox and is tried again; that is no error here (NI8).

        Raises:
            InvalidSignal: an event cannot be shown to a model; none was stored.
            Unknown: the thread id belongs to another resource.
            PolicyFailed: the agent's policy raised; the events are stored.
        """
        now = self._clock.now()
        rows = tuple(from_input(key, options.agent_id, one, now) for one in inputs)
        recorded = await self._store.record(options.ingress_key, rows)
        if recorded.duplicate:
            return [remembered(row) for row in recorded.rows]
        # Looked at once: what the first event wakes must not change what the second one meets.
        active = await is_active(self._store, key)
        return [await self._settle(row, options.routing, active=active) for row in recorded.rows]

    async def decide_pending(self, rows: Sequence[Notification]) -> None:
        """Decide and act on rows of one thread that a crash, or a broken policy, left undecided.

        A policy that fails here is passed over: the built-in matrix decides (DI11).
        """
        if not rows:
            return
        active = await is_active(self._store, rows[0].key)
        for row in rows:
            try:
                await self._settle(row, Routing(), active=active)
            except (PolicyFailed, InvalidInput) as error:
                log.warning("policy.passed_over", notification=row.id, error=str(error))
                context = await self._context(row, active=active)
                await self._act(row, complete(built_in(context), context), Routing())

    async def _settle_what_can_be(self, rows: Sequence[Notification]) -> None:
        for _, group in groupby(sorted(rows, key=lambda row: row.key), key=lambda row: row.key):
            try:
                listed = list(group)
                active = await is_active(self._store, listed[0].key)
                for row in listed:
                    await self._settle(row, Routing(), active=active)
            except InterlockError as error:
                log.warning("notification.left_to_courier", error=str(error), code=error.code)

    async def _settle(
        self, row: Notification, routing: Routing, *, active: bool
    ) -> NotificationResult:
        context = await self._context(row, active=active)
        policy = self._policies(row.agent_id) or DeliveryPolicy()
        decision = await decide(policy, context)
        if row.decided or row.status is not NotificationStatus.PENDING:
            # The same fact came again and was announced before (digests.md, Two keys).
            said = decision.model_copy(update={"reason": "already-announced"})
            return NotificationResult(record=row, decision=said)
        return await self._act(row, decision, routing)

    async def _act(
        self, row: Notification, decision: DeliveryDecision, routing: Routing
    ) -> NotificationResult:
        options = routing.options | decision.stream_options
        routing = replace(routing, options=options)
        match decision.action:
            case "deliver":
                return await self._deliver(row, decision, routing)
            case "queue":
                return await self._deliver(row, decision, replace(routing, own_turn=True))
            case "persist":
                return await self._deliver(row, decision, replace(_NO_RUN, options=options))
            case "summarize":
                return await self._summarize(row, decision)
            case "defer" | "discard":
                return await self._put_away(row, decision)

    async def _deliver(
        self, row: Notification, decision: DeliveryDecision, routing: Routing
    ) -> NotificationResult:
        now = self._clock.now()
        judged = await self._judge(row, _verdict(row, decision, deliver_at=now))
        # It was seen, or grew, between storing and judging: whoever did that goes on with it.
        if judged is None:
            return await self._as_it_is(row, decision)
        accepted = await self._teller.tell(
            [judged], tell_fully(judged, full_signal(judged, now), routing)
        )
        return replace(await self._as_it_is(row, decision), accepted=accepted)

    async def _summarize(self, row: Notification, decision: DeliveryDecision) -> NotificationResult:
        """Keep the row for a summary; one that is due now and above low is told at once (NI6)."""
        now = self._clock.now()
        summary_at = decision.summary_at or now
        # A high one always has its own; a low one is left to the courier, who asks again.
        if row.priority is Priority.MEDIUM and summary_at <= now:
            summary_at = await summary_slot(self._store, row.key, now)
        verdict = _verdict(row, decision, deliver_at=decision.deliver_at)
        judged = await self._judge(row, replace(verdict, summary_at=summary_at))
        if judged is None or summary_at > now or judged.priority is Priority.LOW:
            return await self._as_it_is(row, decision)
        accepted = await self._teller.tell(
            [judged], tell_summary([judged], summary_signal([judged], now))
        )
        return replace(await self._as_it_is(row, decision), accepted=accepted)

    async def _put_away(self, row: Notification, decision: DeliveryDecision) -> NotificationResult:
        """Defer a row to its time, or discard it: nothing is told."""
        if decision.action == "discard":
            verdict = _verdict(row, decision, status=NotificationStatus.DISCARDED)
        else:
            verdict = _verdict(row, decision, deliver_at=decision.deliver_at)
        await self._judge(row, verdict)
        return await self._as_it_is(row, decision)

    async def _judge(self, row: Notification, verdict: Verdict) -> Notification | None:
        return await self._store.judge(row.key, row.id, verdict)

    async def _as_it_is(self, row: Notification, decision: DeliveryDecision) -> NotificationResult:
        stored = await self._store.notification(row.key, row.id)
        return NotificationResult(record=stored, decision=decision)

    async def _context(self, row: Notification, *, active: bool) -> PolicyContext:
        now = self._clock.now()
        opening = next_opening(await self._windows(row.key), now)
        state: Literal["active", "idle"] = "active" if active else "idle"
        return PolicyContext(
            record=row,
            thread_state=state,
            now=now,
            next_window=None if opening is None else opening.at,
        )

    async def _thread_of(self, subscription: Subscription) -> ThreadKey:
        """Return the subscriber's thread; a conversation without one is given its own."""
        if subscription.key is not None:
            return subscription.key
        if subscription.conversation is None:
            raise InvalidInput(f"the subscription {subscription.topic} leads nowhere")
        home = home_of(subscription.conversation)
        bound = await self._store.bind(subscription.conversation, home, subscription.agent_id)
        return bound.key


def home_of(conversation: Conversation) -> ThreadKey:
    """Return the key of the thread that a group conversation gets: it owns its own."""
    return thread_key(conversation.key, conversation.key)


async def summary_slot(store: InboxStore, key: ThreadKey, now: datetime) -> datetime:
    """Return when the thread may next hear a summary of medium or low rows: now, or soon."""
    wanted = InboxFilter(
        statuses=(NotificationStatus.PENDING,),
        priorities=(Priority.LOW, Priority.MEDIUM),
        limit=20,
    )
    told = [
        row.last_delivery_attempt_at
        for row in await store.inbox(key, wanted)
        if row.summary_signal_id is not None and row.last_delivery_attempt_at is not None
    ]
    return max([now, *(time + SUMMARY_INTERVAL for time in told)])


def _verdict(
    row: Notification,
    decision: DeliveryDecision,
    *,
    deliver_at: datetime | None = None,
    status: NotificationStatus | None = None,
) -> Verdict:
    return Verdict(
        deliver_at=deliver_at,
        reason=decision.reason,
        status=status,
        extra={"coalesced_count": row.coalesced_count},
    )
