"""The server: the routes of the loopback Slack on one port."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web

from tests.loopback.slack import control, gestures, webapi
from tests.loopback.slack.options import Options
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal
from tests.loopback.slack.webapi import PLATFORM


def make_app(options: Options) -> web.Application:
    """Return the application; its world is made when it starts."""
    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.cleanup_ctx.append(lambda app: _platform(app, options))
    app.add_routes(
        [
            web.route("*", "/api/{method}", webapi.handle),
            web.get("/link/", _link),
            web.post("/response/{kind}/{token}", _respond),
            web.post("/_control/{verb}", control.handle),
        ]
    )
    return app


async def _platform(app: web.Application, options: Options) -> AsyncIterator[None]:
    # A new connection for every delivery: a pooled one to a killed gateway would be half dead.
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        platform = Platform(options, session=session)
        app[PLATFORM] = platform
        yield
        await platform.courier.close()


async def _link(request: web.Request) -> web.StreamResponse:
    return await request.app[PLATFORM].sockets.serve(request)


async def _respond(request: web.Request) -> web.StreamResponse:
    platform = request.app[PLATFORM]
    answer = await request.json()
    fault = platform.faults.take("response_url", answer)
    platform.journal.write("response_url", answer=answer, fault=fault.kind if fault else None)
    if fault is not None:
        return webapi.drop(request)
    try:
        gestures.use_response_url(platform, request.match_info["token"], answer)
    except SlackRefusal as refusal:
        return web.json_response(refusal.body(), status=404)
    return web.Response(text="ok")
