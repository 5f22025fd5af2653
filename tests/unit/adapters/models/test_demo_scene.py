"""What the demo model reads out of a prompt."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.demo_scene import Done, Event, Said, read_scene, read_text
from core.messages import TextPart, ToolCallPart, ToolResultPart
from core.ports.model import PromptMessage


def user(content):
    return PromptMessage(role="user", content=content)


def called(*, args=None, result="ok", call_id="c1"):
    call = ToolCallPart(tool_call_id=call_id, tool_name="look", args=args)
    outcome = ToolResultPart(tool_call_id=call_id, tool_name="look", result=result)
    return [
        PromptMessage(role="assistant", tool_calls=(call,)),
        PromptMessage(role="tool", tool_result=outcome),
    ]


@pytest.mark.parametrize(
    ("text", "beats"),
    [
        ("hello", [Said(name=None, text="hello")]),
        ('<user name="Ada">hi &lt;b&gt; &amp; you</user>', [Said(name="Ada", text="hi <b> & you")]),
        ('<user name="A &quot;B&quot; C">x</user>', [Said(name='A "B" C', text="x")]),
        ('<user from="slack">x</user>', [Said(name=None, text="x")]),
        (
            '<user name="Ada">a\nb</user>\n<user name="Bob">c</user>',
            [Said(name="Ada", text="a\nb"), Said(name="Bob", text="c")],
        ),
        (
            "<notification>down</notification>",
            [Event(tag="notification", attributes={}, text="down")],
        ),
        ('<state k="v" />', []),
        ("<system-reminder>be brief</system-reminder> and go", [Said(name=None, text="and go")]),
        ("1 < 2 and <b> stays", [Said(name=None, text="1 < 2 and <b> stays")]),
        ("", []),
    ],
)
def test_a_message_is_read_element_by_element(text, beats):
    assert list(read_text(text)) == beats


@given(st.text(max_size=40).filter(str.strip), st.text(min_size=1, max_size=10))
def test_what_was_escaped_is_read_back_word_for_word(text, name):
    message = f'<user name="{html.escape(name)}">{html.escape(text, quote=False)}</user>'
    assert list(read_text(message)) == [Said(name=name, text=text.strip())]


def test_the_turn_begins_after_the_last_answer_without_calls():
    messages = [
        user("old"),
        *called(),
        PromptMessage(role="assistant", content="Done."),
        user("new"),
    ]
    scene = read_scene(messages)
    assert scene.beats == (Said(name=None, text="new"),)
    assert not scene.first_turn


def test_who_speaks_while_it_works_is_late():
    scene = read_scene([user("first"), *called(), user("second")])
    assert [(said.text, said.late) for said in scene.said] == [("first", False), ("second", True)]


def test_a_result_is_paired_with_what_it_was_asked_for():
    messages = [*called(args='{"a": 1}', result='{"b": 2}'), *called(args="broken", call_id="c2")]
    first, second = read_scene(messages).done
    assert (first.args, first.value) == ({"a": 1}, {"b": 2})
    assert (second.args, second.value) == ({}, "ok")


def test_text_parts_are_read_and_the_system_is_not():
    parts = (TextPart(text="one"), TextPart(text="two"))
    scene = read_scene([PromptMessage(role="system", content="rules"), user(parts)])
    assert [said.text for said in scene.said] == ["one\ntwo"]


@pytest.mark.parametrize(
    ("result", "words"),
    [("text", "text"), ({"content": "inner", "isError": False}, "inner"), ({"a": 1}, '{"a": 1}')],
)
def test_a_result_has_words_in_any_form(result, words):
    assert Done(tool="x", args={}, result=result).words == words
