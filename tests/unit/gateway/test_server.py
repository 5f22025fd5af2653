"""The server: one port, health routes, bodies as they come, and a clear word when it is taken."""

import asyncio
import gzip
import socket
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from core.errors import Fatal
from gateway import server
from gateway.server import build_application, serving

LINES = [{"part": "store", "url": "sqlite:///x.db"}]


async def echo(request):
    return web.Response(body=await request.read())


@asynccontextmanager
async def served(*, ready=True):
    """A server on a free port, and a way to ask it."""
    application = build_application([web.post("/echo", echo)], lambda: (ready, LINES))
    async with serving(application, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:

        async def ask(method, path, **options):
            async with session.request(
                method, f"http://127.0.0.1:{port}{path}", **options
            ) as answer:
                return answer.status, await answer.read()

        yield ask


async def test_it_is_alive_whether_or_not_it_is_ready():
    async with served(ready=False) as ask:
        assert await ask("GET", "/healthz") == (200, b'{"alive": true}')


@pytest.mark.parametrize(("ready", "status"), [(True, 200), (False, 503)])
async def test_readiness_has_a_line_for_each_part(ready, status):
    async with served(ready=ready) as ask:
        found, body = await ask("GET", "/readyz")
        assert found == status
        assert b'"part": "store"' in body


async def test_a_route_that_nobody_mounted_is_not_found():
    async with served() as ask:
        assert (await ask("POST", "/webhooks/github"))[0] == 404


async def test_a_compressed_body_is_handed_on_as_it_came():
    """T23: a small body that unpacks to a large one never does so here."""
    bomb = gzip.compress(b"0" * 10_000_000)
    async with served() as ask:
        status, body = await ask("POST", "/echo", data=bomb, headers={"Content-Encoding": "gzip"})
        assert status == 200
        assert body == bomb


async def test_a_port_in_use_names_itself_and_the_way_out():
    application = build_application([], lambda: (True, []))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Fatal, match=rf"port {port} on 127.0.0.1 is in use.*--port"):
            async with serving(application, "127.0.0.1", port):
                pass


async def test_a_host_that_is_not_ours_is_named():
    application = build_application([], lambda: (True, []))
    with pytest.raises(Fatal, match=r"cannot listen on 203\.0\.113\.1 port 8787"):
        async with serving(application, "203.0.113.1", 8787):
            pass


async def test_the_port_is_free_again_after_the_block():
    async with serving(build_application([], lambda: (True, [])), "127.0.0.1", 0) as port:
        pass
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"])
async def test_a_caller_that_never_finishes_its_headers_is_left(monkeypatch, sent):
    """S7: half-open connections would pile up."""
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.1)
    application = build_application([], lambda: (True, []))
    async with serving(application, "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
