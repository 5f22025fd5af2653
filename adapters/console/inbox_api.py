"""The API's inbox: the notifications of a thread, and the marks people put on them."""

from enum import StrEnum
from typing import TypeVar

from aiohttp import web

from adapters.console.exchange import Route, read_body, thread_of
from adapters.console.parse import Caller, parse_id, parse_number
from adapters.console.ports import Host, Permit
from adapters.console.render import render_notification
from adapters.console.threads_api import THREAD
from core.errors import InvalidInput, NotAllowed
from core.notifications.notification import NotificationStatus, Priority
from core.notifications.store import InboxFilter

E = TypeVar("E", bound=StrEnum)
INBOX_MAX = 500
MARKS = {
    "seen": NotificationStatus.SEEN,
    "dismiss": NotificationStatus.DISMISSED,
    "archive": NotificationStatus.ARCHIVED,
}


class InboxApi:
    """Reads and marks inbox rows; a mark asks policy first."""

    def __init__(self, *, host: Host, permit: Permit) -> None:
        self._host = host
        self._permit = permit

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        mark = f"{THREAD}/inbox/{{notification}}/{{mark:seen|dismiss|archive}}"
        return [
            Route(method="GET", path=f"{THREAD}/inbox", handler=self.list_rows),
            Route(method="POST", path=mark, handler=self.mark),
        ]

    async def list_rows(self, request: web.Request, _: Caller) -> web.Response:
        """Answer with the rows of one inbox, most recently updated first."""
        key = thread_of(request)
        query = request.query
        wanted = InboxFilter(
            statuses=parse_choices("status", query.get("status"), NotificationStatus),
            priorities=parse_choices("priority", query.get("priority"), Priority),
            source=query.get("source"),
            search=query.get("search"),
            limit=parse_number("limit", query.get("limit"), default=100, most=INBOX_MAX),
        )
        await self._host.store.thread(key)
        rows = await self._host.store.inbox(key, wanted)
        return web.json_response({"notifications": [render_notification(row) for row in rows]})

    async def mark(self, request: web.Request, caller: Caller) -> web.Response:
        """Mark one row seen, dismissed or archived."""
        key = thread_of(request)
        row_id = parse_id("id", request.match_info["notification"])
        await read_body(request)
        if not self._permit(caller.person):
            raise NotAllowed("Policy does not let you change this inbox.")
        await self._host.store.notification(key, row_id)
        await self._host.store.mark(key, (row_id,), MARKS[request.match_info["mark"]])
        # Read again: a row that already stood there is not among the changed ones.
        row = await self._host.store.notification(key, row_id)
        return web.json_response({"notification": render_notification(row)})


def parse_choices(name: str, text: str | None, choices: type[E]) -> tuple[E, ...]:
    """Read a comma-separated list of words of an enum; None is any.

    Raises:
        InvalidInput: a word is not one of them.
    """
    if not text:
        return ()
    try:
        return tuple(choices(word.strip()) for word in text.split(","))
    except ValueError as problem:
        known = ", ".join(choices)
        raise InvalidInput(f"{name} may be: {known}.", fields={name: "unknown word"}) from problem
