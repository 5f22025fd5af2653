"""Prompts in the form of the OpenAI protocol."""

import base64
import json

import pytest
from structlog.testing import capture_logs

from adapters.models.prompt import render_message, render_request, render_tool, request_options
from core.messages import FilePart, TextPart, ToolCallPart, ToolResultPart
from core.ports.model import ModelRequest, PromptMessage, ToolSpec

LOOK = ToolSpec(name="look", description="Look.", parameters={})


def user(content="hi", **options):
    return PromptMessage(role="user", content=content, provider_options=options)


def wire(message, provider="openai"):
    return render_message(message, provider)


def arguments(args):
    call = ToolCallPart(tool_call_id="c1", tool_name="look", args=args)
    (sent,) = wire(PromptMessage(role="assistant", tool_calls=(call,)))["tool_calls"]
    return json.loads(sent["function"]["arguments"])


def result(value):
    part = ToolResultPart(tool_call_id="c1", tool_name="look", result=value)
    return wire(PromptMessage(role="tool", tool_result=part))


def body(**fields):
    return render_request(
        ModelRequest(messages=(user(),), **fields), model="gpt-5", provider="openai"
    )


def test_a_request_always_streams_and_counts_tokens():
    assert body() == {
        "model": "gpt-5",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_settings_are_passed_on_but_replace_nothing_that_must_be():
    sent = body(settings={"temperature": 0, "stream": False, "messages": [], "model": "other"})
    assert sent["temperature"] == 0
    assert (sent["stream"], sent["model"], len(sent["messages"])) == (True, "gpt-5", 1)


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_a_word_of_choice_stays_a_word(choice):
    assert body(tools=(LOOK,), tool_choice=choice)["tool_choice"] == choice


def test_any_other_choice_names_the_tool():
    chosen = body(tools=(LOOK,), tool_choice="look")["tool_choice"]
    assert chosen == {"type": "function", "function": {"name": "look"}}


def test_without_tools_there_is_no_choice():
    assert "tool_choice" not in body(tool_choice="required")


def test_a_tool_without_input_takes_an_empty_object():
    parameters = render_tool(LOOK)["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("args", "sent"),
    [
        ({"words": "ä"}, {"words": "ä"}),
        (None, {}),
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": ', {"unreadable_arguments": '{"a": '}),
        ([1], {"unreadable_arguments": [1]}),
    ],
)
def test_arguments_go_out_as_an_object_whatever_the_model_wrote(args, sent):
    assert arguments(args) == sent


@pytest.mark.parametrize(
    ("value", "text"),
    [("plain", "plain"), ({"hits": 2}, '{"hits": 2}'), (None, "null"), (["ä"], '["ä"]')],
)
def test_a_result_is_text_or_json(value, text):
    assert result(value) == {"role": "tool", "tool_call_id": "c1", "content": text}


def test_an_assistant_that_only_calls_says_nothing():
    call = ToolCallPart(tool_call_id="c1", tool_name="look", args={})
    assert wire(PromptMessage(role="assistant", tool_calls=(call,)))["content"] is None
    assert wire(PromptMessage(role="assistant", content="Done."))["content"] == "Done."


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (TextPart(text="hi"), {"type": "text", "text": "hi"}),
        (
            FilePart(data="QUJD", media_type="image/png"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        ),
        (
            FilePart(data="https://x.test/a.png", media_type="image/png"),
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        ),
        (
            FilePart(data="https://x.test/a.pdf", media_type="application/pdf", filename="a.pdf"),
            {"type": "text", "text": "[file a.pdf, application/pdf: https://x.test/a.pdf]"},
        ),
        (
            FilePart(data="QUJD", media_type="application/pdf", filename="a.pdf"),
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"},
            },
        ),
        (
            FilePart(data="QUJD", media_type="audio/wav"),
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
        ),
    ],
    ids=lambda value: getattr(value, "media_type", ""),
)
def test_a_part_goes_out_in_its_own_form(part, sent):
    assert wire(user((part,)))["content"] == [sent]


def test_a_text_file_is_read_to_the_model():
    data = base64.b64encode("größer".encode()).decode()
    part = FilePart(data=data, media_type="text/plain", filename="a.txt")
    (sent,) = wire(user((part,)))["content"]
    assert sent["text"] == "[file a.txt, text/plain]\ngrößer"


def test_a_broken_text_file_is_named_and_nothing_more():
    part = FilePart(data="%%%", media_type="text/plain")
    (sent,) = wire(user((part,)))["content"]
    assert sent["text"].endswith("(its contents are unreadable)")


@pytest.mark.parametrize("key", ["reasoningEffort", "reasoning_effort"])
def test_either_spelling_of_an_option_is_understood(key):
    assert request_options([user(openai={key: "low"})], "openai") == {"reasoning_effort": "low"}


def test_the_last_message_decides_about_the_request():
    messages = [user(openai={"reasoningEffort": effort}) for effort in ("low", "high")]
    assert request_options(messages, "openai") == {"reasoning_effort": "high"}


def test_an_unknown_option_is_logged_and_passed_on():
    with capture_logs() as logs:
        found = request_options([user(openai={"serviceTier": "flex"})], "openai")
    assert found == {"service_tier": "flex"}
    assert logs[0]["option"] == "service_tier"


def test_cache_control_stays_on_its_own_message():
    mark = {"type": "ephemeral"}
    marked = user("long text", anthropic={"cacheControl": mark})
    (part,) = wire(marked, "anthropic")["content"]
    assert part == {"type": "text", "text": "long text", "cache_control": mark}
    assert request_options([marked], "anthropic") == {}


def test_cache_control_marks_the_last_of_several_parts():
    parts = (TextPart(text="a"), TextPart(text="b"))
    sent = wire(user(parts, anthropic={"cache_control": {"type": "x"}}), "anthropic")["content"]
    assert [list(part) for part in sent] == [["type", "text"], ["type", "text", "cache_control"]]


def test_another_providers_options_are_ignored():
    assert wire(user("x", anthropic={"cacheControl": {}}), "openai")["content"] == "x"
    assert request_options([user(google={"thinkingConfig": 1})], "openai") == {}
