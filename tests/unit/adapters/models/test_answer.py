"""Answers put together from chunks, tidy or not."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.answer import Answer, chunk_of_document
from core.errors import ModelError, ModelOutputError
from core.messages import ToolCallPart
from core.ports.model import (
    Finish,
    ModelRequest,
    OutputCaps,
    PromptMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
)

HELLO = ModelRequest(messages=(PromptMessage(role="user", content="hi"),))


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(name=None, arguments="", **fields):
    return delta(tool_calls=[{"function": {"name": name, "arguments": arguments}, **fields}])


def read(*chunks, request=HELLO, finish="stop"):
    answer = Answer(request)
    events = [event for chunk in chunks for event in answer.take(chunk)]
    answer.take(delta(finish=finish))
    return events + answer.close()


def calls(events):
    return [
        (event.tool_name, event.arguments) for event in events if isinstance(event, ToolCallDone)
    ]


def test_a_chunk_without_content_is_no_event():
    answer = Answer(HELLO)
    assert answer.take(delta(role="assistant", content="")) == []
    assert answer.take({"choices": []}) == []
    assert answer.take({}) == []


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_either_field_of_reasoning_is_heard(field):
    assert read(delta(**{field: "Hm."}))[0] == ReasoningDelta(text="Hm.")


def test_a_refusal_is_said_like_any_text():
    assert read(delta(refusal="I will not."))[0] == TextDelta(text="I will not.")


def test_text_in_parts_is_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read(delta(content=parts))[0] == TextDelta(text="ab")


def test_further_choices_are_left_alone():
    other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
    assert read(other) == [Finish(reason="stop")]


def test_arguments_before_the_name_follow_their_start():
    events = read(piece(arguments='{"a"', index=0, id="c"), piece("look", ": 1}", index=0))
    assert events[:3] == [
        ToolCallStart(tool_call_id="c", tool_name="look"),
        ToolCallDelta(tool_call_id="c", text='{"a"'),
        ToolCallDelta(tool_call_id="c", text=": 1}"),
    ]
    assert calls(events) == [("look", '{"a": 1}')]


@pytest.mark.parametrize(
    "chunks",
    [
        [piece("a", "1", index=0, id="x"), piece("b", "2", index=1, id="y")],
        [piece("a", "1", index=0, id="x"), piece("b", "2", index=0, id="y")],
        [piece("a", "1", id="x"), piece("b", "2", id="y")],
        [piece("a", "1"), piece("b", "2")],
        [
            piece("a", index=0),
            piece("b", index=1),
            piece(None, "2", index=1),
            piece(None, "1", index=0),
        ],
        [piece("a", id="x"), piece(None, "1"), piece("b", id="y"), piece(None, "2")],
        [piece("a", id="x"), piece("a", "1", id="x"), piece("b", "2", id="y")],
        [piece("a", index=0, id="x"), piece("a", "1", index=0), piece("b", "2", index=1)],
    ],
    ids=[
        "as it should be",
        "all have the index 0",
        "no index",
        "no index and no id",
        "interleaved",
        "pieces without index",
        "the name again with each piece",
        "the name again by index",
    ],
)
def test_two_calls_stay_two_calls(chunks):
    assert calls(read(*chunks)) == [("a", "1"), ("b", "2")]


def test_an_id_that_the_prompt_used_before_is_replaced():
    call = ToolCallPart(tool_call_id="call_0", tool_name="look", args={})
    request = ModelRequest(messages=(PromptMessage(role="assistant", tool_calls=(call,)),))
    events = read(piece("look", id="call_0", index=0), request=request)
    assert events[0].tool_call_id.startswith("call_")
    assert events[0].tool_call_id != "call_0"


def test_a_call_without_arguments_has_empty_ones():
    assert calls(read(piece("clock", index=0))) == [("clock", "{}")]


def test_a_call_without_a_name_is_an_output_error():
    with pytest.raises(ModelOutputError, match="without naming it"):
        read(piece(None, "{}", index=0))


@pytest.mark.parametrize(
    ("finish", "chunk", "reason"),
    [
        ("stop", piece("look", index=0), "tool-calls"),
        ("tool_calls", delta(content="x"), "stop"),
        ("function_call", piece("look", index=0), "tool-calls"),
        ("length", piece("look", index=0), "length"),
        ("content_filter", delta(content="x"), "content-filter"),
        ("eos", delta(content="x"), "other"),
    ],
)
def test_the_reason_is_made_to_fit_the_answer(finish, chunk, reason):
    assert read(chunk, finish=finish)[-1].reason == reason


def test_an_answer_without_its_end_was_cut_off():
    answer = Answer(HELLO)
    answer.take(delta(content="half"))
    with pytest.raises(ModelError, match="cut off") as caught:
        answer.close()
    assert caught.value.retryable


def test_nothing_at_all_is_no_answer():
    with pytest.raises(ModelOutputError, match="empty"):
        Answer(HELLO).close()


def test_reasoning_counts_against_the_cap_too():
    request = ModelRequest(messages=HELLO.messages, caps=OutputCaps(characters=4))
    with pytest.raises(ModelOutputError, match="longer than 4 characters"):
        read(delta(reasoning="abc"), delta(content="de"), request=request)


FIELDS = st.sampled_from(
    [
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "usage",
        "id",
        "index",
        "finish_reason",
        "prompt_tokens",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)
CALL = st.fixed_dictionaries({"function": st.dictionaries(FIELDS, JSON)}, optional={"id": JSON})
CHOICE = st.fixed_dictionaries(
    {"delta": st.fixed_dictionaries({"tool_calls": st.lists(CALL, max_size=3), "content": JSON})},
    optional={"finish_reason": JSON},
)


@given(
    st.dictionaries(FIELDS, JSON)
    | st.fixed_dictionaries({"choices": st.lists(CHOICE, max_size=2), "usage": JSON})
)
def test_a_chunk_of_any_shape_is_read_or_refused(chunk):
    with contextlib.suppress(ModelError):
        events = read(json.loads(json.dumps(chunk)))
        assert all(isinstance(event.text, str) for event in events if hasattr(event, "text"))
        assert all(isinstance(arguments, str) for _, arguments in calls(events))


def test_arguments_sent_as_an_object_become_text():
    assert calls(read(piece("look", {"a": 1}, index=0))) == [("look", '{"a": 1}')]


@pytest.mark.parametrize("document", [{}, {"choices": None}, {"choices": "x"}, {"choices": ["x"]}])
def test_a_document_without_an_answer_is_refused(document):
    with pytest.raises(ModelOutputError, match="no answer"):
        chunk_of_document(document)


def test_a_document_is_read_as_one_chunk():
    message = {"role": "assistant", "content": "whole"}
    chunk = chunk_of_document({"choices": [{"message": message}], "usage": {"prompt_tokens": 3}})
    answer = Answer(HELLO)
    assert answer.take(chunk) == [TextDelta(text="whole")]
    assert answer.close()[-1].usage.input_tokens == 3
