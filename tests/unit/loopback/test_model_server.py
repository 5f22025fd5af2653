"""The model on loopback refuses what the real one refuses, and says what it was told to say."""

import json

import aiohttp
import pytest

from tests.loopback.model import Call, LoopbackModel, Rule, Say, running_model
from tests.loopback.model.checks import Refusal, check_body
from tests.loopback.model.script import Book, last_text, rule_from, say_from, to_json
from tests.support import eventually

HELLO = {"model": "x", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_model(tmp_path_factory.mktemp("model")) as model:
        yield model


@pytest.fixture
async def loopback(server) -> LoopbackModel:
    await server.reset()
    return server


def prompt(*messages, **fields):
    return {"model": "x", "messages": list(messages)} | fields


def user(text="hello"):
    return {"role": "user", "content": text}


def called(*ids):
    function = {"name": "look", "arguments": "{}"}
    calls = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id="c1", text="found"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name="look", **parameters):
    schema = {"type": "object"} | parameters
    return {"type": "function", "function": {"name": name, "parameters": schema}}


async def ask(loopback, body, key=None):
    headers = {"Authorization": f"Bearer {key or loopback.key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{loopback.base_url}/chat/completions", json=body) as answer,
    ):
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    "body",
    [
        HELLO,
        prompt(user(), called("c1", "c2"), told("c2"), told("c1"), user("and?")),
        prompt({"role": "user", "content": [{"type": "text", "text": "hi"}]}),
        prompt(user(), tools=[tool()], tool_choice="required"),
        prompt(user(), tools=[tool()], tool_choice={"function": {"name": "look"}}),
        prompt(user(), stream=True, stream_options={"include_usage": True}),
    ],
)
def test_a_sound_body_passes(body):
    check_body(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "parse the JSON"),
        ([], "parse the JSON"),
        ({"messages": [user()]}, "model parameter"),
        (prompt(), "too short"),
        (prompt({"role": "robot", "content": "x"}), "role"),
        (prompt({"role": "user"}), "got null"),
        (prompt({"role": "user", "content": []}), "Invalid value"),
        (prompt({"role": "user", "content": [{"type": "smell"}]}), "Invalid value"),
        (prompt({"role": "user", "content": 5}), "Invalid type"),
        (prompt(user(), told()), "preceeding message"),
        (prompt(user(), called("c1")), "did not have response messages: c1"),
        (prompt(user(), called("c1", "c2"), told("c1"), user()), "response messages: c2"),
        (prompt(user(), called("c1"), told("c1"), told("c1")), "preceeding message"),
        (prompt(user(), called("c1", "c1"), told(), told()), "Duplicate"),
        (prompt(user(), called(""), told("")), "Invalid tool call"),
        (prompt(user(), tools=[]), "too short"),
        (prompt(user(), tools=[{"name": "look"}]), "Missing required"),
        (prompt(user(), tools=[tool("a b")]), "does not match pattern"),
        (prompt(user(), tools=[tool(type="array")]), "Invalid schema"),
        (prompt(user(), tool_choice="auto"), "only allowed when 'tools'"),
        (prompt(user(), tools=[tool()], tool_choice={"function": {"name": "x"}}), "Tool choice"),
        (prompt(user(), stream_options={}), "only allowed when 'stream'"),
    ],
)
def test_an_unsound_body_is_refused_in_the_real_servers_words(body, words):
    with pytest.raises(Refusal, match=words) as caught:
        check_body(body)
    error = caught.value.body()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"


async def test_a_refusal_reaches_the_client_and_the_journal(loopback):
    status, text = await ask(loopback, prompt(user(), told()))
    assert status == 400
    assert "preceeding" in json.loads(text)["error"]["message"]
    assert loopback.ends() == ["refused"]


async def test_a_foreign_key_is_refused(loopback):
    status, text = await ask(loopback, HELLO, key="sk-foreign")
    assert status == 401
    assert json.loads(text)["error"]["code"] == "invalid_api_key"


