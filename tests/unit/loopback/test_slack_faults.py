"""What goes wrong on purpose, and what is left behind."""

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.loopback.slack.client import LoopbackSlack, slack_process
from tests.loopback.slack.faults import Fault, FaultBook

POST = "chat.postMessage"


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with slack_process(tmp_path_factory.mktemp("process")) as running:
        yield running


@pytest.fixture
async def slack(process, tmp_path):
    async with LoopbackSlack(tmp_path, process=process) as running:
        yield running


@pytest.fixture
def client(slack):
    return AsyncWebClient(
        token=slack.options.bot_token, base_url=slack.api_url, retry_handlers=[], timeout=5
    )


async def post(client, text="x", channel="C0001"):
    return await client.chat_postMessage(channel=channel, text=text)


async def test_a_call_dropped_before_leaves_nothing(slack, client):
    await slack.fault(POST, "drop_before")
    with pytest.raises(aiohttp.ClientError):
        await post(client)
    assert slack.posts() == []
    assert slack.calls(POST)[0]["fault"] == "drop_before"


async def test_a_call_accepted_and_then_dropped_leaves_the_message(slack, client):
    await slack.fault(POST, "accept_then_drop")
    with pytest.raises(aiohttp.ClientError):
        await post(client, "there")
    assert [message["text"] for message in await slack.messages("C0001")] == ["there"]
    assert slack.posts(text="there")


async def test_an_answer_cut_in_half_leaves_the_message(slack, client):
    await slack.fault(POST, "cut_body")
    with pytest.raises(aiohttp.ClientError):
        await post(client, "there")
    assert slack.posts(text="there")


async def test_a_server_error_may_hide_a_message_that_is_there(slack, client):
    await slack.fault(POST, "accept_then_http", status=502)
    with pytest.raises(SlackApiError) as failed:
        await post(client, "there")
    assert failed.value.response.status_code == 502
    assert slack.posts(text="there")


async def test_a_server_error_leaves_nothing(slack, client):
    await slack.fault(POST, "http", status=503)
    with pytest.raises(SlackApiError) as failed:
        await post(client)
    assert failed.value.response.status_code == 503
    assert slack.posts() == []


async def test_a_late_answer_still_does_its_work(slack, client):
    await slack.fault(POST, "delay", seconds=0.3)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await post(client, "late")
    await slack.until(lambda: slack.posts(text="late"))


async def test_auth_test_fails_as_often_as_told(slack, client):
    await slack.fault("auth.test", "error", error="internal_error", times=2)
    for _ in range(2):
        with pytest.raises(SlackApiError, match="internal_error"):
            await client.auth_test()
    assert (await client.auth_test())["ok"]


async def test_a_fault_can_wait_for_one_channel(slack, client):
    await slack.fault(POST, "error", error="fatal_error", where={"channel": "C0002"})
    await post(client, channel="C0001")
    with pytest.raises(SlackApiError, match="fatal_error"):
        await post(client, channel="C0002")


async def test_a_rate_limited_method_stays_closed_until_it_is_time(slack, client):
    await slack.fault(POST, "ratelimit", retry_after=1)
    for _ in range(2):
        with pytest.raises(SlackApiError) as limited:
            await post(client)
        assert limited.value.response.status_code == 429
        assert limited.value.response.headers["Retry-After"] == "1"
    assert [call["inside_retry_after"] for call in slack.calls(POST)] == [False, True]
    await slack.control("clear_faults")
    assert (await post(client))["ok"]


async def test_a_channel_takes_a_burst_and_then_a_post_now_and_then(slack, client):
    await slack.settings(post_rate=0.01)
    for _ in range(4):
        await post(client)
    with pytest.raises(SlackApiError, match="ratelimited"):
        await post(client)
    assert (await post(client, channel="C0002"))["ok"]


def test_a_fault_lets_the_first_calls_pass_and_then_hits_as_often_as_told():
    book = FaultBook()
    book.set(Fault(method=POST, kind="http", skip=1, times=2))
    hits = [book.take(POST, {}) is not None for _ in range(4)]
    assert hits == [False, True, True, False]


def test_a_fault_without_end_hits_every_method_until_cleared():
    book = FaultBook()
    book.set(Fault(method="*", kind="drop_before", times=-1))
    assert all(book.take(method, {}) for method in (POST, "auth.test") * 3)
    book.clear()
    assert book.take(POST, {}) is None
