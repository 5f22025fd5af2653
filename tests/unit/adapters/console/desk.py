"""A console on a real port over a real runtime, with a scripted model and a watched gate."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from adapters.console import ConsoleAdapter, ConsoleSettings
from core.agent import Agent
from core.clock import Clock, SystemClock
from core.conversation import Inbound
from core.ids import thread_key
from core.notifications.inbox import Inbox
from core.ports.adapter import Admission, Gate
from core.ports.model import Model
from core.runtime import Runtime, RuntimeOptions
from core.stores.memory import MemoryStore
from core.testing import Say, ScriptedModel
from core.tools.tool import Folders
from gateway.config import PolicySection
from gateway.gate import GatewayGate
from gateway.policy import Policy
from gateway.wiring import ConsoleHost
from tests.support import eventually, unused_port

MAIN = "/api/v1/threads/console%3Alocal/main"
KEY = thread_key("console:local", "main")
TOKEN = "a token of sixteen and more"
EVERYONE = ("console:local:*", "api:token")
PLAN = "# Move the docs\n\n1. Copy them\n2. Tell the team\n"
PLAN_SCRIPT = (
    Say(text="I write.", calls=(("write_plan", {"path": "move.md", "content": PLAN}),)),
    Say(text="I submit.", calls=(("submit_plan", {"path": "move.md"}),)),
)


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a test wants of its console."""

    script: Iterable[Say] = ()
    model: Model | None = None
    token: str | None = None
    local_token: str | None = TOKEN
    talk: tuple[str, ...] = EVERYONE
    approve: tuple[str, ...] = EVERYONE
    hosts: tuple[str, ...] = ()
    clock: Clock = field(default_factory=SystemClock)
    plans: Path = Path()


class WatchedGate(Gate):
    """The real gate, with a memory; a problem put in is raised once instead."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.admitted: list[Inbound] = []
        self.problems: list[Exception] = []

    async def admit(self, inbound: Inbound) -> Admission:
        self.admitted.append(inbound)
        if self.problems:
            raise self.problems.pop(0)
        return await self.gate.admit(inbound)


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str
    body: Any

    @property
    def error(self) -> dict[str, Any]:
        return self.body["error"]


class Desk:
    """The console under test, and two ways to talk to it: a browser's and a program's."""

    def __init__(self, adapter: ConsoleAdapter, runtime: Runtime, gate: WatchedGate) -> None:
        self.adapter = adapter
        self.runtime = runtime
        self.gate = gate
        self.model: ScriptedModel = runtime.agent().model
        self.url = ""
        self.web: aiohttp.ClientSession
        self.bearer = {"Authorization": f"Bearer {TOKEN}"}

    @property
    def written(self) -> dict[str, str]:
        """The headers of a write by the page itself."""
        return {"Origin": self.url, "X-Interlock-CSRF": "1"}

    async def visit(self) -> None:
        """Open the page, as a browser does first."""
        answer = await self.ask("GET", "/")
        assert answer.status == 200, answer.text

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request as given, and nothing else along."""
        async with self.web.request(
            method, aiohttp.client.URL(self.url + path, encoded=True), **options
        ) as response:
            text = await response.text()
            body = await response.json() if response.content_type == "application/json" else None
            return Answer(status=response.status, headers=response.headers, text=text, body=body)

    async def write(self, path: str, body: Any = None, *, method: str = "POST") -> Answer:
        """Write as the page does."""
        return await self.ask(method, path, json=body or {}, headers=self.written)

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Ask as a program with the token."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.ask(method, path, json=body, headers={**self.bearer, **named})

    async def say(self, text: str = "hello") -> Answer:
        """Put a message into the main thread as a program, and wait for the run's end or pause."""
        answer = await self.call("POST", f"{MAIN}/messages", {"contents": text})
        await self.runtime.idle()
        return answer

    async def pending_plan(self) -> dict[str, Any]:
        """Return the plan that waits, as the API shows it."""

        async def waiting() -> list[dict[str, Any]]:
            return (await self.call("GET", "/api/v1/plans?status=pending")).body["plans"]

        return (await eventually(waiting))[0]


@asynccontextmanager
async def open_desk(setup: Setup | None = None) -> AsyncIterator[Desk]:
    """Serve a console until the block is left."""
    setup = setup or Setup()
    port = unused_port()
    async with _runtime(setup) as runtime:
        desk = _desk(setup, runtime, port)
        application = web.Application()
        application.add_routes(desk.adapter.routes())
        async with TestServer(application, port=port, host="127.0.0.1") as server:
            desk.url = f"http://127.0.0.1:{server.port}"
            jar = aiohttp.CookieJar(unsafe=True)
            async with aiohttp.ClientSession(cookie_jar=jar) as desk.web:
                yield desk
            await desk.adapter.aclose()


def _runtime(setup: Setup) -> Runtime:
    agent = Agent(
        id="helper",
        name="Helper",
        model=setup.model or ScriptedModel(script=list(setup.script)),
        tools=("clock", "write_plan", "submit_plan", "write_note"),
    )
    policy = _policy(setup)
    return Runtime(
        store=MemoryStore(clock=setup.clock),
        clock=setup.clock,
        agents=[agent],
        options=RuntimeOptions(
            may_decide=policy.may_decide, folders=Folders(root=setup.plans, plans=setup.plans)
        ),
    )


def _policy(setup: Setup) -> Policy:
    return Policy(section=PolicySection(talk=setup.talk, approve=setup.approve))


def _desk(setup: Setup, runtime: Runtime, port: int) -> Desk:
    policy = _policy(setup)
    inbox = Inbox(
        store=runtime.store, clock=runtime.clock, policies=lambda _: None, wake=runtime.wake
    )
    gate = WatchedGate(GatewayGate(runtime=runtime, policy=policy, inbox=inbox))
    settings = ConsoleSettings(
        token=SecretStr(setup.token) if setup.token else None,
        local_token=SecretStr(setup.local_token) if setup.local_token else None,
        hosts=setup.hosts or (f"localhost:{port}", f"127.0.0.1:{port}"),
        dev=True,
    )
    adapter = ConsoleAdapter(
        settings,
        host=ConsoleHost(runtime, None),
        gate=gate,
        permit=lambda person: policy.may_talk(person, None),
    )
    runtime.adapters[adapter.platform] = adapter
    return Desk(adapter, runtime, gate)
