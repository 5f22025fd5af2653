"""What every model promises the run loop, whichever client asks the server."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr

from adapters.models.registry import ModelRegistry, ModelSettings
from core.errors import (
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimited,
    ModelTimeout,
)
from core.messages import ToolCallPart, ToolResultPart
from core.ports.model import (
    Deadlines,
    Finish,
    ModelRequest,
    OutputCaps,
    PromptMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    ToolSpec,
    Usage,
)
from tests.loopback.model import Call, LoopbackModel, Say, running_model
from tests.support import eventually

# litellm reads fields in ways that pydantic deprecates; that is theirs to mend.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_\\w*fields' attribute")

NAME = "openai/loopback-1"
SEARCH = ToolSpec(
    name="search",
    description="Find pages.",
    parameters={"type": "object", "properties": {"words": {"type": "string"}}},
)
HELLO = ModelRequest(messages=(PromptMessage(role="user", content="hello"),))
SHORT = timedelta(seconds=0.25)
LONG = timedelta(seconds=20)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running_model(tmp_path_factory.mktemp("model")) as model:
        yield model


@pytest.fixture
async def loopback(server) -> LoopbackModel:
    await server.reset()
    return server


@pytest.fixture(params=["direct", "litellm"])
async def model(request, loopback):
    key = SecretStr(loopback.key)
    settings = ModelSettings(
        client=request.param, api_base=loopback.base_url, keys={"OPENAI_API_KEY": key}
    )
    registry = ModelRegistry(settings)
    await registry.prepare([NAME])
    yield registry.model(NAME)
    await registry.aclose()


async def ask(model, request=HELLO):
    async with aclosing(model.stream(request)) as events:
        return [event async for event in events]


def text_in(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def done_in(events):
    return [event for event in events if isinstance(event, ToolCallDone)]


def within(**deadlines):
    limits = {"first_token": LONG, "between_chunks": LONG, "total": LONG} | deadlines
    return replace(HELLO, deadlines=Deadlines(**limits))


async def test_text_comes_in_pieces_and_ends_once(model, loopback):
    await loopback.script("Good morning, Ada. ☀ 日本")
    events = await ask(model)
    assert text_in(events) == "Good morning, Ada. ☀ 日本"
    assert len([event for event in events if isinstance(event, TextDelta)]) > 2
    assert [event for event in events if isinstance(event, Finish)] == [events[-1]]


async def test_the_cost_of_an_answer_is_told(model, loopback):
    await loopback.script(Say(text="yes", usage=(120, 34)))
    finish = (await ask(model))[-1]
    assert finish == Finish(reason="stop", usage=Usage(input_tokens=120, output_tokens=34))


async def test_an_answer_arrives_while_it_is_being_written(model, loopback):
    await loopback.script(Say(text=["first ", "second"], stall_between=30))
    async with aclosing(model.stream(HELLO)) as events:
        assert await anext(events) == TextDelta(text="first ")


async def test_a_call_begins_grows_and_is_done(model, loopback):
    await loopback.script(Say(calls=[Call(name="search", arguments={"words": "a\nb"}, pieces=5)]))
    events = await ask(model, replace(HELLO, tools=(SEARCH,)))
    start, *deltas, done, finish = events
    assert start == ToolCallStart(tool_call_id=done.tool_call_id, tool_name="search")
    assert "".join(delta.text for delta in deltas) == done.arguments == '{"words": "a\\nb"}'
    assert {type(delta) for delta in deltas} == {ToolCallDelta}
    assert finish.reason == "tool-calls"


async def test_parallel_calls_are_done_in_call_order(model, loopback):
    calls = [Call(name="search", arguments={"words": word}) for word in ("one", "two", "three")]
    await loopback.script(Say(text="Three at once.", calls=calls))
    events = await ask(model, replace(HELLO, tools=(SEARCH,)))
    assert [done.arguments[11:14] for done in done_in(events)] == ["one", "two", "thr"]
    assert len({done.tool_call_id for done in done_in(events)}) == 3
    assert text_in(events) == "Three at once."


async def test_broken_arguments_are_handed_on_as_they_are(model, loopback):
    await loopback.script(Say(calls=[Call(name="search", arguments='{"words": ')]))
    assert done_in(await ask(model, replace(HELLO, tools=(SEARCH,))))[0].arguments == '{"words": '


@pytest.mark.parametrize("call_id", [None, "", "same"])
async def test_missing_and_repeated_ids_are_repaired(model, loopback, call_id):
    calls = [Call(name="search", id=call_id), Call(name="search", id=call_id)]
    await loopback.script(Say(calls=calls))
    ids = [done.tool_call_id for done in done_in(await ask(model, replace(HELLO, tools=(SEARCH,))))]
    assert len(set(ids)) == 2
    assert all(ids)


async def test_reasoning_is_told_apart_from_the_answer(model, loopback):
    await loopback.script(Say(reasoning="Let me see.", text="Yes."))
    events = await ask(model)
    assert ReasoningDelta(text="Let me see.") in events
    assert text_in(events) == "Yes."


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "content-filter")],
)
async def test_why_an_answer_ended_is_told(model, loopback, finish, reason):
    await loopback.script(Say(text="so far", finish=finish))
    assert (await ask(model))[-1].reason == reason


async def test_an_answer_without_a_word_is_an_answer(model, loopback):
    await loopback.script(Say())
    assert [event.reason for event in await ask(model)] == ["stop"]


async def test_a_server_that_does_not_count_tokens_costs_no_answer(model, loopback):
    await loopback.script(Say(text="free", fault="no_usage"))
    assert text_in(await ask(model)) == "free"


async def test_the_whole_conversation_reaches_the_server(model, loopback):
    call = ToolCallPart(tool_call_id="call_1", tool_name="search", args={"words": "x"})
    result = ToolResultPart(tool_call_id="call_1", tool_name="search", result={"hits": 2})
    await ask(
        model,
        ModelRequest(
            messages=(
                PromptMessage(role="system", content="Be brief."),
                PromptMessage(role="user", content="look"),
                PromptMessage(role="assistant", tool_calls=(call,)),
                PromptMessage(role="tool", tool_result=result),
            ),
            tools=(SEARCH,),
            tool_choice="search",
            settings={"temperature": 0.5},
        ),
    )
    (body,) = loopback.requests()
    assert [message["role"] for message in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert body["messages"][3]["content"] == '{"hits": 2}'
    assert body["model"] == "loopback-1"
    assert body["temperature"] == 0.5
    assert body["tool_choice"] == {"type": "function", "function": {"name": "search"}}


async def test_options_of_another_provider_are_left_out(model, loopback):
    options = {"openai": {"reasoningEffort": "low"}, "anthropic": {"cacheControl": {"type": "x"}}}
    message = PromptMessage(role="user", content="hello", provider_options=options)
    await ask(model, ModelRequest(messages=(message,)))
    (body,) = loopback.requests()
    assert body["reasoning_effort"] == "low"
    assert "cache" not in str(body)


async def test_closing_the_answer_ends_the_request_at_the_server(model, loopback):
    await loopback.script(Say(text=["first ", "second"], stall_between=30))
    async with aclosing(model.stream(HELLO)) as events:
        await anext(events)
    assert await eventually(loopback.ends) == ["client_gone"]


async def test_cancelling_who_waits_ends_the_request_at_the_server(model, loopback):
    await loopback.script(Say(text="late", stall_first=30))
    waiting = asyncio.create_task(ask(model), name="waiting")
    await eventually(loopback.requests)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await eventually(loopback.ends) == ["client_gone"]


@pytest.mark.parametrize(
    ("say", "deadlines", "words"),
    [
        (Say(text="x", stall_first=30), {"first_token": SHORT}, "first token"),
        (Say(text=["x", "y"], stall_between=30), {"between_chunks": SHORT}, "next chunk"),
        (Say(text=["x"] * 999, stall_between=0.02), {"total": SHORT * 2}, "end of the answer"),
    ],
    ids=["nothing comes", "it stalls", "it trickles"],
)
async def test_a_slow_answer_is_ended_by_our_own_deadline(model, loopback, say, deadlines, words):
    await loopback.script(say)
    with pytest.raises(ModelTimeout, match=words) as caught:
        await ask(model, within(**deadlines))
    assert caught.value.retryable
    assert await eventually(loopback.ends) == ["client_gone"]


async def test_the_time_a_reader_takes_is_not_the_models(model, loopback):
    await loopback.script(Say(text=["a", "b", "c"]))
    async with aclosing(model.stream(within(between_chunks=SHORT))) as events:
        await anext(events)
        await asyncio.sleep(SHORT.total_seconds() * 1.5)
        assert text_in([event async for event in events]) == "bc"


@pytest.mark.parametrize("fault", ["endless", "huge"])
async def test_a_runaway_answer_is_refused(model, loopback, fault):
    await loopback.script(Say(text="again and again ", fault=fault))
    with pytest.raises(ModelOutputError) as caught:
        await ask(model, replace(HELLO, caps=OutputCaps(characters=6_000)))
    assert not caught.value.retryable


async def test_too_many_calls_are_refused(model, loopback):
    await loopback.script(Say(calls=[Call(name="search")] * 5))
    with pytest.raises(ModelOutputError, match="more than 4 tool calls"):
        await ask(model, replace(HELLO, tools=(SEARCH,), caps=OutputCaps(tool_calls=4)))


@pytest.mark.parametrize("fault", ["cut", "error_in_stream"])
async def test_an_answer_that_breaks_off_may_be_asked_for_again(model, loopback, fault):
    await loopback.script(Say(text="half of", fault=fault))
    with pytest.raises(ModelError) as caught:
        await ask(model)
    assert caught.value.retryable


async def test_json_that_cannot_be_read_is_an_output_error(model, loopback):
    await loopback.script(Say(text="half of", fault="broken_json"))
    with pytest.raises(ModelOutputError, match="cannot be read"):
        await ask(model)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, ModelError, False),
        (401, ModelAuthError, False),
        (403, ModelAuthError, False),
        (404, ModelError, False),
        (429, ModelRateLimited, True),
        (500, ModelError, True),
        (503, ModelError, True),
    ],
)
async def test_a_refusal_says_what_it_means(model, loopback, status, kind, retryable):
    await loopback.script(Say(status=status, error={"message": "The reason why."}))
    with pytest.raises(ModelError, match="The reason why") as caught:
        await ask(model)
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable
    assert NAME in str(caught.value)
    assert len(loopback.requests()) == 1


async def test_a_busy_server_is_believed_how_long_to_wait(model, loopback):
    await loopback.script(Say(status=429, retry_after="7"))
    with pytest.raises(ModelRateLimited) as caught:
        await ask(model)
    assert caught.value.retry_after == 7


async def test_a_key_is_in_no_error(model, loopback):
    text = f"Incorrect API key provided: {loopback.key}; so is sk-proj-abc123456789."
    await loopback.script(Say(status=401, error={"message": text}))
    with pytest.raises(ModelAuthError, match="Incorrect API key provided") as caught:
        await ask(model)
    assert loopback.key not in str(caught.value)
    assert "abc123456789" not in str(caught.value)


async def test_a_prompt_the_real_server_refuses_is_refused_with_its_words(model, loopback):
    call = ToolCallPart(tool_call_id="call_9", tool_name="search", args={})
    messages = (*HELLO.messages, PromptMessage(role="assistant", tool_calls=(call,)))
    with pytest.raises(ModelError, match="did not have response messages: call_9") as caught:
        await ask(model, ModelRequest(messages=messages))
    assert not caught.value.retryable


async def test_a_server_that_is_away_may_come_back(loopback, free_port):
    keys = {"OPENAI_API_KEY": SecretStr("x")}
    base = f"http://127.0.0.1:{free_port}/v1"
    for client in ("direct", "litellm"):
        registry = ModelRegistry(ModelSettings(client=client, api_base=base, keys=keys))
        with pytest.raises(ModelError) as caught:
            await ask(registry.model(NAME))
        assert caught.value.retryable
        await registry.aclose()


async def test_many_answers_at_once_share_one_client(model, loopback):
    await loopback.otherwise(Say(text=["a", "b"], stall_between=0.2))
    answers = await asyncio.gather(*(ask(model) for _ in range(8)))
    assert [text_in(events) for events in answers] == ["ab"] * 8
