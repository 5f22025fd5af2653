"""Who hears of a topic."""

import pytest

from core.conversation import Conversation, OutsideEvent
from core.ids import thread_key
from core.notifications.notification import Priority
from core.notifications.subscriptions import Subscription, Subscriptions, covers

CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1")
OTHER = Conversation(platform="slack", tenant="T1", channel="C2")


@pytest.mark.parametrize(
    ("pattern", "topic", "covered"),
    [
        ("github:acme/app", "github:acme/app", True),
        ("github:acme/app", "github:acme/app#12", True),
        ("github:acme/app", "github:acme/app@main", True),
        ("github:acme/app", "github:acme/app@feature/login", True),
        ("github:acme/app", "github:acme/app2", False),
        ("github:acme/app", "github:acme/app2#12", False),
        ("github:acme/app", "github:acme/app-web", False),
        ("github:acme/app", "github:acme", False),
        ("github:acme/app#1", "github:acme/app#12", False),
        ("github:acme/app#12", "github:acme/app#12", True),
        ("github:acme/*", "github:acme/app#12", True),
        ("github:acme/*", "github:acme/other@main", True),
        ("github:acme/*", "github:acmecorp/app", False),
        ("github:*/app", "github:acme/app", True),
        ("github:acme/app@main", "github:acme/app@maintenance", False),
        ("github:Acme/App", "github:acme/app#3", True),
        ("github", "github:acme/app", True),
        ("git", "github:acme/app", False),
        ("", "github:acme/app", False),
    ],
)
def test_a_pattern_covers_whole_segments_only(pattern, topic, covered):
    assert covers(pattern, topic) is covered


def test_a_thread_hears_once_through_its_most_exact_subscription():
    wide = Subscription(topic="github:acme/*", agent_id="helper", conversation=CHANNEL)
    exact = Subscription(topic="github:acme/app", agent_id="fixer", conversation=CHANNEL)
    elsewhere = Subscription(topic="github", agent_id="helper", conversation=OTHER)
    keyed = Subscription(topic="github", agent_id="helper", key=thread_key("r", "t"))
    found = Subscriptions(listed=(wide, exact, elsewhere, keyed)).match("github:acme/app#1")
    assert found == [exact, elsewhere, keyed]


@pytest.mark.parametrize(
    ("outcome", "priority"), [("failed", "urgent"), ("passed", "low"), (None, "low")]
)
def test_a_subscription_overrides_by_kind_and_more_exactly_by_outcome(outcome, priority):
    chosen = {"ci-status": Priority.LOW, "ci-status:failed": Priority.URGENT}
    one = Subscription(topic="github", agent_id="helper", priorities=chosen)
    event = OutsideEvent(
        topic="github:a/b", event_kind="ci-status", summary="s", outcome=outcome, priority="high"
    )
    assert one.priority_of(event) is Priority(priority)


def test_without_an_override_the_event_keeps_its_priority():
    one = Subscription(topic="github", agent_id="helper", priorities={"push": Priority.URGENT})
    event = OutsideEvent(topic="github:a/b", event_kind="ping", summary="s", priority="high")
    assert one.priority_of(event) is Priority.HIGH
