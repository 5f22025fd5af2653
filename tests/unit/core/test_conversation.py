"""Conversations: addresses that never meet, and unions that know their kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from core.conversation import Card, Conversation, DigestCard, Inbound, Notice, Outgoing, Reply

PART = st.text("ab:/%-", max_size=5)
ADDRESSES = st.builds(Conversation, platform=PART, tenant=PART, channel=PART, root=PART)
OUTGOING = TypeAdapter(Outgoing)


def test_a_channel_itself_is_the_address_with_a_dash():
    assert Conversation(platform="slack", tenant="T1", channel="C1").key == "slack:T1:C1:-"


def test_an_address_with_strange_parts_stays_one_address():
    place = Conversation(platform="slack", tenant="T:1", channel="C/1", root="1.5%")
    assert place.key == "slack:T%3A1:C%2F1:1.5%25"


@given(first=ADDRESSES, second=ADDRESSES)
def test_two_addresses_share_a_key_only_if_they_are_one(first, second):
    assert (first.key == second.key) is (first == second)


@pytest.mark.parametrize(
    "payload",
    [
        Reply(text="hi"),
        Notice(text="wait", to="slack:T:U"),
        Card(token="t", title="A plan", body="do it"),
        DigestCard(title="Today", lines=("one",), more=3),
    ],
    ids=lambda payload: payload.kind,
)
def test_what_goes_out_is_read_back_as_what_it_was(payload):
    assert OUTGOING.validate_json(OUTGOING.dump_json(payload)) == payload


def test_stored_names_are_camel_case_and_unknown_ones_are_refused():
    stored = {"kind": "stop", "eventKey": "e", "conversation": {}, "sender": {"id": "x"}}
    place = {"platform": "test", "tenant": "T", "channel": "C"}
    read = TypeAdapter(Inbound).validate_python({**stored, "conversation": place})
    assert (read.kind, read.event_key) == ("stop", "e")
    with pytest.raises(ValidationError, match="colour"):
        TypeAdapter(Inbound).validate_python({**stored, "conversation": place, "colour": 1})
