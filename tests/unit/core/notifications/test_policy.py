"""What becomes of a notification: the matrix, and whose word counts before it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.errors import InvalidInput
from core.notifications.policy import (
    DeliveryDecision,
    DeliveryPolicy,
    PolicyContext,
    PolicyFailed,
    decide,
)
from tests.unit.core.notifications.rows import NOW, a_row

LATER = NOW + timedelta(hours=2)


def context(priority="medium", state="idle", **more):
    record = a_row(priority=priority, **more.pop("row", {}))
    return PolicyContext(record=record, thread_state=state, now=NOW, **more)


@pytest.mark.parametrize(
    ("priority", "state", "action", "deliver_at", "summary_at", "reason"),
    [
        ("urgent", "idle", "deliver", None, None, "urgent"),
        ("urgent", "active", "deliver", None, None, "urgent"),
        ("high", "idle", "deliver", None, None, "idle-high"),
        ("high", "active", "summarize", NOW, NOW, "active-high-summary-then-full"),
        ("medium", "idle", "deliver", None, None, "idle-medium"),
        ("medium", "active", "summarize", None, NOW, "active-batch-summary"),
        ("low", "idle", "summarize", None, NOW, "idle-low-summary"),
        ("low", "active", "summarize", None, NOW, "active-batch-summary"),
    ],
)
async def test_without_a_policy_priority_and_thread_decide(
    priority, state, action, deliver_at, summary_at, reason
):
    decision = await decide(DeliveryPolicy(), context(priority, state))
    assert decision == DeliveryDecision(
        action=action, deliver_at=deliver_at, summary_at=summary_at, reason=reason
    )


ALL = DeliveryPolicy(
    decide=lambda asked: "discard" if asked.record.kind == "noise" else None,
    sources={"github": "persist"},
    priorities={"medium": "queue"},
    default={"action": "defer", "deliverAt": LATER},
)


@pytest.mark.parametrize(
    ("row", "action"),
    [
        ({"kind": "noise"}, "discard"),
        ({"source": "github"}, "persist"),
        ({"source": "email"}, "queue"),
        ({"source": "email", "priority": "high"}, "defer"),
        ({"source": "constructor"}, "queue"),
        ({"source": "__proto__"}, "queue"),
    ],
)
async def test_the_most_particular_rule_has_the_last_word(row, action):
    asked = PolicyContext(record=a_row(**row), thread_state="idle", now=NOW)
    assert (await decide(ALL, asked)).action == action


async def test_a_policy_may_take_its_time_to_decide():
    async def think(asked):
        return DeliveryDecision(action="defer", deliver_at=asked.now + timedelta(minutes=5))

    decision = await decide(DeliveryPolicy(decide=think), context())
    assert decision.deliver_at == NOW + timedelta(minutes=5)


async def test_deferring_without_a_time_is_an_error():
    with pytest.raises(InvalidInput, match="n1"):
        await decide(DeliveryPolicy(default="defer"), context())


async def test_summarizing_without_a_time_means_now():
    decision = await decide(DeliveryPolicy(default="summarize"), context("high"))
    assert decision.summary_at == NOW


@pytest.mark.parametrize(("priority", "summary_at"), [("low", LATER), ("medium", NOW)])
async def test_only_what_is_low_waits_for_the_digest(priority, summary_at):
    decision = await decide(DeliveryPolicy(), context(priority, "active", next_window=LATER))
    assert decision.summary_at == summary_at


async def test_a_time_that_a_policy_names_beats_the_digest():
    soon = NOW + timedelta(minutes=30)
    policy = DeliveryPolicy(decide=lambda _: {"action": "summarize", "summary_at": soon})
    decision = await decide(policy, context("low", next_window=LATER))
    assert decision.summary_at == soon


async def test_times_of_any_zone_are_kept_in_utc():
    there = datetime(2026, 12, 1, 9, 0, tzinfo=timezone(timedelta(hours=9)))
    policy = DeliveryPolicy(default={"action": "defer", "deliver_at": there})
    decision = await decide(policy, context())
    assert decision.deliver_at == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert decision.deliver_at.tzinfo is UTC


@pytest.mark.parametrize(
    "rule", ["shout", {"action": "deliver", "when": 1}, {"deliverAt": LATER}, 7]
)
async def test_a_rule_that_is_no_decision_is_named(rule):
    with pytest.raises(PolicyFailed, match="is no delivery decision"):
        await decide(DeliveryPolicy(default=rule), context())


async def test_a_policy_that_raises_is_named_and_its_error_kept():
    def broken(_):
        return 1 / 0

    with pytest.raises(PolicyFailed, match="ZeroDivisionError on notification n1") as failed:
        await decide(DeliveryPolicy(decide=broken), context())
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
