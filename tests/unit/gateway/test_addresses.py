"""Addresses: which texts are ids, which name a channel, and how the parts are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversation import Conversation
from core.errors import InvalidConfig
from gateway.addresses import channel_id, check_approver, check_channel, check_id, parse_address

PEOPLE = [
    "slack:T0001:U0001",
    "slack:E0001:W0001",
    "slack:T0001:S0009",
    "slack:T0001:*",
    "discord:9001:user/5",
    "discord:9001:role/7",
    "discord:@me:user/5",
    "discord:9001:*",
    "console:local:ada",
    "console:local:a%3Ab",
    "console:local:花子",
    "console:local:*",
    "api:token",
]
CHANNELS = [
    "slack:T0001:C0001",
    "slack:T0001:G0001",
    "slack:T0001:D0001",
    "discord:9001:channel/5",
    "console:local:main",
]
NEITHER = [
    "",
    "*",
    "@ada",
    "ada",
    "#general",
    "slack:*",
    "slack:*:*",
    "slack:T1",
    "slack:acme:U1",
    "slack:Team:Ursula",
    "slack:T0001:general",
    "slack:T0001:General",
    "slack:T0001:U1*",
    "slack:T0001:U1:x",
    "slack:T0001:U0001\n",
    "discord:acme:user/5",
    "discord:9001:5",
    "discord:9001:user/ada",
    "discord:9001:user/*",
    "discord:9001:guild/1",
    "console:elsewhere:ada",
    "console:local:a b",
    "console:local:a%zz",
    "api:*",
    "api:ci",
    "teams:T1:U1",
]


@pytest.mark.parametrize("text", PEOPLE + CHANNELS)
def test_an_id_is_taken_as_it_is(text):
    assert check_id(text) == text


@pytest.mark.parametrize("text", NEITHER)
def test_a_name_or_a_wild_pattern_is_no_id(text):
    with pytest.raises(ValueError, match="is not an id: use slack:T"):
        check_id(text)


def test_everyone_in_a_guild_may_not_approve():
    assert check_approver("discord:9001:role/7") == "discord:9001:role/7"
    assert check_id("discord:9001:role/9001") == "discord:9001:role/9001"
    with pytest.raises(ValueError, match="role of everyone"):
        check_approver("discord:9001:role/9001")
    with pytest.raises(ValueError, match="is not an id"):
        check_approver("@ada")


@pytest.mark.parametrize("text", CHANNELS)
def test_a_channel_is_an_address_and_back(text):
    assert check_channel(text) == text
    address = parse_address(text)
    assert address.root == "-"
    assert channel_id(address) == text


@pytest.mark.parametrize(
    "text", [*NEITHER, "slack:T1:U1", "slack:T1:*", "discord:9:role/1", "api:token"]
)
def test_what_names_no_channel_is_told_how_to(text):
    with pytest.raises(InvalidConfig, match="names no channel: use slack:T"):
        parse_address(text)


def test_the_console_star_is_everybody_and_no_channel():
    with pytest.raises(InvalidConfig, match="names no channel"):
        parse_address("console:local:*")


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_two_channels_are_written_the_same(one, other):
    """PB-049."""
    pair = [Conversation(platform="console", tenant="local", channel=name) for name in (one, other)]
    assert (channel_id(pair[0]) == channel_id(pair[1])) == (one == other)
    assert channel_id(pair[0]).count(":") == 2


def test_a_part_with_a_colon_is_written_escaped_and_read_back():
    conversation = Conversation(platform="console", tenant="local", channel="a:b")
    assert channel_id(conversation) == "console:local:a%3Ab"
    assert parse_address("console:local:a%3Ab") == conversation
