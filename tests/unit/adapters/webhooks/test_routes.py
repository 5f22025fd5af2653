"""A webhook as its sender sees it: what is answered, and what leaves no trace."""

import asyncio
import gzip
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr

from adapters.webhooks import WebhooksAdapter, WebhookSettings
from adapters.webhooks import routes as module
from core.conversation import InboundEvents
from core.errors import InvalidConfig, StoreUnavailable
from core.ports.adapter import Admission
from tests.unit.adapters.webhooks.deliveries import (
    GUID,
    SECRET,
    encoded,
    headers,
    signature,
    workflow_run,
)

BODY = encoded(workflow_run())
SETTINGS = WebhookSettings(github=(SecretStr(SECRET),))


class OpenGate:
    """A gate that lets everything in once and remembers it."""

    def __init__(self):
        self.taken = {}
        self.full = False

    async def admit(self, inbound):
        if self.full:
            raise StoreUnavailable("the disk is full")
        known = inbound.ingress_key in self.taken
        self.taken.setdefault(inbound.ingress_key, inbound)
        outcome = "duplicate" if known else "accepted"
        return Admission(outcome=outcome, detail={"threads": 2})


@asynccontextmanager
async def serving(gate, settings=SETTINGS):
    app = web.Application()
    app.add_routes(WebhooksAdapter(settings, gate=gate).routes())
    runner = web.AppRunner(app, auto_decompress=False)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client:
        yield client
    await runner.cleanup()


@pytest.fixture
def gate():
    return OpenGate()


@pytest.fixture
async def client(gate):
    async with serving(gate) as client:
        yield client


async def post(client, body=BODY, event="workflow_run", **more):
    given = headers(event, body, **more) if isinstance(body, bytes) else more
    async with client.post("/webhooks/github", data=body, headers=given) as answer:
        return answer, await answer.json()


async def test_a_signed_delivery_is_taken_and_counted(client, gate):
    answer, told = await post(client)
    assert (answer.status, told) == (202, {"threads": 2})
    (inbound,) = gate.taken.values()
    assert (inbound.ingress_key, inbound.source) == (f"github:{GUID}", "github")
    assert inbound.events[0].event_kind == "ci-status"


async def test_the_same_delivery_again_has_the_first_outcome(client):
    await post(client)
    answer, told = await post(client)
    assert (answer.status, told) == (200, {"threads": 2, "duplicate": True})


@pytest.mark.parametrize(
    "header", ["", "sha256=00", signature(b"other"), signature(BODY, "x" * 20)]
)
async def test_an_unsigned_delivery_leaves_no_trace(client, gate, header):
    answer, told = await post(client, X_Hub_Signature_256=header)
    assert (answer.status, told["error"]["code"], gate.taken) == (401, "unauthorized", {})


async def test_nothing_is_read_before_the_signature(client):
    """S5: JSON that no decoder takes is refused for its signature."""
    answer, _ = await post(client, b"[" * 100_000, X_Hub_Signature_256="")
    assert answer.status == 401


async def test_a_thousand_forgeries_do_not_shut_out_the_one_that_is_real(client):
    """PB-068."""
    for _ in range(100):
        await asyncio.gather(*(post(client, X_Hub_Signature_256="x") for _ in range(10)))
    answer, _ = await post(client)
    assert answer.status == 202


async def test_only_the_header_of_the_scheme_names_the_delivery(client, gate):
    """PB-071."""
    await post(client, webhook_id="msg_1", X_Request_UUID="1", Idempotency_Key="1")
    assert list(gate.taken) == [f"github:{GUID}"]


@pytest.mark.parametrize("name", ["", "a" * 101, "a:b", "a/b", "ä"])
async def test_a_delivery_without_a_proper_name_is_named_by_its_bytes(client, gate, name):
    for _ in range(2):
        await post(client, X_GitHub_Delivery=name)
    (key,) = gate.taken
    assert key.startswith("github:sha256-")


@pytest.mark.parametrize("event", ["ping", "workflow_job"])
async def test_a_delivery_without_news_is_taken_and_forgotten(client, gate, event):
    answer, told = await post(client, event=event)
    assert (answer.status, told, gate.taken) == (202, {"threads": 0}, {})


async def test_a_store_that_is_full_is_told_to_the_sender(client, gate):
    gate.full = True
    answer, told = await post(client)
    assert (answer.status, told["error"]["code"]) == (503, "store_unavailable")
    assert answer.headers["Retry-After"] == "5"


async def test_signed_bytes_that_are_no_json_are_bad_input(client):
    answer, told = await post(client, b"{")
    assert (answer.status, told["error"]["code"]) == (400, "invalid_input")


async def test_a_compressed_body_is_refused_unopened(client):
    bomb = gzip.compress(b"0" * 1_000_000)
    answer, _ = await post(client, bomb, Content_Encoding="gzip")
    assert answer.status == 415


@pytest.fixture
def small(monkeypatch):
    limited = {"github": replace(module.GITHUB, body_limit=1_000)}
    monkeypatch.setattr(module, "_SOURCES", limited)


async def test_a_body_that_is_too_long_is_refused_by_its_length_or_while_it_comes(small, gate):
    async def drip():
        for _ in range(100):
            yield b"x" * 100

    async with serving(gate) as client:
        announced, _ = await post(client, b"x" * 1_001)
        dripping, _ = await post(client, drip())
    assert (announced.status, dripping.status) == (413, 413)


async def test_a_body_that_never_comes_is_given_up(monkeypatch, gate):
    monkeypatch.setattr(module, "BODY_SECONDS", 0.05)
    async with serving(gate) as client:
        port = client._base_url.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = "POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
        writer.write(head.encode())
        answer = await asyncio.wait_for(reader.readline(), 5)
        writer.close()
        await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("path", ["/webhooks/gitlab", "/webhooks/", "/webhooks/github/x"])
async def test_another_path_leads_nowhere(client, path):
    async with client.post(path, data=BODY) as answer:
        assert answer.status == 404


async def test_a_source_without_a_secret_has_no_route(gate):
    assert WebhooksAdapter(WebhookSettings(), gate=gate).routes() == []


@pytest.mark.parametrize("secrets", [("2short",), ("long enough to be one", "x" * 15), ("",)])
def test_a_short_secret_refuses_the_start_and_names_the_variable(gate, secrets):
    settings = WebhookSettings(github=tuple(SecretStr(one) for one in secrets))
    with pytest.raises(InvalidConfig, match="GITHUB_WEBHOOK_SECRET") as refused:
        WebhooksAdapter(settings, gate=gate)
    assert secrets[-1] == "" or secrets[-1] not in str(refused.value)


def test_a_subscription_without_its_secret_refuses_the_start():
    with pytest.raises(InvalidConfig, match="GITHUB_WEBHOOK_SECRET"):
        WebhookSettings().check(["github:acme/app"])
    SETTINGS.check(["github:acme/app"])


def test_a_subscription_to_no_source_refuses_the_start():
    with pytest.raises(InvalidConfig, match="'githab', which is no source; known: github"):
        SETTINGS.check(["githab:acme/app"])


def test_each_kind_of_ingress_has_a_sample_for_the_gate(gate):
    (handler,) = WebhooksAdapter(SETTINGS, gate=gate).handlers()
    assert isinstance(handler.sample, InboundEvents)
