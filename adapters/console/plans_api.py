"""The API's plans: what waits for people, and their decisions."""

from typing import get_args

from aiohttp import web

from adapters.console.bodies import DecisionBody
from adapters.console.exchange import Route, admit, ask_of, read_object
from adapters.console.parse import (
    Caller,
    event_key,
    parse_body,
    parse_decision,
    parse_id,
    parse_number,
)
from adapters.console.ports import Host
from adapters.console.render import Json, render_plan
from adapters.console.replies import Replies
from core.approvals.store import SuspensionFilter
from core.approvals.suspension import SuspensionKind, SuspensionState
from core.conversation import InboundDecision
from core.errors import InvalidInput
from core.ports.adapter import Gate

PLANS_MAX = 500
STATES = {"pending": SuspensionState.WAITING, **{str(state): state for state in SuspensionState}}
KINDS: dict[str, SuspensionKind] = {kind: kind for kind in get_args(SuspensionKind)}


class PlansApi:
    """Reads suspensions; a decision goes by the gate and the same decide function as a click."""

    def __init__(self, *, host: Host, gate: Gate) -> None:
        self._host = host
        self._gate = gate
        self._replies = Replies()

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [
            Route(method="GET", path="/api/v1/plans", handler=self.list_plans),
            Route(method="GET", path="/api/v1/plans/{plan}", handler=self.show),
            Route(method="POST", path="/api/v1/plans/{plan}/decision", handler=self.decide),
        ]

    async def list_plans(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with plans, the newest first; `kind=any` adds approvals and questions."""
        query = request.query
        wanted = SuspensionFilter(
            thread_id=query.get("threadId"),
            run_id=query.get("runId"),
            kind=parse_kind(query.get("kind", "plan")),
            state=parse_state(query.get("status")),
            limit=parse_number("limit", query.get("limit"), default=100, most=PLANS_MAX),
        )
        found = await self._host.store.suspensions(wanted)
        return web.json_response({"plans": [render_plan(suspension) for suspension in found]})

    async def show(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with one plan and its text."""
        suspension = await self._host.store.suspension(plan_of(request))
        return web.json_response(render_plan(suspension))

    async def decide(self, request: web.Request, caller: Caller) -> web.Response:
        """Approve or reject a plan; the second to come is told who was first."""
        token = plan_of(request)
        body = parse_body(DecisionBody, await read_object(request))
        # Read first: an unknown plan is 404 before policy is asked.
        suspension = await self._host.store.suspension(token)
        ask = ask_of(request, suspension.key, caller)
        key = event_key(ask, body.id, "decision", token, caller.person.id)
        decision = parse_decision(body, token, ask)
        return web.json_response(await self._replies.once(key, lambda: self._decide(decision)))

    async def _decide(self, decision: InboundDecision) -> Json:
        await admit(self._gate, decision)
        return render_plan(await self._host.store.suspension(decision.token))


def plan_of(request: web.Request) -> str:
    """Return the plan that the path names."""
    return parse_id("planId", request.match_info["plan"])


def parse_kind(text: str) -> SuspensionKind | None:
    """Read a kind of suspension; `any` is None.

    Raises:
        InvalidInput: there is no such kind.
    """
    if text == "any":
        return None
    if text not in KINDS:
        raise InvalidInput(
            f"kind may be: any, {', '.join(KINDS)}.", fields={"kind": "unknown word"}
        )
    return KINDS[text]


def parse_state(text: str | None) -> SuspensionState | None:
    """Read a plan's status in the API's words; None is any.

    Raises:
        InvalidInput: there is no such status.
    """
    if text is not None and text not in STATES:
        raise InvalidInput(
            f"status may be: {', '.join(STATES)}.", fields={"status": "unknown word"}
        )
    return STATES[text] if text else None
