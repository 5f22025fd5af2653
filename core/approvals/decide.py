"""Deciding: who may answer a suspension, and the decision that is stored for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from core.approvals.ask_user import read_answer
from core.approvals.store import ApprovalStore, SuspensionFilter
from core.approvals.submit_plan import read_decision
from core.approvals.suspension import Decision, Suspension, SuspensionState
from core.clock import Clock
from core.conversation import Person
from core.errors import InvalidInput, NotAllowed, NotSuspended

log = structlog.get_logger(__name__)
MayDecide = Callable[[Person, Suspension], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """An answer on its way: to which suspension, by whom, with what data.

    `ends_run`: a rejection without a reason ends the run there (agent.md M4).
    """

    suspension: Suspension
    actor: Person
    data: Any
    ends_run: bool = False
    event_key: str | None = None


class Decider:
    """Answers suspensions: permission first, then one compare-and-set, then the thread is woken."""

    def __init__(
        self,
        *,
        store: ApprovalStore,
        clock: Clock,
        may_decide: MayDecide,
        decided: Callable[[Suspension], None],
    ) -> None:
        """Keep the rule of who may, and `decided`, called once after each stored decision."""
        self._store = store
        self._clock = clock
        self._may_decide = may_decide
        self._decided = decided

    async def decide(
        self, token: str, actor: Person, action: str, feedback: str | None
    ) -> Suspension:
        """Approve or reject, as a button does.

        Raises:
            NotAllowed: this actor may not; the attempt is logged.
            AlreadyDecided: somebody was first; says who and when.
            Unknown: no such token.
        """
        suspension = await self._store.suspension(token)
        reason = (feedback or "").strip() or None
        # An empty box is no reason: the run then ends instead of asking the model once more.
        data: dict[str, Any] = {"action": action, "feedback": reason}
        ends_run = action == "rejected" and reason is None
        return await self.answer(
            Answering(suspension=suspension, actor=actor, data=data, ends_run=ends_run)
        )

    async def answer(self, answering: Answering) -> Suspension:
        """Answer a suspension with resume data, from whichever way it came.

        Raises:
            NotAllowed: this actor may not.
            InvalidInput: the data does not fit; the pause is kept (agent.md 4.7).
            AlreadyDecided: somebody was first.
        """
        suspension = answering.suspension
        # Permission comes first: who may not decide does not even learn whether it came late.
        if not self._may_decide(answering.actor, suspension):
            log.info("decision.refused", token=suspension.token, actor=answering.actor.id)
            raise NotAllowed(
                f"{answering.actor.name or answering.actor.id} may not decide this; "
                "ask one of its approvers"
            )
        decision = _decision(answering, self._clock)
        resolved = await self._store.resolve(suspension.token, decision)
        log.info(
            "decision.made",
            token=suspension.token,
            actor=answering.actor.id,
            state=resolved.state.value,
        )
        self._decided(resolved)
        return resolved

    async def waiting(self, run_id: str, tool_call_id: str | None) -> Suspension:
        """Find what a resume means.

        The call it names, else the only one that waits (agent.md R8, R9).

        Raises:
            NotSuspended: the call does not wait, nothing waits, or several do and none was named.
        """
        found = await self._store.suspensions(
            SuspensionFilter(run_id=run_id, state=SuspensionState.WAITING)
        )
        # A stale id must never act on another call of the run that waits by now (agent.md R22).
        if tool_call_id is not None:
            found = [item for item in found if item.tool_call_id == tool_call_id]
        if len(found) == 1:
            return found[0]
        if not found:
            what = (
                f"call {tool_call_id} of run {run_id}"
                if tool_call_id is not None
                else f"run {run_id}"
            )
            raise NotSuspended(f"{what} does not wait for an answer")
        calls = ", ".join(item.tool_call_id for item in found)
        raise NotSuspended(f"several calls of run {run_id} wait: name one of {calls}")


def _decision(answering: Answering, clock: Clock) -> Decision:
    suspension = answering.suspension
    action, feedback, data = _read(suspension, answering.data)
    return Decision(
        actor_id=answering.actor.id,
        actor_name=answering.actor.name,
        action=action,
        feedback=feedback,
        data=data,
        decided_at=clock.now(),
        ends_run=answering.ends_run,
        content_hash=suspension.plan.content_hash if suspension.plan else None,
        event_key=answering.event_key,
    )


def _read(suspension: Suspension, data: Any) -> tuple[str, str | None, Any]:
    if suspension.kind == "question":
        # Read on trial, so that an answer of the wrong shape does not burn the pause.
        read_answer(data)
    if suspension.kind != "plan":
        return "answered", None, data
    decision = read_decision(data)
    plan = suspension.plan
    if decision.action == "approved" and plan is None and decision.plan is None:
        raise InvalidInput(
            "this plan's text could not be read, so nobody has seen it: it cannot be approved"
        )
    # The plan is echoed as it is stored, not as the caller sent it: that is what people saw.
    echoed = decision.model_copy(
        update={
            "path": plan.path if plan else decision.path,
            "title": plan.title if plan else decision.title,
            "plan": plan.body if plan else decision.plan,
        }
    )
    return decision.action, decision.feedback, echoed.model_dump()
