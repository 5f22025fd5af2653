"""Running: what an owner does next, and the committed steps of a run."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.approvals.card import compose_card
from core.approvals.suspension import Suspension
from core.runs.run import Call, CallState, Phase, Run, RunStatus
from core.runs.store import Answer, Drained, Ending, Outcome, Step, Work
from core.signals.storage import to_row
from core.stores.steps.ending import (
    append_results,
    card_id,
    finish,
    get_run,
    moved,
    post_reply,
    step_calls,
)
from core.stores.steps.heads import Fenced, append, committed, fenced, waiting_mail
from core.stores.steps.posting import Post, enqueue
from core.stores.tables import Query, Tables
from core.threads.lease import Lease
from core.threads.thread import EPOCH, Lane, Mail, Thread, ThreadState

if TYPE_CHECKING:
    from core.conversation import Conversation
    from core.messages import Message
    from core.signals.signal import Signal


def next_run(tables: Tables, lease: Lease, fresh_run_id: str, now: datetime) -> Work | None:
    """Say what to do on this thread, and mark it begun.

    A decision, a run that a crash left, mail, or nothing.
    """
    held = fenced(tables, lease, now)
    # Decisions come before mail: people have waited longest for them.
    if held.thread.resumes:
        held = _take_resumes(tables, held)
    if held.thread.state is ThreadState.RUNNING and held.thread.run_id is not None:
        run = get_run(tables, held.thread.run_id)
        return Work(run=run, calls=tuple(_open_calls(tables, run)))
    if held.thread.state is ThreadState.SUSPENDED:
        return None
    first = _first_mail(tables, held.thread)
    if first is None:
        # The count is what wakes us: one that is wrong would wake us for ever.
        tables.threads.put(held.thread.model_copy(update={"mail": 0}))
        return None
    return _start(tables, held, first, fresh_run_id)


def mail(tables: Tables, lease: Lease, run_id: str, now: datetime) -> list[Mail]:
    """Return the signals that wait for this run's agent, in order."""
    held = fenced(tables, lease, now)
    run = get_run(tables, run_id)
    waiting = waiting_mail(tables, held.thread, Lane.PENDING)
    return [entry for entry in waiting if entry.agent_id == run.agent_id]


def commit_answer(tables: Tables, lease: Lease, answer: Answer, now: datetime) -> Run:
    """Store the message and its calls.

    An answer without calls closes the step and ends the turn.
    """
    held = fenced(tables, lease, now)
    run = get_run(tables, answer.run_id)
    thread = append(tables, held.thread, [answer.message])
    for call in answer.calls:
        tables.calls.put(call)
    run = run.model_copy(
        update={
            "phase": Phase.TOOLS if answer.calls else Phase.INPUT,
            "texts": (*run.texts, answer.text) if answer.text else run.texts,
            "passing": (),
            "steps_left": run.steps_left - 1,
            "input_tokens": run.input_tokens + answer.input_tokens,
            "output_tokens": run.output_tokens + answer.output_tokens,
            "updated_at": now,
        }
    )
    if not answer.calls:
        thread, run = _end_turn(tables, thread, run, now)
    tables.runs.put(run)
    committed(tables, thread, now)
    return run


def settle_call(tables: Tables, lease: Lease, outcome: Outcome, now: datetime) -> Call:
    """Store one call's outcome, with the suspension or the documents that came of it."""
    held = fenced(tables, lease, now)
    call = tables.calls.get(outcome.run_id, outcome.tool_call_id)
    if call is None:
        raise ValueError(f"call {outcome.tool_call_id} of run {outcome.run_id} has no intent")
    settled = call.model_copy(
        update={
            "state": outcome.state,
            "result": outcome.result,
            "is_error": outcome.is_error,
        }
    )
    tables.calls.put(settled)
    if outcome.suspension is not None:
        tables.suspensions.put(_versioned(tables, outcome.suspension))
    for document in outcome.documents:
        tables.documents.put(document)
    committed(tables, held.thread, now)
    return settled


def close_step(tables: Tables, lease: Lease, step: Step, now: datetime) -> Run:
    """Close the step and go on, or pause.

    Does nothing to the step while a decided call has yet to be entered again.
    """
    held = fenced(tables, lease, now)
    run = get_run(tables, step.run_id)
    calls = step_calls(tables, run) if run.phase is Phase.TOOLS else []
    if any(call.state in (CallState.INTENT, CallState.RESUMED) for call in calls):
        return run
    if any(call.state is CallState.SUSPENDED for call in calls):
        return _pause(tables, held, run)
    return _advance(tables, held, run, step)


def end_run(tables: Tables, lease: Lease, ending: Ending, now: datetime) -> Run:
    """End the run and free its thread."""
    finish(tables, fenced(tables, lease, now), ending)
    return get_run(tables, ending.run_id)


def abort_requested(tables: Tables, lease: Lease, run_id: str, now: datetime) -> bool:
    """Say whether somebody asked for this run's end."""
    return fenced(tables, lease, now).thread.abort_run_id == run_id


def _versioned(tables: Tables, suspension: Suspension) -> Suspension:
    """Number a plan: submitting the same path again makes the next version (agent.md P11)."""
    plan = suspension.plan
    if plan is None:
        return suspension
    query = Query(equals={"thread_id": suspension.thread_id, "kind": "plan"})
    earlier = [one.plan for one in tables.suspensions.find(query) if one.plan is not None]
    same = [one.version for one in earlier if one.path == plan.path]
    numbered = plan.model_copy(update={"version": max(same, default=0) + 1})
    return suspension.model_copy(update={"plan": numbered})


