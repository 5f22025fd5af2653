"""Deciding: the one step that answers a suspension, and what ends one without an answer."""

from datetime import datetime

from core.approvals.card import compose_note
from core.approvals.store import SuspensionFilter
from core.approvals.suspension import Decision, Suspension, SuspensionState
from core.errors import AlreadyDecided, Unknown
from core.ids import ThreadKey
from core.runs.run import CallState, RunStatus
from core.runs.store import Ending
from core.stores.steps.ending import finish, post_card_edit
from core.stores.steps.heads import Fenced, change, find_thread, get_thread
from core.stores.tables import Cell, Query, Tables
from core.threads.store import Stopped
from core.threads.thread import Lane, Mail, Thread, ThreadState

_STATES = {
    "approved": SuspensionState.APPROVED,
    "rejected": SuspensionState.REJECTED,
    "answered": SuspensionState.ANSWERED,
    "expired": SuspensionState.EXPIRED,
}
EXPIRED_FEEDBACK = "Nobody decided in time."
_EXPIRED_DATA: dict[str, object] = {
    "plan": {"action": "rejected"},
    "question": "Nobody answered in time.",
}
"""What a tool gets whose suspension ran out, in the shape that it reads."""


def get_suspension(tables: Tables, token: str) -> Suspension:
    """Return a suspension.

    Raises:
        Unknown: no such token.
    """
    suspension = tables.suspensions.get(token)
    if suspension is None:
        raise Unknown(f"nothing waits under {token}; it may be from another store")
    return suspension


def suspensions(tables: Tables, wanted: SuspensionFilter) -> list[Suspension]:
    """Return suspensions, the newest first."""
    named: dict[str, Cell] = {
        "thread_id": wanted.thread_id,
        "run_id": wanted.run_id,
        "agent_id": wanted.agent_id,
        "kind": wanted.kind,
        "state": wanted.state.value if wanted.state else None,
    }
    equals = {name: value for name, value in named.items() if value is not None}
    return tables.suspensions.find(Query(equals=equals, order=("-created_at",), limit=wanted.limit))


def resolve(tables: Tables, token: str, decision: Decision, now: datetime) -> Suspension:
    """Decide once: only a waiting suspension within its time is decided, whoever comes first.

    Raises:
        Unknown: no such token.
        AlreadyDecided: too late; says who decided, when and what.
    """
    suspension = get_suspension(tables, token)
    # Judged by the store's clock, inside the step: a click and the expiry cannot both win.
    if suspension.state is not SuspensionState.WAITING or suspension.expires_at <= now:
        raise _too_late(suspension)
    return _decide(tables, suspension, decision, now)


def expire(tables: Tables, limit: int, now: datetime) -> list[Suspension]:
    """Expire what waited too long; the model hears it as a rejection."""
    return [
        _decide(tables, suspension, _expiry(suspension, now), now)
        for suspension in overdue(tables, limit, now)
    ]


def overdue(tables: Tables, limit: int, now: datetime) -> list[Suspension]:
    """Return what waits although its time is over, the oldest first."""
    return tables.suspensions.find(
        Query(
            equals={"state": "waiting"},
            at_most={"expires_at": now},
            order=("expires_at",),
            limit=limit,
        )
    )


def request_abort(tables: Tables, key: ThreadKey, now: datetime) -> Stopped | None:
    """Ask for the end of the thread's run; a paused one ends here."""
    thread = find_thread(tables, key)
    if thread is None:
        raise Unknown(f"thread {key.thread_id} of resource {key.resource_id} is not in the store")
    if not thread.active or thread.run_id is None:
        return None
    # Its owner ends it, wherever it runs; here only the wish is kept.
    if thread.state is not ThreadState.SUSPENDED:
        change(tables, thread, now, abort_run_id=thread.run_id)
        return Stopped(run_id=thread.run_id, ended=False)
    ending = Ending(run_id=thread.run_id, status=RunStatus.ABORTED, finish_reason="aborted")
    finish(tables, Fenced(thread=thread, now=now), ending)
    return Stopped(run_id=ending.run_id, ended=True)


def _decide(
    tables: Tables, suspension: Suspension, decision: Decision, now: datetime
) -> Suspension:
    decided = suspension.model_copy(
        update={"state": _STATES[decision.action], "decision": decision}
    )
    tables.suspensions.put(decided)
    # Decision, resume data, card and wake-up stand or fall together.
    _hand_over(tables, decided, decision)
    thread = post_card_edit(tables, get_thread(tables, suspension.key), decided, now)
    _wake(tables, thread, decided, now)
    return decided


def _hand_over(tables: Tables, suspension: Suspension, decision: Decision) -> None:
    call = tables.calls.get(suspension.run_id, suspension.tool_call_id)
    if call is None:
        return
    update = {
        "state": CallState.RESUMED,
        "resume_data": decision.data,
        "resumed": True,
        "ends_run": decision.ends_run,
    }
    tables.calls.put(call.model_copy(update=update))


def _wake(tables: Tables, thread: Thread, suspension: Suspension, now: datetime) -> None:
    # Ahead of all other mail by its lane, whatever its number.
    sequence = thread.sequence + 1
    tables.mail.put(
        Mail(
            thread_id=thread.thread_id,
            sequence=sequence,
            lane=Lane.RESUME,
            agent_id=suspension.agent_id,
            run_id=suspension.run_id,
            token=suspension.token,
        )
    )
    change(tables, thread, now, sequence=sequence, resumes=thread.resumes + 1)


def _expiry(suspension: Suspension, now: datetime) -> Decision:
    return Decision(
        actor_id="interlock:expiry",
        actor_name="the clock",
        action="expired",
        feedback=EXPIRED_FEEDBACK,
        data=_EXPIRED_DATA.get(suspension.kind, {"approved": False}),
        decided_at=now,
        ends_run=suspension.kind == "plan",
        content_hash=suspension.plan.content_hash if suspension.plan else None,
    )


def _too_late(suspension: Suspension) -> AlreadyDecided:
    decision = suspension.decision
    if decision is not None:
        return AlreadyDecided(
            f"This was decided before. {compose_note(suspension)}",
            by=decision.actor_name or decision.actor_id,
            at=decision.decided_at,
            outcome=suspension.state.value,
        )
    if suspension.state is SuspensionState.WAITING:
        return AlreadyDecided(
            "Nobody decided this in time: it has expired.",
            by="nobody",
            at=suspension.expires_at,
            outcome=SuspensionState.EXPIRED.value,
        )
    return AlreadyDecided(
        "The run was stopped before anybody decided this.",
        by="nobody",
        at=None,
        outcome=suspension.state.value,
    )
