from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.sessions import (
    SESSIONS_KEPT,
    People,
    Sessions,
    clean_name,
    guest_named,
)
from adapters.console.settings import ConsoleSettings
from core.errors import InvalidInput
from core.testing import FakeClock

PEOPLE = ConsoleSettings().people


def sessions(clock=None):
    return Sessions(clock=clock or FakeClock(), first=PEOPLE[0])


def test_a_session_begins_as_the_first_of_the_people():
    table = sessions()
    session = table.open()
    assert table.find(session.id).person.name == "Ada"
    assert table.find("made up") is None
    assert table.find(None) is None


def test_a_session_may_speak_for_another_person():
    table = sessions()
    session = table.pick(table.open(), PEOPLE[1])
    assert table.find(session.id).person.id == "console:local:bob"


async def test_a_session_that_nobody_uses_ends_after_a_week():
    clock = FakeClock()
    table = sessions(clock)
    used, forgotten = table.open(), table.open()
    await clock.advance(timedelta(days=4))
    assert table.find(used.id)
    await clock.advance(timedelta(days=4))
    assert table.find(used.id)
    assert table.find(forgotten.id) is None


def test_the_table_of_sessions_is_bounded():
    table = sessions()
    first, *_ = [table.open() for _ in range(SESSIONS_KEPT + 1)]
    assert table.find(first.id) is None


def test_sessions_cannot_be_guessed():
    table = sessions()
    ids = {table.open().id for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 43


def test_a_new_name_makes_a_guest_who_is_known_from_then_on():
    people = People(PEOPLE)
    dana = people.meet("  Dana   Scully ")
    assert (dana.id, dana.name) == ("console:local:dana-scully", "Dana Scully")
    assert people.meet("dana scully") == dana
    assert people.find(dana.id) == dana
    assert dana in people.everyone()


def test_a_known_name_is_the_known_person():
    people = People(PEOPLE)
    assert people.meet("ADA") == people.meet("console:local:ada") == PEOPLE[0]


@pytest.mark.parametrize(
    "text", ["slack:T1:U2", "api:token", "console:local:nobody", "!!", "\u200b"]
)
def test_nobody_becomes_an_id_that_is_not_there(text):
    with pytest.raises(InvalidInput):
        People(PEOPLE).meet(text)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Zoë", "Zoë"),
        ("佐藤", "佐藤"),
        ("a\nb\tc", "a b c"),
        ("ev\u202eil", "evil"),
        ("x" * 100, "x" * 60),
        ("\ufb01sh", "fish"),
    ],
)
def test_a_name_is_cleaned_of_what_cannot_be_read(typed, name):
    assert clean_name(typed) == name


@given(st.text(max_size=80))
def test_a_guest_always_has_a_plain_id(text):
    try:
        guest = guest_named(text)
    except InvalidInput:
        return
    last = guest.id.removeprefix("console:local:")
    assert last
    assert ":" not in last
    assert "/" not in last
    assert last.isprintable()
    assert len(last.encode()) <= 60
