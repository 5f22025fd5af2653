"""The direct client where the contract has nothing to say: its session, and whole documents."""

from contextlib import aclosing

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr

from adapters.models.names import parse_name
from adapters.models.openai import Endpoint, OpenAIModel, SharedSession
from core.errors import ModelError, ModelOutputError
from core.ports.model import Finish, ModelRequest, PromptMessage, TextDelta, ToolCallDone, Usage
from tests.loopback.model import Call, LoopbackModel, Say

HELLO = ModelRequest(messages=(PromptMessage(role="user", content="hi"),))


@pytest.fixture
async def loopback(tmp_path):
    async with LoopbackModel(tmp_path) as model:
        yield model


@pytest.fixture
async def session():
    shared = SharedSession()
    yield shared
    await shared.aclose()


@pytest.fixture
async def served(session):
    """Gives a model whose server is the given handler."""
    runners = []

    async def start(handler):
        app = web.Application()
        app.router.add_post("/chat/completions", handler)
        runners.append(web.AppRunner(app))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runners[-1].addresses[0][1]}"
        return OpenAIModel(endpoint(base, "sk-test-12345678"), session=session)

    yield start
    for runner in runners:
        await runner.cleanup()


def endpoint(base, key=None):
    secret = SecretStr(key) if key else None
    return Endpoint(name=parse_name("openai/x"), api_base=base, key=secret)


async def ask(model, request=HELLO):
    async with aclosing(model.stream(request)) as events:
        return [event async for event in events]


async def test_a_server_that_ignores_stream_is_read_all_the_same(loopback, session):
    calls = [Call(name="look", arguments={"a": 1}), Call(name="look")]
    await loopback.script(Say(text="whole", calls=calls, fault="not_streamed"))
    events = await ask(OpenAIModel(endpoint(loopback.base_url, loopback.key), session=session))
    assert events[0] == TextDelta(text="whole")
    assert [event.arguments for event in events if isinstance(event, ToolCallDone)] == [
        '{"a": 1}',
        "{}",
    ]
    assert events[-1] == Finish(reason="tool-calls", usage=Usage(input_tokens=11, output_tokens=7))


async def test_a_stream_that_ends_at_once_is_an_empty_answer(loopback, session):
    await loopback.script(Say(fault="silent"))
    with pytest.raises(ModelOutputError, match="empty") as caught:
        await ask(OpenAIModel(endpoint(loopback.base_url, loopback.key), session=session))
    assert caught.value.retryable


async def test_a_slash_at_the_end_of_the_address_does_no_harm(loopback, session):
    model = OpenAIModel(endpoint(f"{loopback.base_url}/", loopback.key), session=session)
    assert await ask(model)


async def test_an_address_that_is_none_is_a_model_error(session):
    with pytest.raises(ModelError, match="openai/x"):
        await ask(OpenAIModel(endpoint("nowhere"), session=session))


async def test_a_key_follows_no_redirect(served):
    async def away(_):
        raise web.HTTPTemporaryRedirect("http://127.0.0.1:9/elsewhere")

    with pytest.raises(ModelError, match="answered 307"):
        await ask(await served(away))


async def test_an_answer_that_breaks_after_its_end_only_loses_its_count(served):
    async def answer(request):
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(
            b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}\n\n'
        )
        request.transport.close()
        return response

    assert await ask(await served(answer)) == [TextDelta(text="ok"), Finish(reason="stop")]


async def test_an_answer_whose_last_line_is_cut_short_is_still_read(served):
    async def answer(_):
        text = 'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}'
        return web.Response(text=text, content_type="text/event-stream")

    assert (await ask(await served(answer)))[0] == TextDelta(text="ok")


@pytest.mark.parametrize("text", ["[1, 2]", "null", "nonsense"])
async def test_a_document_that_is_no_object_is_unreadable(served, text):
    async def answer(_):
        return web.Response(text=text, content_type="application/json")

    with pytest.raises(ModelOutputError, match="cannot be read"):
        await ask(await served(answer))


async def test_a_document_beyond_all_bounds_is_not_read_to_its_end(served):
    async def answer(_):
        return web.Response(body=b" " * 7_000_000, content_type="application/json")

    with pytest.raises(ModelOutputError, match="over 5"):
        await ask(await served(answer))


async def test_a_session_that_was_given_stays_open(loopback):
    async with aiohttp.ClientSession() as given:
        shared = SharedSession(given)
        await ask(OpenAIModel(endpoint(loopback.base_url, loopback.key), session=shared))
        await shared.aclose()
        assert not given.closed


async def test_our_own_session_is_made_once_and_closed(session):
    own = session.get()
    assert session.get() is own
    await session.aclose()
    assert own.closed
