"""Cards: how a suspension looks to people, in its present state; pure."""

from collections.abc import Mapping
from typing import Any

from core.approvals.suspension import Decision, Suspension, SuspensionState
from core.conversation import Button, Card

BUTTONS = (
    Button(label="Approve", action="approve", style="primary"),
    Button(label="Reject", action="reject", style="danger"),
)
_WORDS = {
    SuspensionState.APPROVED: "Approved",
    SuspensionState.REJECTED: "Rejected",
    SuspensionState.ANSWERED: "Answered",
    SuspensionState.EXPIRED: "Expired",
    SuspensionState.CANCELLED: "Stopped",
}


def compose_card(suspension: Suspension) -> Card:
    """Return the card of a suspension.

    A plan whose text nobody could read is shown by its path and without Approve: nobody can
    approve what nobody saw (agent.md P8). Only a waiting card has buttons.
    """
    return Card(
        token=suspension.token,
        title=_title(suspension),
        body=_body(suspension),
        state=suspension.state.value,
        note=compose_note(suspension),
        buttons=_buttons(suspension),
        version=suspension.plan.version if suspension.plan else 1,
    )


def compose_note(suspension: Suspension) -> str | None:
    """Return who decided what, in one line; None while it waits."""
    if suspension.state is SuspensionState.WAITING:
        return None
    word = _WORDS[suspension.state]
    # A stopped run cancels its cards, and nobody decided anything.
    if suspension.decision is None:
        return f"{word}."
    return f"{word} by {_who(suspension.decision)}{_why(suspension.decision)}"


def _who(decision: Decision) -> str:
    return decision.actor_name or decision.actor_id


def _why(decision: Decision) -> str:
    return f": {decision.feedback}" if decision.feedback else "."


def _title(suspension: Suspension) -> str:
    if suspension.plan is not None:
        return suspension.plan.title or suspension.plan.path
    if suspension.kind == "plan":
        return "A plan that could not be read"
    if suspension.kind == "question":
        return "A question for you"
    return f"{suspension.tool_name} waits for an answer"


def _body(suspension: Suspension) -> str:
    if suspension.plan is not None:
        return suspension.plan.body
    if suspension.kind == "question":
        return _question(suspension.payload or {})
    if suspension.kind == "plan":
        path = (suspension.payload or {}).get("path", "")
        return f"`{path}` could not be read, so it cannot be approved. Ask for it once more."
    return f"`{suspension.payload}`"


def _question(payload: Mapping[str, Any]) -> str:
    """Return a question as text: people answer it by writing, wherever they are."""
    lines = [str(payload.get("question", ""))]
    for option in payload.get("options") or ():
        about = option.get("description")
        lines.append(f"- **{option['label']}**{f': {about}' if about else ''}")
    return "\n".join([*lines, "", "_Answer in this thread._"])


def _buttons(suspension: Suspension) -> tuple[Button, ...]:
    if suspension.state is not SuspensionState.WAITING:
        return ()
    # Nobody approves what nobody saw; it may still be rejected.
    if suspension.kind == "plan" and suspension.plan is None:
        return BUTTONS[1:]
    return BUTTONS if suspension.kind in ("plan", "approval") else ()
