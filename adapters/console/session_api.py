"""The API's people and agents: who sits here, who may be picked, whom they talk to."""

from aiohttp import web

from adapters.console.bodies import SessionBody
from adapters.console.exchange import Route, read_object
from adapters.console.parse import Caller, parse_body
from adapters.console.ports import Host
from adapters.console.render import render_agent
from adapters.console.security import Door
from adapters.console.sessions import People, Sessions
from adapters.console.settings import ConsoleSettings
from core.conversation import Person


class SessionApi:
    """Tells the page who speaks, and lets a session pick another person."""

    def __init__(
        self,
        settings: ConsoleSettings,
        *,
        host: Host,
        door: Door,
        sessions: Sessions,
        people: People,
    ) -> None:
        self._settings = settings
        self._host = host
        self._door = door
        self._sessions = sessions
        self._people = people

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [
            Route(method="GET", path="/api/v1/session", handler=self.show),
            Route(method="POST", path="/api/v1/session", handler=self.pick),
            Route(method="GET", path="/api/v1/agents", handler=self.agents),
        ]

    async def show(self, _: web.Request, caller: Caller) -> web.Response:
        """Answer with who speaks, who may be picked, and where the page's threads belong."""
        return web.json_response(self._state(caller.person))

    async def pick(self, request: web.Request, _: Caller) -> web.Response:
        """Let the browser's session speak for somebody else; a token speaks for itself."""
        session = self._door.session(request)
        body = parse_body(SessionBody, await read_object(request))
        session = self._sessions.pick(session, self._people.meet(body.person))
        return web.json_response(self._state(session.person))

    async def agents(self, _: web.Request, __: Caller) -> web.Response:
        """Answer with the configured agents."""
        agents = [render_agent(agent) for agent in self._host.agents()]
        return web.json_response({"agents": agents, "default": self._host.default_agent_id})

    def _state(self, person: Person) -> dict[str, object]:
        return {
            "person": {"id": person.id, "name": person.name},
            "people": [{"id": one.id, "name": one.name} for one in self._people.everyone()],
            "resourceId": self._settings.resource_id,
            "dev": self._settings.dev,
            "login": self._door.asks_for_token,
        }
