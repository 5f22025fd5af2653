"""The app: one process's life: open, serve, supervise, stop in order."""

import asyncio
import secrets
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from pydantic import SecretStr

from core.errors import Fatal, InterlockError, InvalidConfig
from gateway.config import Settings
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


async def serve(settings: Settings, announce: Callable[[int], None]) -> None:
    """Run the gateway until it is told to stop; `announce` gets the port once it is ready.

    Raises:
        InvalidConfig: the settings cannot be served.
        Fatal: the store or the port cannot be had.
    """
    _check_bind(settings)
    token_file = TokenFile(settings.root / ".interlock" / "token")
    gateway = await wire(settings, SecretStr(token_file.token))
    health = Health()
    application = build_application(gateway.routes, lambda: _readiness(gateway, health))
    stop = asyncio.Event()
    _on_signals(stop)
    for item in gateway.adapters:
        await item.prepare()
    try:
        async with serving(application, settings.server.host, settings.server.port) as port:
            await asyncio.to_thread(token_file.write)
            async with asyncio.TaskGroup() as group:
                await _live(group, gateway, health, stop, lambda: announce(port))
    finally:
        await asyncio.to_thread(token_file.remove)
        await gateway.runtime.aclose(GRACE)
        await gateway.registry.aclose()


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


async def supervise(name: str, work: Callable[[], Awaitable[None]], health: Health) -> None:
    """Run a part for ever: log what ends it, mark it unhealthy, start it again with backoff.

    Only Fatal leaves (architecture.md 9).
    """
    pause = FIRST_RESTART
    while True:
        try:
            await work()
            health.problems.pop(name, None)
            return
        except Fatal:
            raise
        # A supervisor: the part is restarted, the others go on meanwhile.
        except Exception as exc:
            health.problems[name] = f"{type(exc).__name__}: {exc}"
            log.exception("part.broke", part=name, restart_in=pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_RESTART)


async def _live(
    group: asyncio.TaskGroup,
    gateway: Gateway,
    health: Health,
    stop: asyncio.Event,
    announce: Callable[[], None],
) -> None:
    parts = [
        group.create_task(supervise(item.platform, item.run, health), name=item.platform)
        for item in gateway.adapters
    ]
    await gateway.registry.prepare(gateway.model_names)
    async with Scheduler(gateway.chores):
        health.prepared = True
        announce()
        await stop.wait()
        health.stopping = True
        log.info("gateway.stopping")
    for item in gateway.adapters:
        await item.aclose()
    await gateway.console.aclose()
    for part in parts:
        part.cancel()


def _readiness(gateway: Gateway, health: Health) -> tuple[bool, list[dict[str, Any]]]:
    lines: list[dict[str, Any]] = [{"part": "store", "url": gateway.settings.store.url}]
    lines.append({"part": "models", "prepared": health.prepared})
    for item in gateway.adapters:
        problem = health.problems.get(item.platform)
        lines.append({"part": item.platform, **item.status(), "problem": problem})
    return health.ready(), lines


def _check_bind(settings: Settings) -> None:
    if settings.server.host not in LOOPBACK and settings.api_token is None:
        raise InvalidConfig(
            f"host {settings.server.host} is open to the network: set INTERLOCK_API_TOKEN, or bind "
            "127.0.0.1"
        )


def _on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)


def report(problem: InterlockError) -> str:
    """Return what a person at the terminal is told of an error."""
    return f"interlock: {problem}"
