"""Ending: how a run is closed, with every call answered and its people told."""

from datetime import datetime
from typing import Any

from core.approvals.card import compose_card
from core.approvals.suspension import Suspension, SuspensionState
from core.conversation import Reply
from core.errors import Unknown
from core.messages import Message, ToolResultPart
from core.outbox.entry import reply_id
from core.runs.run import LEGAL_MOVES, Call, CallState, Phase, Run, RunStatus
from core.runs.store import Ending
from core.signals.storage import to_row
from core.stores.steps.heads import Fenced, append, committed, waiting_mail
from core.stores.steps.posting import Post, enqueue
from core.stores.tables import Query, Tables
from core.threads.thread import Lane, Thread, ThreadState

UNDONE = {"error": "The run ended before this call was done."}


def finish(tables: Tables, held: Fenced, ending: Ending) -> Thread:
    """End the run, give every open call a result, cancel what waits, tell the people.

    The thread is idle afterwards.
    """
    # An ended run cannot end again: a late writer is stopped here at the latest.
    run = moved(get_run(tables, ending.run_id), ending.status)
    thread, now = held.thread, held.now
    if run.phase is Phase.TOOLS:
        thread = append_results(tables, thread, run, now)
    if run.phase is Phase.INPUT and run.step == 0:
        thread = _take_start(tables, thread, run)
    thread = cancel_waiting(tables, thread, run.run_id, now)
    thread = post_reply(tables, thread, run, now)
    if ending.notice is not None:
        notice = Post(
            entry_id=f"{reply_id(run.run_id, run.turn)}_end",
            payload=ending.notice,
            conversation=run.reply_to,
        )
        thread = enqueue(tables, thread, notice, now)
    tables.runs.put(_closed(run, ending, now))
    return committed(
        tables,
        thread,
        now,
        state=ThreadState.IDLE,
        run_id=None,
        run_agent_id=None,
        abort_run_id=None,
    )


def get_run(tables: Tables, run_id: str) -> Run:
    """Return a run that a step works on.

    Raises:
        Unknown: no such run.
    """
    run = tables.runs.get(run_id)
    if run is None:
        raise Unknown(f"run {run_id} is not in the store")
    return run


def moved(run: Run, status: RunStatus) -> Run:
    """Return the run in its new status.

    Raises:
        ValueError: the move is not in the table of legal moves.
    """
    if status not in LEGAL_MOVES[run.status]:
        raise ValueError(f"run {run.run_id} cannot move from {run.status} to {status}")
    return run.model_copy(update={"status": status})


def step_calls(tables: Tables, run: Run) -> list[Call]:
    """Return the calls of the run's open step, in call order."""
    query = Query(equals={"run_id": run.run_id, "step": run.step}, order=("position",))
    return tables.calls.find(query)


def append_results(tables: Tables, thread: Thread, run: Run, now: datetime) -> Thread:
    """Append one row per call in call order, whatever order they ended in (agent.md T12)."""
    calls = [_settled(tables, call) for call in step_calls(tables, run)]
    return append(tables, thread, [_result_row(call, run, now) for call in calls])


def post_reply(tables: Tables, thread: Thread, run: Run, now: datetime) -> Thread:
    """Put the turn's one reply, its steps' texts in order, into the outbox, if there is text."""
    # Empty steps say nothing; a reply without text would be refused by every platform.
    text = "\n\n".join(part for part in run.texts if part.strip())
    if not text:
        return thread
    post = Post(
        entry_id=reply_id(run.run_id, run.turn),
        payload=Reply(text=text),
        conversation=run.reply_to,
    )
    return enqueue(tables, thread, post, now)


def cancel_waiting(tables: Tables, thread: Thread, run_id: str, now: datetime) -> Thread:
    """Cancel what still waits for people in this run, and bring its cards up to date."""
    waiting = tables.suspensions.find(Query(equals={"run_id": run_id, "state": "waiting"}))
    for suspension in waiting:
        cancelled = suspension.model_copy(update={"state": SuspensionState.CANCELLED})
        tables.suspensions.put(cancelled)
        thread = post_card_edit(tables, thread, cancelled, now)
    return thread


def post_card_edit(tables: Tables, thread: Thread, suspension: Suspension, now: datetime) -> Thread:
    """Put the edit that makes a card show its suspension's present state into the outbox."""
    # No card was posted, for instance since the thread has no conversation.
    original = tables.outbox.get(card_id(suspension.token))
    if original is None:
        return thread
    post = Post(
        entry_id=f"{card_id(suspension.token)}_{suspension.state.value}",
        payload=compose_card(suspension),
        conversation=original.conversation,
        edits=original.entry_id,
    )
    return enqueue(tables, thread, post, now)


def card_id(token: str) -> str:
    """Return the outbox id of a suspension's card."""
    return f"card_{token}"


def _take_start(tables: Tables, thread: Thread, run: Run) -> Thread:
    """Move the signal that started a run, which ends before its first step, to the history.

    Left in the mailbox it would start the next run, which would end in the same way, for ever; and
    what a person stopped would be done after all. The signals behind it stay (signals.md R5, R10).
    """
    waiting = waiting_mail(tables, thread, Lane.PENDING)
    first = next((entry for entry in waiting if entry.agent_id == run.agent_id), None)
    if first is None or first.signal is None:
        return thread
    tables.mail.remove(first.thread_id, first.sequence)
    if not first.signal.transient:
        row = to_row(first.signal, run_id=run.run_id, step=run.step, turn=run.turn)
        thread = append(tables, thread, [row])
    return thread.model_copy(update={"mail": thread.mail - 1})


def _settled(tables: Tables, call: Call) -> Call:
    if call.settled:
        return call
    update = {"state": CallState.INTERRUPTED, "result": UNDONE, "is_error": True}
    undone = call.model_copy(update=update)
    tables.calls.put(undone)
    return undone


def _result_row(call: Call, run: Run, now: datetime) -> Message:
    part = ToolResultPart(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        result=call.result,
        is_error=call.is_error,
    )
    return Message(
        id=f"{run.run_id}:{call.tool_call_id}",
        role="tool",
        type="tool-result",
        content=(part,),
        created_at=now,
        run_id=run.run_id,
        step=run.step,
        turn=run.turn,
    )


def _closed(run: Run, ending: Ending, now: datetime) -> Run:
    changes: dict[str, Any] = {
        "phase": Phase.INPUT,
        "texts": (),
        "finish_reason": ending.finish_reason,
        "error": ending.error,
        "error_id": ending.error_id,
        "updated_at": now,
    }
    return run.model_copy(update=changes)
