"""Accepting: the one step that takes a signal in (architecture.md 5, `accept`)."""

from datetime import datetime, timedelta

from core.conversation import Conversation
from core.errors import ThreadBlocked
from core.ids import ThreadKey
from core.signals.routing import Request, Route, Situation, route
from core.signals.signal import Signal, merge_attributes
from core.signals.storage import to_row
from core.stores.steps.heads import append, change, find_thread
from core.stores.tables import Query, Tables
from core.threads.store import AcceptRequest
from core.threads.thread import (
    Accepted,
    Binding,
    Ingress,
    Lane,
    Mail,
    Thread,
    ThreadState,
)

EVENT_MEMORY = timedelta(days=7)
"""How long an event key is remembered (reliability.md 0.3)."""
MAILBOX_LIMIT = 1_000
_SAVABLE = frozenset({"agent_id", "title", "metadata"})


def accept(tables: Tables, request: AcceptRequest, now: datetime) -> Accepted:
    """Claim the key, route by the thread's state, append, and promise a run id where one is needed.

    Raises:
        Unknown: the thread id belongs to another resource.
        ThreadBlocked: the mailbox is full.
    """
    # The owner is checked before the key: a stranger must not read an outcome by guessing it.
    thread = find_thread(tables, request.key) or new_thread(request.key, request.agent_id, now)
    # Before anything else: a known event must not even make a thread.
    first = _first_outcome(tables, request.event_key)
    if first is not None:
        return first.model_copy(update={"duplicate": True})
    chosen = route(_situation(thread), _request(request))
    signal = merge_attributes(
        request.signal.model_copy(update={"accepted_at": now}), chosen.attributes
    )
    accepted = _apply(tables, thread, request, chosen, signal)
    _remember(tables, request.event_key, accepted, now)
    return accepted


def new_thread(key: ThreadKey, agent_id: str, now: datetime) -> Thread:
    """Return the head row of a thread that begins now; the caller stores it."""
    return Thread(
        resource_id=key.resource_id,
        thread_id=key.thread_id,
        agent_id=agent_id,
        created_at=now,
        updated_at=now,
    )


def bind(tables: Tables, conversation: Conversation, thread: Thread, now: datetime) -> Binding:
    """Return the conversation's binding.

    The first one to ask decides (architecture.md 5, `bind`).
    """
    bound = tables.bindings.get(conversation.key)
    if bound is not None:
        return bound
    if find_thread(tables, thread.key) is None:
        tables.threads.put(thread)
    binding = Binding(
        address=conversation.key,
        conversation=conversation,
        resource_id=thread.resource_id,
        thread_id=thread.thread_id,
        created_at=now,
    )
    tables.bindings.put(binding)
    return binding


def purge(tables: Tables, limit: int, now: datetime) -> int:
    """Forget event keys that are past their time; returns how many went."""
    expired = tables.ingress.find(
        Query(at_most={"expires_at": now}, order=("expires_at",), limit=limit)
    )
    for row in expired:
        tables.ingress.remove(row.event_key)
    return len(expired)


def waiting_token(tables: Tables, thread: Thread) -> str | None:
    """Return the token of the suspension that the thread waits for, the oldest first."""
    if thread.state is not ThreadState.SUSPENDED:
        return None
    found = tables.suspensions.find(
        Query(equals={"run_id": thread.run_id, "state": "waiting"}, order=("created_at",), limit=1)
    )
    return found[0].token if found else None


def _first_outcome(tables: Tables, event_key: str | None) -> Accepted | None:
    if event_key is None:
        return None
    row = tables.ingress.get(event_key)
    return None if row is None else Accepted.model_validate(row.outcome)


def _remember(tables: Tables, event_key: str | None, accepted: Accepted, now: datetime) -> None:
    if event_key is None:
        return
    outcome = accepted.model_dump(mode="json")
    tables.ingress.put(Ingress(event_key=event_key, outcome=outcome, expires_at=now + EVENT_MEMORY))


def _situation(thread: Thread) -> Situation:
    if not thread.active:
        return Situation(waiting=thread.mail > 0)
    return Situation(run_id=thread.run_id, run_agent_id=thread.run_agent_id)


def _request(request: AcceptRequest) -> Request:
    return Request(
        agent_id=request.agent_id,
        own_turn=request.own_turn,
        transient=request.signal.transient,
        if_active=request.if_active,
        if_idle=request.if_idle,
    )


def _apply(
    tables: Tables, thread: Thread, request: AcceptRequest, chosen: Route, signal: Signal
) -> Accepted:
    if chosen.action == "discard":
        return Accepted(action="discard", signal=signal)
    if chosen.lane is None:
        return _persist(tables, thread, signal)
    return _post(tables, thread, request, chosen, signal)


def _persist(tables: Tables, thread: Thread, signal: Signal) -> Accepted:
    grown = append(tables, thread, [to_row(signal)])
    change(tables, grown, signal.accepted_at or thread.updated_at)
    return Accepted(action="persist", signal=signal)


def _post(
    tables: Tables, thread: Thread, request: AcceptRequest, chosen: Route, signal: Signal
) -> Accepted:
    if thread.mail >= MAILBOX_LIMIT:
        raise ThreadBlocked(
            f"thread {thread.key} has {thread.mail} messages waiting; try again later"
        )
    run_id = chosen.run_id or request.fresh_run_id
    now = signal.accepted_at or thread.updated_at
    tables.mail.put(
        Mail(
            thread_id=thread.thread_id,
            sequence=thread.sequence + 1,
            lane=Lane(chosen.lane or "pending"),
            agent_id=request.agent_id,
            run_id=run_id,
            signal=signal,
            options=request.options,
            reply_to=request.conversation,
        )
    )
    promised = (
        {"state": ThreadState.RESERVED, "run_id": run_id, "run_agent_id": request.agent_id}
        if chosen.action == "wake"
        else {}
    )
    # A person's new message gives a thread that was set aside another chance; events, of which
    # there may be hundreds, do not: each could bring the crash back.
    woken = thread.quarantined and signal.type == "user"
    changed = change(
        tables,
        thread,
        now,
        sequence=thread.sequence + 1,
        mail=thread.mail + 1,
        attempts=0 if woken else thread.attempts,
        quarantined=thread.quarantined and not woken,
        **promised,
    )
    return Accepted(
        action=chosen.action, signal=signal, run_id=run_id, waiting=waiting_token(tables, changed)
    )


def save_thread(
    tables: Tables, thread: Thread, changes: dict[str, object], now: datetime
) -> Thread:
    """Create the thread or change it; metadata is merged by key (agent.md Y7, OURS).

    Raises:
        ValueError: a field that only the store itself may set, such as the fence.
    """
    foreign = sorted(set(changes) - _SAVABLE)
    if foreign:
        raise ValueError(f"thread {thread.key} cannot be given {', '.join(foreign)}")
    present = find_thread(tables, thread.key) or thread
    metadata = {**present.metadata, **_mapping(changes.get("metadata"))}
    return change(tables, present, now, **{**changes, "metadata": metadata})


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
