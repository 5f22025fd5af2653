"""Rendering: rows of the store as the API's JSON, in camelCase; pure."""

from collections.abc import Sequence
from typing import Any

from adapters.console.ports import AgentInfo
from core.approvals.suspension import Decision, Suspension, SuspensionState
from core.notifications.notification import Notification
from core.runs.run import Call, Run
from core.threads.thread import HistoryRow, Thread

Json = dict[str, Any]
# Who runs a thread, and how often it was tried, is nobody's business outside.
LEASE_FIELDS = {"owner", "epoch", "lease_until", "attempts", "not_before", "abort_run_id"}
ENVELOPE = ("id", "type", "tagName", "attributes", "metadata")


def render_thread(thread: Thread) -> Json:
    """Return a thread as the API shows it; who holds its lease stays ours."""
    shown = thread.model_dump(mode="json", by_alias=True, exclude=LEASE_FIELDS)
    return {"id": thread.thread_id, **shown}


def render_row(row: HistoryRow) -> Json:
    """Return a row of history: its parts, and its signal's envelope (signals.md C7)."""
    message = row.message
    # The envelope is stored under metadata; outside, each finds it under its own name.
    envelope = message.metadata.get("signal") if message.role == "signal" else None
    shown = message.model_dump(mode="json", by_alias=True, exclude={"metadata"}, exclude_none=True)
    return {
        **shown,
        "runId": message.run_id,
        "sequence": row.sequence,
        "signal": {name: envelope.get(name) for name in ENVELOPE} if envelope else None,
        "metadata": message.metadata if envelope is None else envelope.get("metadata") or {},
    }


def render_history(rows: Sequence[HistoryRow], *, after: int, limit: int) -> Json:
    """Return a page of history; `next` is the cursor of the following page, None at the end."""
    last = rows[-1].sequence if rows else after
    return {
        "messages": [render_row(row) for row in rows],
        "last": last,
        # A full page may be the last one: then the next is empty, and ends it.
        "next": last if len(rows) == limit else None,
    }


def render_run(run: Run) -> Json:
    """Return a run: where it stands, what it cost, and why it ended."""
    shown = run.model_dump(mode="json", by_alias=True, exclude={"options", "texts", "reply_to"})
    usage = {"inputTokens": run.input_tokens, "outputTokens": run.output_tokens}
    return {"id": run.run_id, **shown, "usage": usage}


def render_call(call: Call) -> Json:
    """Return one tool call of a run."""
    return call.model_dump(mode="json", by_alias=True, exclude={"thread_id", "raw_arguments"})


def render_plan(suspension: Suspension) -> Json:
    """Return a suspension as a plan: its text, its state in the API's words, and who decided."""
    plan = suspension.plan
    # Inside a suspension is waiting, for people a plan is pending (gateway.md).
    pending = suspension.state is SuspensionState.WAITING
    shown = suspension.model_dump(
        mode="json",
        by_alias=True,
        exclude={"plan", "decision", "conversation", "metadata", "state"},
    )
    return {
        "id": suspension.token,
        **shown,
        "status": "pending" if pending else suspension.state.value,
        "title": plan.title if plan else suspension.tool_name,
        "body": plan.body if plan else "",
        "document": plan.content if plan else "",
        "path": plan.path if plan else None,
        "version": plan.version if plan else 1,
        "contentHash": plan.content_hash if plan else None,
        "decision": render_decision(suspension.decision),
    }


def render_decision(decision: Decision | None) -> Json | None:
    """Return who decided what and when, or None while nobody has."""
    if decision is None:
        return None
    return {
        "by": {"id": decision.actor_id, "name": decision.actor_name},
        "action": decision.action,
        "feedback": decision.feedback,
        "at": decision.decided_at.isoformat(),
    }


def render_notification(row: Notification) -> Json:
    """Return an inbox row."""
    return row.model_dump(mode="json", by_alias=True, exclude={"decided"})


def render_agent(agent: AgentInfo) -> Json:
    """Return what the console shows of an agent."""
    return {
        "id": agent.id,
        "name": agent.name,
        "description": agent.description,
        "tools": list(agent.tools),
        "model": agent.model,
    }


def render_accepted(detail: Json) -> Json:
    """Return where a signal went; `runId` only where there is one (signals.md S10)."""
    accepted = {"action": detail.get("action", "deliver")}
    if detail.get("runId") is not None:
        accepted["runId"] = detail["runId"]
    return {"accepted": accepted, "signal": {"id": detail.get("signalId")}}