async def test_without_a_stream_the_answer_is_one_document(loopback):
    await loopback.script(Say(text="hi", calls=[Call(name="look")], usage=(3, 4)))
    _, text = await ask(loopback, HELLO)
    document = json.loads(text)
    assert document["choices"][0]["message"]["content"] == "hi"
    assert document["choices"][0]["finish_reason"] == "tool_calls"
    assert document["usage"]["total_tokens"] == 7


async def test_a_stream_ends_with_done_and_counts_only_when_asked(loopback):
    _, plain = await ask(loopback, HELLO | {"stream": True})
    _, counted = await ask(
        loopback, HELLO | {"stream": True, "stream_options": {"include_usage": True}}
    )
    assert plain.endswith("data: [DONE]\n\n")
    assert '"usage"' not in plain
    assert '"usage"' in counted


async def test_answers_are_given_in_the_order_they_were_queued(loopback):
    await loopback.script("one", "two")
    answers = [await ask(loopback, HELLO) for _ in range(3)]
    for (_, text), words in zip(answers, ("one", "two", "Understood."), strict=True):
        assert words in text


async def test_a_rule_answers_by_what_was_asked_and_how_far_it_came(loopback):
    await loopback.rule("deploy", Say(calls=[Call(name="look")]), "It is out.")
    _, first = await ask(loopback, prompt(user("please DEPLOY it")))
    _, second = await ask(loopback, prompt(user("deploy"), called("c1"), told()))
    _, other = await ask(loopback, prompt(user("hello")))
    assert "tool_calls" in first
    assert "It is out." in second
    assert "Understood." in other


async def test_a_rule_may_ask_for_the_last_result_too(loopback):
    await loopback.rule("deploy", "Rejected, then.", result="not approved")
    _, text = await ask(loopback, prompt(user("deploy"), called("c1"), told(text="not approved")))
    assert "Rejected, then." in text


async def test_what_is_said_otherwise_can_be_set(loopback):
    await loopback.otherwise(Say(text="Busy."))
    assert "Busy." in (await ask(loopback, HELLO))[1]


async def test_requests_and_prompts_are_kept_until_the_reset(loopback):
    await ask(loopback, HELLO)
    assert loopback.requests() == [HELLO]
    assert loopback.prompts() == ["hello"]
    await loopback.reset()
    assert loopback.requests() == []


async def test_who_leaves_during_a_silence_is_noticed(loopback):
    await loopback.script(Say(text="late", stall_first=30))
    with pytest.raises(TimeoutError):
        async with aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {loopback.key}"},
            timeout=aiohttp.ClientTimeout(total=0.2),
        ) as session:
            await session.post(f"{loopback.base_url}/chat/completions", json=HELLO)
    assert await eventually(loopback.ends) == ["client_gone"]


async def test_rules_of_the_start_survive_a_reset(tmp_path):
    rules = [Rule(when="hello", say=[Say(text="From the file.")])]
    async with LoopbackModel(tmp_path, rules=rules) as model:
        await model.reset()
        assert "From the file." in (await ask(model, HELLO))[1]
        assert model.environment()["INTERLOCK_MODEL_API_BASE"] == model.base_url


def test_the_newest_rule_wins_over_an_older_one():
    book = Book([Rule(when="", say=[Say(text="old")])])
    book.rules.append(Rule(when="", say=[Say(text="new")]))
    assert book.next([user()]).text == "new"


def test_scripts_survive_the_way_to_the_server():
    say = Say(text=["a"], calls=[Call(name="x", arguments={"a": 1})], usage=(1, 2), fault="cut")
    rule = Rule(when="w", say=[say], result="r")
    assert say_from(json.loads(json.dumps(to_json(say)))) == say
    assert rule_from(json.loads(json.dumps(to_json(rule)))) == rule


def test_the_last_text_of_a_role_is_found_in_any_form():
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}
    assert last_text([user("old"), parts, called("c1")], "user") == "a\n"
    assert last_text([called("c1")], "assistant") == ""
    assert last_text([], "tool") == ""
