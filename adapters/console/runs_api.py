"""The API's runs: what they did, and answers to the calls that wait."""

from aiohttp import web

from adapters.console.bodies import ResumeBody
from adapters.console.exchange import Route, admit, ask_of, read_object
from adapters.console.inbox_api import parse_choices
from adapters.console.parse import (
    Caller,
    event_key,
    parse_body,
    parse_id,
    parse_number,
    parse_resume,
)
from adapters.console.ports import Host
from adapters.console.render import Json, render_call, render_run
from adapters.console.replies import Replies
from core.conversation import InboundResume
from core.ports.adapter import Gate
from core.runs.run import RunStatus
from core.runs.store import RunFilter

RUNS_MAX = 500


class RunsApi:
    """Reads runs; a resume goes by the gate and the same decide function as a click."""

    def __init__(self, *, host: Host, gate: Gate) -> None:
        self._host = host
        self._gate = gate
        self._replies = Replies()

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [
            Route(method="GET", path="/api/v1/runs", handler=self.list_runs),
            Route(method="GET", path="/api/v1/runs/{run}", handler=self.show),
            Route(method="POST", path="/api/v1/runs/{run}/resume", handler=self.resume),
        ]

    async def list_runs(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with runs, the newest first."""
        statuses = parse_choices("status", request.query.get("status"), RunStatus)
        limit = parse_number("limit", request.query.get("limit"), default=100, most=RUNS_MAX)
        wanted = RunFilter(
            thread_id=request.query.get("threadId"),
            agent_id=request.query.get("agentId"),
            status=statuses[0] if statuses else None,
            limit=limit,
        )
        runs = await self._host.store.runs(wanted)
        return web.json_response({"runs": [render_run(run) for run in runs]})

    async def show(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with one run and its tool calls."""
        run_id = parse_id("runId", request.match_info["run"])
        run = await self._host.store.run(run_id)
        calls = await self._host.store.calls(run_id)
        return web.json_response(
            {**render_run(run), "calls": [render_call(call) for call in calls]}
        )

    async def resume(self, request: web.Request, caller: Caller) -> web.Response:
        """Answer a paused call."""
        run_id = parse_id("runId", request.match_info["run"])
        body = parse_body(ResumeBody, await read_object(request))
        # Read first: an unknown run is 404 before policy is asked.
        run = await self._host.store.run(run_id)
        ask = ask_of(request, run.key, caller)
        key = event_key(ask, body.id, "resume", run_id, caller.person.id)
        inbound = parse_resume(body, run_id, caller)
        return web.json_response(await self._replies.once(key, lambda: self._resume(inbound)))

    async def _resume(self, inbound: InboundResume) -> Json:
        admission = await admit(self._gate, inbound)
        return {"resumed": True, "runId": inbound.run_id, **(admission.detail or {})}
