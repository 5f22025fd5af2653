"""The server: one aiohttp application on one port, with health routes of its own."""

import errno
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from core.errors import Fatal

Readiness = Callable[[], tuple[bool, list[dict[str, Any]]]]
"""Says whether the gateway is ready, with one line per adapter and store."""
BODY_LIMIT = 26 * 1024 * 1024
"""Bytes of the largest body that any route takes; each route has a limit of its own below it."""
HEADER_SECONDS = 15.0
STOP_SECONDS = 5.0
"""How long requests under way may take to end when the gateway stops."""


def build_application(routes: Iterable[web.RouteDef], readiness: Readiness) -> web.Application:
    """Return the application: health routes first, then those of the adapters."""
    application = web.Application(client_max_size=BODY_LIMIT)

    async def ready(_: web.Request) -> web.Response:
        is_ready, lines = readiness()
        return web.json_response(
            {"ready": is_ready, "parts": lines}, status=200 if is_ready else 503
        )

    # Health first, so that no adapter can take these paths.
    application.add_routes([web.get("/healthz", _alive), web.get("/readyz", ready), *routes])
    return application


@asynccontextmanager
async def serving(application: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serve until the block is left; yields the port that was taken.

    Bodies are never decompressed here: a small one could hold up the loop for seconds
    (reliability.md 0.9).

    Raises:
        Fatal: the port is in use or may not be taken.
    """
    runner = web.AppRunner(
        application,
        access_log=None,
        auto_decompress=False,
        keepalive_timeout=HEADER_SECONDS,
        shutdown_timeout=STOP_SECONDS,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await _start(site, host, port)
        yield _port(runner)
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as exc:
        # By far the most common one, and the only one with an easy cure.
        if exc.errno == errno.EADDRINUSE:
            raise Fatal(
                f"port {port} on {host} is in use: stop what uses it, or choose another with "
                "--port or INTERLOCK_PORT"
            ) from exc
        raise Fatal(f"cannot listen on {host} port {port}: {exc}") from exc


def _port(runner: web.AppRunner) -> int:
    address: Any = runner.addresses[0]
    return int(address[1])


async def _alive(_: web.Request) -> web.Response:
    return web.json_response({"alive": True})