def _take_resumes(tables: Tables, held: Fenced) -> Fenced:
    for entry in waiting_mail(tables, held.thread, Lane.RESUME):
        tables.mail.remove(entry.thread_id, entry.sequence)
    changes: dict[str, Any] = {"resumes": 0}
    if held.thread.run_id is not None and held.thread.state is ThreadState.SUSPENDED:
        run = get_run(tables, held.thread.run_id)
        if any(call.state is CallState.RESUMED for call in step_calls(tables, run)):
            tables.runs.put(moved(run, RunStatus.RUNNING))
            changes["state"] = ThreadState.RUNNING
    thread = held.thread.model_copy(update=changes)
    tables.threads.put(thread)
    return Fenced(thread=thread, now=held.now)


def _open_calls(tables: Tables, run: Run) -> list[Call]:
    return step_calls(tables, run) if run.phase is Phase.TOOLS else []


def _first_mail(tables: Tables, thread: Thread) -> Mail | None:
    for lane in (Lane.PENDING, Lane.QUEUED):
        found = waiting_mail(tables, thread, lane, limit=1)
        if found:
            return found[0]
    return None


def _start(tables: Tables, held: Fenced, first: Mail, fresh_run_id: str) -> Work:
    run = Run(
        run_id=_promised(tables, held.thread, first) or fresh_run_id,
        thread_id=held.thread.thread_id,
        resource_id=held.thread.resource_id,
        agent_id=first.agent_id,
        options=first.options or _earlier_options(tables, first),
        reply_to=first.reply_to,
        created_at=held.now,
        updated_at=held.now,
    )
    tables.runs.put(run)
    if first.lane is Lane.QUEUED:
        tables.mail.put(first.model_copy(update={"lane": Lane.PENDING}))
    # An abort asked before the start counts for whichever run begins: the person wants quiet.
    asked = held.thread.abort_run_id is not None
    tables.threads.put(
        held.thread.model_copy(
            update={
                "state": ThreadState.RUNNING,
                "run_id": run.run_id,
                "run_agent_id": run.agent_id,
                "abort_run_id": run.run_id if asked else None,
            }
        )
    )
    return Work(run=run)


def _earlier_options(tables: Tables, first: Mail) -> dict[str, Any]:
    """Return the options of the run that a message was meant for and came too late for (R6)."""
    meant = tables.runs.get(first.run_id)
    return {} if meant is None or meant.agent_id != first.agent_id else meant.options


def _promised(tables: Tables, thread: Thread, first: Mail) -> str | None:
    """Return the id that was promised for this start, None where it has been used up (R6)."""
    reserved = thread.run_agent_id == first.agent_id and thread.state is ThreadState.RESERVED
    # Mail that an earlier run left behind may stand before the signal that was promised this id.
    for run_id in (thread.run_id if reserved else None, first.run_id):
        if run_id is not None and tables.runs.get(run_id) is None:
            return run_id
    return None


def _end_turn(tables: Tables, thread: Thread, run: Run, now: datetime) -> tuple[Thread, Run]:
    thread = post_reply(tables, thread, run, now)
    return thread, run.model_copy(update={"texts": (), "turn": run.turn + 1})


def _pause(tables: Tables, held: Fenced, run: Run) -> Run:
    waiting = tables.suspensions.find(
        Query(equals={"run_id": run.run_id, "state": "waiting"}, order=("created_at",))
    )
    thread = held.thread
    for suspension in waiting:
        card = Post(
            entry_id=card_id(suspension.token),
            payload=compose_card(suspension),
            conversation=run.reply_to,
            expiry=suspension.expires_at - held.now,
        )
        thread = enqueue(tables, thread, card, held.now)
    paused = moved(run, RunStatus.SUSPENDED).model_copy(update={"updated_at": held.now})
    tables.runs.put(paused)
    committed(
        tables,
        thread,
        held.now,
        state=ThreadState.SUSPENDED,
        owner=None,
        lease_until=EPOCH,
    )
    return paused


def _advance(tables: Tables, held: Fenced, run: Run, step: Step) -> Run:
    thread = held.thread
    if run.phase is Phase.TOOLS:
        thread = append_results(tables, thread, run, held.now)
    run = run.model_copy(
        update={
            "phase": Phase.MODEL,
            "step": run.step + 1,
            "steps_left": step.fresh_allowance or run.steps_left,
            "updated_at": held.now,
        }
    )
    thread, run = _take_mail(tables, thread, run, step.drained)
    tables.runs.put(run)
    committed(tables, thread, held.now)
    return run


def _take_mail(
    tables: Tables, thread: Thread, run: Run, drained: tuple[Drained, ...]
) -> tuple[Thread, Run]:
    rows: list[Message] = []
    passing: list[Signal] = []
    answers_to: Conversation | None = None
    for item in drained:
        entry = tables.mail.get(thread.thread_id, item.sequence)
        if entry is None:
            continue
        tables.mail.remove(thread.thread_id, item.sequence)
        if item.signal.transient:
            # Kept with the run until its model call is answered: a crash must not lose it.
            passing.append(item.signal)
        else:
            rows.append(to_row(item.signal, run_id=run.run_id, step=run.step, turn=run.turn))
        if item.signal.type == "user":
            answers_to = entry.reply_to or answers_to
    thread = append(tables, thread, rows)
    thread = thread.model_copy(update={"mail": thread.mail - len(rows) - len(passing)})
    changes = {"reply_to": answers_to or run.reply_to, "passing": tuple(passing)}
    return thread, run.model_copy(update=changes)
