"""The API's threads: lists, heads, and pages of history."""

from aiohttp import web

from adapters.console.bodies import ThreadBody
from adapters.console.exchange import Route, read_object, thread_of
from adapters.console.parse import Caller, parse_body, parse_number
from adapters.console.ports import Host, Permit
from adapters.console.render import render_history, render_thread
from core.errors import InvalidInput, NotAllowed
from core.ids import ThreadKey
from core.threads.store import ThreadFilter
from core.threads.thread import HistoryRow

LIST_MAX = 500
PAGE_MAX = 1_000
THREAD = "/api/v1/threads/{resource}/{thread}"


class ThreadsApi:
    """Reads threads from the store; a change of a head asks policy first."""

    def __init__(self, *, host: Host, permit: Permit) -> None:
        self._host = host
        self._permit = permit

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [
            Route(method="GET", path="/api/v1/threads", handler=self.list_threads),
            Route(method="GET", path=THREAD, handler=self.show),
            Route(method="PUT", path=THREAD, handler=self.change),
            Route(method="GET", path=f"{THREAD}/messages", handler=self.history),
        ]

    async def list_threads(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with threads, the most recently used first."""
        wanted = ThreadFilter(
            resource_id=request.query.get("resourceId"),
            agent_id=request.query.get("agentId"),
            limit=parse_number("limit", request.query.get("limit"), default=100, most=LIST_MAX),
        )
        threads = await self._host.store.threads(wanted)
        return web.json_response({"threads": [render_thread(thread) for thread in threads]})

    async def show(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with one thread's head."""
        thread = await self._host.store.thread(thread_of(request))
        return web.json_response(render_thread(thread))

    async def change(self, request: web.Request, caller: Caller) -> web.Response:
        """Make the thread, or change its agent, title or metadata."""
        key = thread_of(request)
        body = parse_body(ThreadBody, await read_object(request))
        if not self._permit(caller.person):
            raise NotAllowed("Policy does not let you change threads here.")
        self._check_agent(body.agent_id)
        # Only what was named changes; null clears a title.
        changes = body.model_dump(exclude_unset=True)
        agent_id = body.agent_id or self._host.default_agent_id
        thread = await self._host.store.save_thread(key, changes, agent_id)
        return web.json_response(render_thread(thread))

    async def history(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with a page of history: after a sequence, or the newest rows with `newest`."""
        key = thread_of(request)
        await self._host.store.thread(key)
        limit = parse_number("limit", request.query.get("limit"), default=100, most=PAGE_MAX)
        after = parse_number("after", request.query.get("after"), default=0, most=10**18)
        rows = await self._page(key, request, after=after, limit=max(1, limit))
        return web.json_response(render_history(rows, after=after, limit=max(1, limit)))

    async def _page(
        self, key: ThreadKey, request: web.Request, *, after: int, limit: int
    ) -> list[HistoryRow]:
        if "newest" in request.query:
            return await self._host.store.newest(key, limit)
        return await self._host.store.history(key, after=after, limit=limit)

    def _check_agent(self, agent_id: str | None) -> None:
        known = [agent.id for agent in self._host.agents()]
        if agent_id is not None and agent_id not in known:
            raise InvalidInput(
                f"There is no agent {agent_id!r}; there are: {', '.join(known)}.",
                fields={"agentId": "unknown agent"},
            )
