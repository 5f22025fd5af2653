"""The console adapter: the page and the HTTP API on the gateway's port."""

from collections.abc import Mapping, Sequence

from aiohttp import web

from adapters.console.errors import Refused
from adapters.console.events import Events
from adapters.console.exchange import Answer, Route, authenticated, secure
from adapters.console.inbox_api import InboxApi
from adapters.console.page import Page
from adapters.console.parse import Caller
from adapters.console.plans_api import PlansApi
from adapters.console.ports import Host, Permit
from adapters.console.runs_api import RunsApi
from adapters.console.samples import handlers
from adapters.console.security import Door
from adapters.console.session_api import SessionApi
from adapters.console.sessions import People, Sessions
from adapters.console.settings import ConsoleSettings
from adapters.console.signals_api import SignalsApi
from adapters.console.threads_api import ThreadsApi
from core.conversation import Receipt
from core.ports.adapter import Delivery, Gate, Handler


class ConsoleAdapter:
    """Brings in what people type and programs post; what goes out, they read and stream."""

    platform = "console"

    def __init__(
        self, settings: ConsoleSettings, *, host: Host, gate: Gate, permit: Permit
    ) -> None:
        sessions = Sessions(clock=host.clock, first=settings.people[0])
        self._people = People(settings.people)
        self._door = Door(settings, sessions=sessions, people=self._people)
        self._page = Page(door=self._door)
        self._events = Events(host=host)
        self._table: list[Route] = [
            *ThreadsApi(host=host, permit=permit).routes(),
            *SignalsApi(host=host, gate=gate).routes(),
            *self._events.routes(),
            *InboxApi(host=host, permit=permit).routes(),
            *RunsApi(host=host, gate=gate).routes(),
            *PlansApi(host=host, gate=gate).routes(),
            *SessionApi(
                settings, host=host, door=self._door, sessions=sessions, people=self._people
            ).routes(),
        ]

    def routes(self) -> list[web.RouteDef]:
        """Return every route of the console, each behind its door."""
        return [
            *(self._public(*line) for line in self._shell()),
            *(self._private(route) for route in self._table),
            # aiohttp takes the most exact path first, so this gets what no route above wanted.
            self._private(Route(method="*", path="/api{rest:(/.*)?}", handler=_not_found)),
        ]

    def handlers(self) -> list[Handler]:
        """Return one sample of each kind of ingress, as a stranger would send it."""
        return handlers()

    async def send(self, delivery: Delivery) -> Receipt:
        """Count it as sent: the row is in the history and the stream that people look at."""
        return Receipt(message_id=delivery.entry_id)

    async def find(self, delivery: Delivery) -> Receipt | None:
        """Return the same receipt: nothing here can be half sent."""
        return Receipt(message_id=delivery.entry_id)

    async def names(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the names of the people known at this console."""
        found = [self._people.find(person_id) for person_id in ids]
        return {person.id: person.name for person in found if person and person.name}

    async def aclose(self) -> None:
        """End the open event streams, so that the server need not wait for their readers."""
        self._events.close()

    def _shell(self) -> list[tuple[str, str, Answer]]:
        return [
            ("GET", "/", self._page.index),
            ("GET", "/login", self._page.login_form),
            ("POST", "/login", self._page.log_in),
            ("GET", "/static/{name}", self._page.static),
        ]

    def _public(self, method: str, path: str, answer: Answer) -> web.RouteDef:
        return web.route(method, path, secure(self._door, answer))

    def _private(self, route: Route) -> web.RouteDef:
        answer = authenticated(self._door, route.handler)
        return web.route(route.method, route.path, secure(self._door, answer))


async def _not_found(request: web.Request, _: Caller) -> web.StreamResponse:
    # The catch-all hides from aiohttp that only the method is wrong; it is found out here.
    allowed = await _allowed(request)
    if allowed:
        message = f"{request.method} is not for this route; it takes {', '.join(allowed)}."
        raise Refused(405, "method_not_allowed", message, headers={"Allow": ", ".join(allowed)})
    raise Refused(404, "not_found", f"There is no route {request.path}.")


async def _allowed(request: web.Request) -> list[str]:
    found: set[str] = set()
    for resource in request.app.router.resources():
        _, methods = await resource.resolve(request)
        found |= methods
    return sorted(found - {"*"})
