"""The API's ways into a thread: messages, signals, notifications, abort; all by the gate."""

from aiohttp import web
from pydantic_core import to_jsonable_python

from adapters.console.bodies import MessageBody, NotificationBody, SignalBody
from adapters.console.exchange import Route, admit, ask_of, read_body, read_object, thread_of
from adapters.console.parse import (
    Caller,
    event_key,
    parse_body,
    parse_message,
    parse_notification,
    parse_signal,
)
from adapters.console.ports import Host
from adapters.console.render import Json, render_accepted
from adapters.console.replies import Replies
from adapters.console.threads_api import THREAD
from core.conversation import InboundAbort, InboundSignal
from core.ports.adapter import Gate


class SignalsApi:
    """Turns bodies into inbound signals; each answer means that they are stored."""

    def __init__(self, *, host: Host, gate: Gate) -> None:
        self._host = host
        self._gate = gate
        self._replies = Replies()

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [
            Route(method="POST", path=f"{THREAD}/messages", handler=self.message),
            Route(method="POST", path=f"{THREAD}/signals", handler=self.signal),
            Route(method="POST", path=f"{THREAD}/notifications", handler=self.notification),
            Route(method="POST", path=f"{THREAD}/abort", handler=self.abort),
        ]

    async def message(self, request: web.Request, caller: Caller) -> web.Response:
        """Take a message for the agent."""
        ask = ask_of(request, thread_of(request), caller)
        body = parse_body(MessageBody, await read_object(request))
        return await self._take(parse_message(body, ask))

    async def signal(self, request: web.Request, caller: Caller) -> web.Response:
        """Take a signal of any type."""
        ask = ask_of(request, thread_of(request), caller)
        body = parse_body(SignalBody, await read_object(request))
        return await self._take(parse_signal(body, ask))

    async def notification(self, request: web.Request, caller: Caller) -> web.Response:
        """Take an event for the thread's inbox."""
        ask = ask_of(request, thread_of(request), caller)
        body = parse_body(NotificationBody, await read_object(request))
        admission = await admit(self._gate, parse_notification(body, ask))
        result = to_jsonable_python(admission.detail or {}, by_alias=True)
        return web.json_response(result, status=202)

    async def abort(self, request: web.Request, caller: Caller) -> web.Response:
        """End the thread's run, if it has one."""
        key = thread_of(request)
        await read_body(request)
        # Nothing to stop is an answer; no such thread is a mistake.
        await self._host.store.thread(key)
        stop = InboundAbort(
            resource_id=key.resource_id, thread_id=key.thread_id, sender=caller.person
        )
        reply_key = event_key(ask_of(request, key, caller), None, "abort", caller.person.id)
        return web.json_response(await self._replies.once(reply_key, lambda: self._stop(stop)))

    async def _stop(self, stop: InboundAbort) -> Json:
        admission = await admit(self._gate, stop)
        return {"aborted": bool((admission.detail or {}).get("aborted"))}

    async def _take(self, inbound: InboundSignal) -> web.Response:
        admission = await admit(self._gate, inbound)
        return web.json_response(render_accepted(dict(admission.detail or {})), status=202)
