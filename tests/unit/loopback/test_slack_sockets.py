"""Socket Mode, with slack_sdk's real client on the other end."""

import contextlib

import aiohttp
import pytest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from tests.loopback.slack.client import LoopbackSlack, slack_process

BUTTON = {
    "type": "button",
    "text": {"type": "plain_text", "text": "Approve"},
    "action_id": "approve",
}


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with slack_process(tmp_path_factory.mktemp("process")) as running:
        yield running


@pytest.fixture
async def slack(process, tmp_path):
    options = {"delivery": "socket", "time_scale": 0.001, "answer_seconds": 0.5}
    async with LoopbackSlack(tmp_path, process=process, **options) as running:
        yield running


@pytest.fixture
def web(slack):
    return AsyncWebClient(token=slack.options.bot_token, base_url=slack.api_url)


@contextlib.asynccontextmanager
async def connected(slack, *, ignore=0, payload=None):
    """A client that ignores the first requests and acknowledges the rest."""
    client = SocketModeClient(
        app_token=slack.options.app_token,
        web_client=AsyncWebClient(base_url=slack.api_url),
        ping_interval=0.2,
    )
    client.requests = []

    async def take(_, request):
        client.requests.append(request)
        if len(client.requests) > ignore:
            answer = SocketModeResponse(envelope_id=request.envelope_id, payload=payload)
            await client.send_socket_mode_response(answer)

    client.socket_mode_request_listeners.append(take)
    await client.connect()
    try:
        await slack.until(lambda: slack.journal.entries("socket", state="open"))
        yield client
    finally:
        await client.close()


async def test_an_event_is_delivered_and_acknowledged(slack):
    async with connected(slack) as client:
        await slack.say("U0001", "D0001", "hi")
    (request,) = client.requests
    assert (request.type, request.payload["event"]["text"]) == ("events_api", "hi")
    assert slack.journal.entries("ack", envelope_id=request.envelope_id, known=True)
    assert slack.deliveries(ok=True, via="socket")


async def test_an_event_without_acknowledgement_comes_again(slack):
    async with connected(slack, ignore=1) as client:
        await slack.say("U0001", "D0001", "hi")
        await slack.until(lambda: slack.deliveries(ok=True))
    first, second = client.requests
    assert (second.retry_attempt, second.retry_reason) == (1, "timeout")
    assert first.payload["event_id"] == second.payload["event_id"]
    assert first.envelope_id != second.envelope_id


async def test_an_event_nobody_listens_to_is_kept_for_a_later_socket(slack):
    await slack.settings(time_scale=0.02)
    await slack.say("U0001", "D0001", "hi")
    assert slack.deliveries()[0]["reason"] == "connection_failed"
    async with connected(slack) as client:
        await slack.until(lambda: client.requests)


async def test_two_sockets_share_the_events(slack):
    async with connected(slack) as one, connected(slack) as two:
        await slack.until(lambda: len(slack.journal.entries("socket", state="open")) == 2)
        for text in ("a", "b", "c", "d"):
            await slack.say("U0001", "D0001", text)
    assert (len(one.requests), len(two.requests)) == (2, 2)


async def test_a_click_takes_its_answer_from_the_acknowledgement(slack, web):
    async with connected(slack, payload={"response_action": "clear"}) as client:
        blocks = [{"type": "actions", "elements": [BUTTON]}]
        ts = (await web.chat_postMessage(channel="C0001", text="x", blocks=blocks))["ts"]
        answer = await slack.click("U0001", ts, "C0001", "approve")
        await slack.until(lambda: len(client.requests) == 2)
    assert answer["body"] == '{"response_action": "clear"}'
    assert {request.type for request in client.requests} == {"events_api", "interactive"}


async def test_a_slash_command_arrives_as_an_envelope(slack):
    async with connected(slack, payload={"text": "ok"}) as client:
        await slack.slash("U0001", "C0001", "/interlock", "help")
    (request,) = client.requests
    assert (request.type, request.payload["text"]) == ("slash_commands", "help")
    assert slack.journal.entries("ephemeral", by="command", text="ok")


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_client_told_to_go_comes_back_on_a_new_socket(slack, reason):
    async with connected(slack):
        assert (await slack.control("disconnect", reason=reason))["told"] == 1
        await slack.until(lambda: len(slack.journal.entries("socket", state="open")) == 2)
    assert slack.journal.entries("socket", state="disconnect", reason=reason)


async def test_an_event_in_flight_on_a_broken_socket_is_retried_on_the_next(slack):
    await slack.settings(answer_seconds=5.0, time_scale=0.01)
    async with connected(slack, ignore=1) as client:
        await slack.say("U0001", "D0001", "hi", wait=False)
        await slack.until(lambda: client.requests)
        await slack.control("cut_sockets")
        await slack.until(lambda: slack.deliveries(ok=True))
    assert slack.deliveries()[0]["reason"] == "connection_failed"


async def test_a_ticket_opens_one_socket(slack):
    app = AsyncWebClient(token=slack.options.app_token, base_url=slack.api_url)
    url = (await app.apps_connections_open(app_token=slack.options.app_token))["url"]
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        hello = await socket.receive_json()
        assert (hello["type"], hello["num_connections"]) == ("hello", 1)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_an_open_socket_is_pinged(process, tmp_path):
    async with LoopbackSlack(tmp_path, process=process, ping_seconds=0.1) as slack:
        app = AsyncWebClient(token=slack.options.app_token, base_url=slack.api_url)
        url = (await app.apps_connections_open(app_token=slack.options.app_token))["url"]
        async with aiohttp.ClientSession() as http, http.ws_connect(url, autoping=False) as socket:
            await socket.receive_json()
            assert (await socket.receive()).type is aiohttp.WSMsgType.PING
