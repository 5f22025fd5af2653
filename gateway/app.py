"""The app: one process's life: open, serve, supervise, stop in order."""

import asyncio
import secrets
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from pydantic import SecretStr

from core.clock import Clock
from core.errors import Fatal, InterlockError, InvalidConfig
from core.redaction import redact_text
from gateway.config import Settings
from gateway.logs import bare_url
from gateway.scheduler import Scheduler
from gateway.server import build_application, serving
from gateway.wiring import Gateway, wire

log = structlog.get_logger(__name__)
GRACE = timedelta(seconds=20)
FIRST_RESTART = 1.0
LONGEST_RESTART = 60.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(slots=True)
class Health:
    """What `/readyz` tells: whether models are prepared, and how each part is."""

    prepared: bool = False
    stopping: bool = False
    problems: dict[str, str] = field(default_factory=dict)

    def ready(self) -> bool:
        """Say whether the gateway takes work."""
        return self.prepared and not self.stopping


class TokenFile:
    """The token that lets this machine's own programs in (gateway.md, Command line)."""

    def __init__(self, path: Path) -> None:
        """Make up a token; it is written once the port is ours."""
        self._path = path
        self.token = secrets.token_urlsafe(32)

    def write(self) -> None:
        """Write the token for this user alone (0600)."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)
        self._path.touch(mode=0o600)
        self._path.write_text(self.token, encoding="utf-8")

    def remove(self) -> None:
        """Take the file away if it is still ours."""
        with suppress(OSError):
            if self._path.read_text(encoding="utf-8") == self.token:
                self._path.unlink()


async def serve(
    settings: Settings, announce: Callable[[int], None], stop: asyncio.Event | None = None
) -> None:
    """Run the gateway until it is told to stop; `announce` gets the port once it is ready.

    It is told by `stop`, or by SIGTERM and SIGINT.

    Raises:
        InvalidConfig: the settings cannot be served.
        Fatal: the store or the port cannot be had.
    """
    check_bind(settings)
    token_file = TokenFile(settings.root / ".interlock" / "token")
    gateway = await wire(settings, SecretStr(token_file.token))
    stop = stop or asyncio.Event()
    _on_signals(stop)
    await run(gateway, token_file, announce, stop)


async def run(
    gateway: Gateway, token_file: TokenFile, announce: Callable[[int], None], stop: asyncio.Event
) -> None:
    """Run what is wired until `stop` is set, then leave it from the bottom up.

    The order of the stop: intake, runs and store, adapters, models (architecture.md 9).

    Raises:
        Fatal: the port cannot be had, or a part cannot go on.
    """
    try:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(gateway.registry.aclose)
            for item in gateway.adapters:
                stack.push_async_callback(item.aclose)
            stack.push_async_callback(gateway.runtime.aclose, GRACE)
            stack.push_async_callback(asyncio.to_thread, token_file.remove)
            await _open(stack, gateway, token_file, announce, stop)
    except BaseExceptionGroup as group:
        # That tasks ran in a group is our affair: a caller gets the error it can mend.
        raise reason(group) from group


async def _open(
    stack: AsyncExitStack,
    gateway: Gateway,
    token_file: TokenFile,
    announce: Callable[[int], None],
    stop: asyncio.Event,
) -> None:
    health = Health()
    host, port = gateway.settings.server.host, gateway.settings.server.port
    for item in gateway.adapters:
        await item.prepare()
    application = build_application(gateway.routes, lambda: readiness(gateway, health))
    port = await stack.enter_async_context(serving(application, host, port))
    # Readers of event streams would hold up the server's end.
    stack.push_async_callback(gateway.console.aclose)
    await asyncio.to_thread(token_file.write)
    async with asyncio.TaskGroup() as group:
        await _live(group, gateway, health, stop, lambda: announce(port))


async def supervise(
    name: str, work: Callable[[], Awaitable[None]], health: Health, clock: Clock
) -> None:
    """Run a part for ever: log what ends it, mark it unhealthy, start it again with backoff.

    Only Fatal leaves (architecture.md 9). A life that ends by itself counts as a crash.
    """
    pause = FIRST_RESTART
    while True:
        health.problems.pop(name, None)
        began = clock.monotonic()
        try:
            await work()
            health.problems[name] = "it ended"
            log.warning("part.ended", part=name)
        # A supervisor: the part is restarted, the others go on meanwhile.
        except Exception as exc:
            if isinstance(reason(exc), Fatal):
                raise
            health.problems[name] = redact_text(f"{type(exc).__name__}: {exc}")
            log.exception("part.broke", part=name)
        # Whoever lived long enough is trusted again.
        pause = FIRST_RESTART if clock.monotonic() - began > LONGEST_RESTART else pause
        await clock.sleep(pause)
        pause = min(pause * 2, LONGEST_RESTART)


def reason(problem: BaseException) -> BaseException:
    """Return what a group of errors comes down to: the first of ours in it, else the first."""
    while isinstance(problem, BaseExceptionGroup):
        ours = problem.subgroup(InterlockError)
        problem = (ours or problem).exceptions[0]
    return problem


async def _live(
    group: asyncio.TaskGroup,
    gateway: Gateway,
    health: Health,
    stop: asyncio.Event,
    announce: Callable[[], None],
) -> None:
    clock = gateway.runtime.clock
    parts = [
        group.create_task(supervise(item.platform, item.run, health, clock), name=item.platform)
        for item in gateway.adapters
    ]
    await gateway.registry.prepare(gateway.model_names)
    async with Scheduler(gateway.chores):
        health.prepared = True
        announce()
        await stop.wait()
        health.stopping = True
        log.info("gateway.stopping")
    for part in parts:
        part.cancel()


def readiness(gateway: Gateway, health: Health) -> tuple[bool, list[dict[str, Any]]]:
    """Return what `/readyz` tells: whether work is taken, and a line for each part."""
    lines: list[dict[str, Any]] = [{"part": "store", "url": bare_url(gateway.settings.store.url)}]
    lines.append({"part": "models", "prepared": health.prepared})
    for item in gateway.adapters:
        problem = health.problems.get(item.platform)
        lines.append({"part": item.platform, **item.status(), "problem": problem})
    return health.ready(), lines


def check_bind(settings: Settings) -> None:
    """Refuse a host that is open to the network while there is no token (reliability.md T25).

    Raises:
        InvalidConfig: names the variable that mends it.
    """
    if settings.server.host not in LOOPBACK and settings.api_token is None:
        raise InvalidConfig(
            f"host {settings.server.host} is open to the network: set INTERLOCK_API_TOKEN, or bind "
            "127.0.0.1"
        )


def _on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
