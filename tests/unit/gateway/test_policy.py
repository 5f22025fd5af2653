"""Policy: closed unless said; by id, by group, by channel, by tenant, and never by more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.approvals.suspension import Suspension
from core.conversation import Conversation, Person
from core.testing import NOON
from gateway.config import ChannelSection, PolicySection
from gateway.policy import Policy, matches

ADA, BOB = "slack:T1:U1", "slack:T1:U2"
STRANGER = "slack:T2:U1"
CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1", root="1.0")
GUILD = Conversation(platform="discord", tenant="9", channel="5")


def person(name, *groups):
    return Person(id=name, platform=name.split(":")[0], groups=groups)


def policy(*, dev=False, **rules):
    return Policy(section=PolicySection(**rules), dev=dev)


def waiting(kind="plan", conversation=CHANNEL):
    return Suspension(
        token="tok_1",
        kind=kind,
        run_id="run_1",
        tool_call_id="call_1",
        tool_name="submit_plan",
        thread_id="t1",
        resource_id="r1",
        agent_id="helper",
        conversation=conversation,
        created_at=NOON,
        expires_at=NOON,
    )


@pytest.mark.parametrize(
    ("talk", "who", "allowed"),
    [
        ((), ADA, False),
        ((ADA,), ADA, True),
        ((ADA,), BOB, False),
        ((ADA,), STRANGER, False),
        (("slack:T1:*",), BOB, True),
        (("slack:T1:*",), STRANGER, False),
        (("slack:T1:*",), "slack:T1:U1:x", False),
        (("slack:T1:*",), "slack:T1:", False),
        (("slack:T1:*",), "slack:T11:U1", False),
        (("slack:T1:*",), "discord:T1:U1", False),
        (("slack:T1:C1",), STRANGER, True),
        (("slack:T1:C2",), ADA, False),
        (("slack:T2:C1",), ADA, False),
        (("slack:T1:S9",), ADA, False),
        (("api:token",), "api:token", True),
        (("console:local:*",), "api:token", False),
        (("console:local:*",), "console:local:ada", True),
        (("console:local:*",), "console:elsewhere:ada", False),
    ],
)
def test_who_may_talk_in_the_channel(talk, who, allowed):
    assert policy(talk=talk).may_talk(person(who), CHANNEL) is allowed


def test_a_channel_admits_nobody_elsewhere():
    rules = policy(talk=("slack:T1:C1", "discord:9:channel/5"))
    stranger = person(STRANGER)
    assert rules.may_talk(stranger, CHANNEL)
    assert rules.may_talk(stranger, GUILD)
    assert not rules.may_talk(stranger, CHANNEL.model_copy(update={"tenant": "T2"}))
    assert not rules.may_talk(stranger, None)


@pytest.mark.parametrize("group", ["slack:T1:S9", "discord:9:role/7"])
def test_a_listed_group_lets_its_members_talk_and_decide(group):
    rules = policy(talk=(group,), approve=(group,))
    member, other = person(ADA, "slack:T1:S1", group), person(ADA, "slack:T1:S1")
    assert rules.may_talk(member, CHANNEL)
    assert rules.may_decide(member, waiting())
    assert not rules.may_talk(other, CHANNEL)
    assert not rules.may_decide(other, waiting())


def test_nobody_is_configured_so_nobody_may():
    rules = policy()
    for who in (ADA, "console:local:ada", "api:token", ""):
        assert not rules.may_talk(person(who), CHANNEL)
        assert not rules.may_decide(person(who), waiting())


def test_who_may_talk_may_not_decide_for_that():
    assert not policy(talk=(ADA,)).may_decide(person(ADA), waiting())
    assert not policy(talk=("slack:T1:C1",)).may_decide(person(ADA), waiting())


def test_a_channel_in_approve_lets_nobody_decide():
    assert not policy(approve=("slack:T1:C1",)).may_decide(person(ADA), waiting())


def channel(**more):
    return ChannelSection(id="slack:T1:C1", **more)


@pytest.mark.parametrize(
    ("approve", "ada", "bob"),
    [(None, True, False), ((BOB,), False, True), ((), False, False)],
    ids=["none of its own", "its own", "its own and empty"],
)
def test_a_channel_that_names_approvers_replaces_the_general_ones(approve, ada, bob):
    rules = policy(approve=(ADA,), channels=(channel(approve=approve),))
    assert rules.may_decide(person(ADA), waiting()) is ada
    assert rules.may_decide(person(BOB), waiting()) is bob


@pytest.mark.parametrize("place", [None, GUILD, CHANNEL.model_copy(update={"channel": "C2"})])
def test_elsewhere_the_general_approvers_decide(place):
    rules = policy(approve=(ADA,), channels=(channel(approve=(BOB,)),))
    assert rules.may_decide(person(ADA), waiting(conversation=place))
    assert not rules.may_decide(person(BOB), waiting(conversation=place))


def test_a_question_is_answered_by_whoever_may_talk():
    rules = policy(talk=(BOB,), approve=(ADA,))
    assert rules.may_decide(person(BOB), waiting(kind="question"))
    assert not rules.may_decide(person(ADA), waiting(kind="question"))
    assert not rules.may_decide(person(BOB), waiting(kind="approval"))


def test_dev_opens_the_console_and_nothing_else():
    rules = policy(dev=True, channels=(channel(approve=()),))
    assert rules.may_talk(person("console:local:ada"), None)
    assert rules.may_decide(person("console:local:ada"), waiting())
    for who in (ADA, "api:token", "console:elsewhere:ada"):
        assert not rules.may_talk(person(who), CHANNEL)
        assert not rules.may_decide(person(who), waiting())


def test_a_channel_is_found_whatever_the_thread_in_it():
    rules = policy(channels=(channel(agent="helper"),))
    assert rules.channel(CHANNEL).agent == "helper"
    assert rules.channel(CHANNEL.model_copy(update={"root": "2.0"})).agent == "helper"
    assert rules.channel(GUILD) is None


PARTS = st.text(st.characters(exclude_characters=":"), min_size=1, max_size=8)
IDS = st.lists(PARTS, min_size=1, max_size=4).map(":".join)


@given(IDS, IDS)
def test_an_id_fits_itself_and_no_other(one, other):
    if not one.endswith(":*"):
        assert matches(one, other) is (one == other)


@given(IDS, IDS)
def test_a_star_stands_for_exactly_one_last_part(prefix, person_id):
    *before, last = person_id.split(":")
    assert matches(f"{prefix}:*", person_id) is (before == prefix.split(":") and bool(last))
