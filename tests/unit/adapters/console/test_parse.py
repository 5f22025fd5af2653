import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.bodies import DecisionBody, MessageBody, NotificationBody, ResumeBody
from adapters.console.parse import (
    Ask,
    Caller,
    event_key,
    parse_body,
    parse_decision,
    parse_id,
    parse_key,
    parse_message,
    parse_notification,
    parse_number,
    parse_resume,
    signed,
)
from core.conversation import Person
from core.errors import InvalidInput
from core.ids import thread_key

ADA = Person(id="console:local:ada", name="Ada", platform="console")
AT_CONSOLE = Caller(person=ADA, at_console=True)
PROGRAM = Caller(person=Person(id="api:token"))
KEY = thread_key("console:local", "main")


def ask(caller=PROGRAM, idempotency=None):
    return Ask(key=KEY, caller=caller, idempotency=idempotency)


@pytest.mark.parametrize("text", ["", "x" * 256, "a\0b", "a\nb", "a\x7fb", "\ud800"])
def test_an_id_that_could_do_harm_is_refused(text):
    with pytest.raises(InvalidInput) as refusal:
        parse_id("threadId", text)
    assert "threadId" in refusal.value.fields


@pytest.mark.parametrize("text", ["main", "a/b", "ü ñ 日本", "%41", "x" * 255])
def test_an_id_may_be_any_readable_text(text):
    assert parse_key(text, text) == thread_key(text, text)


@pytest.mark.parametrize(
    ("text", "number"), [(None, 7), ("0", 0), ("12", 12), ("9" * 18, 500)], ids=str
)
def test_a_count_has_a_default_and_a_ceiling(text, number):
    assert parse_number("limit", text, default=7, most=500) == number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "١٢", "9" * 19, " 1"])
def test_a_count_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_number("after", text, default=0, most=10)


def test_keys_of_different_threads_and_kinds_never_meet():
    one = Ask(key=thread_key("a:b", "c"), caller=PROGRAM, idempotency="k")
    other = Ask(key=thread_key("a", "b:c"), caller=PROGRAM, idempotency="k")
    keys = {event_key(one, None), event_key(other, None), event_key(one, None, "notifications")}
    assert len(keys) == 3


def test_the_header_beats_the_id_in_the_body():
    assert event_key(ask(idempotency="h"), "b") == "api:console%3Alocal:main:h"
    assert event_key(ask(), "b") == "api:console%3Alocal:main:b"
    assert event_key(ask(), None) is None


def test_a_key_with_a_control_character_is_refused():
    with pytest.raises(InvalidInput):
        event_key(ask(idempotency="a\x01"), None)


def test_a_message_is_of_type_user_and_keeps_what_was_sent():
    body = MessageBody(contents="x", type="state", tag_name="t", metadata={"a": 1}, queue=True)
    inbound = parse_message(body, ask())
    assert inbound.spec == {
        "contents": "x",
        "metadata": {"a": 1},
        "type": "user",
        "tagName": "user",
    }
    assert inbound.own_turn
    assert inbound.event_key is None


def test_null_attributes_are_kept_for_core_to_judge():
    body = parse_body(MessageBody, {"contents": "x", "attributes": {"a": None}})
    assert parse_message(body, ask()).spec["attributes"] == {"a": None}


def test_branches_keep_their_words_and_lose_a_forged_name():
    read = {
        "contents": "x",
        "ifActive": {"behavior": "persist", "attributes": {"id": "root", "late": 1}},
        "ifIdle": {"streamOptions": {"maxSteps": 3}},
    }
    inbound = parse_message(parse_body(MessageBody, read), ask(AT_CONSOLE))
    assert inbound.if_active == {"behavior": "persist", "attributes": {"late": 1}}
    assert inbound.if_idle == {"streamOptions": {"maxSteps": 3}}


names = st.text("abcdefmnori", min_size=1, max_size=5)


@given(st.dictionaries(names, st.integers()))
def test_at_the_console_nobody_writes_under_another_name(attributes):
    given_back = signed({"attributes": attributes}, AT_CONSOLE)["attributes"]
    assert list(given_back)[:3] == ["name", "from", "id"]
    assert given_back["id"] == "console:local:ada"
    assert {**attributes, **given_back} == given_back


@given(st.dictionaries(names, st.integers()))
def test_a_program_writes_what_it_likes(attributes):
    assert signed({"attributes": attributes}, PROGRAM) == {"attributes": attributes}


def test_a_notification_has_a_key_of_its_own():
    body = NotificationBody(source="github", kind="ci", summary="red", id="n1")
    inbound = parse_notification(body, ask())
    assert inbound.event_key == "api:console%3Alocal:main:notifications:n1"
    assert inbound.spec == {"id": "n1", "source": "github", "kind": "ci", "summary": "red"}


def test_a_decision_is_made_at_the_threads_place_in_the_console():
    inbound = parse_decision(DecisionBody(action="rejected", feedback="  "), "tok", ask(AT_CONSOLE))
    assert inbound.conversation.key == "console:local:main:-"
    assert (inbound.token, inbound.feedback, inbound.sender) == ("tok", None, ADA)
    assert inbound.event_key


@pytest.mark.parametrize("data", [None, False, 0, "", []], ids=repr)
def test_falsy_resume_data_is_data(data):
    body = parse_body(ResumeBody, {"data": data})
    assert parse_resume(body, "run_1", PROGRAM).data == data


def test_a_resume_without_data_is_refused():
    with pytest.raises(InvalidInput) as refusal:
        parse_body(ResumeBody, {"toolCallId": "c"})
    assert refusal.value.fields == {"data": "Field required"}


def test_many_wrong_fields_are_told_in_a_bounded_way():
    with pytest.raises(InvalidInput) as refusal:
        parse_body(MessageBody, {f"x{number}": 1 for number in range(500)})
    assert len(refusal.value.fields) == 20
