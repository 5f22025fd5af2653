"""Policy: what becomes of a notification, given the thread it is for and the hour."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field, ValidationError

from core.errors import InterlockError, InvalidInput
from core.notifications.notification import Notification, Priority
from core.records import Record

Action = Literal["deliver", "queue", "defer", "summarize", "persist", "discard"]


class PolicyFailed(InterlockError):
    """A policy's own `decide` raised, or answered with something that is no decision."""

    code = "policy_failed"


class DeliveryDecision(Record):
    """What is to be done with one notification, when, and why.

    `deliver_at` is when the full text is due, `summary_at` when a summary is. `stream_options` go
    to the run that a delivery starts; `hold` leaves the row for another process (signals.md DI11).
    """

    action: Action
    deliver_at: AwareDatetime | None = None
    summary_at: AwareDatetime | None = None
    reason: str = ""
    stream_options: dict[str, Any] = Field(default_factory=dict)
    hold: bool = False


Rule = str | Mapping[str, Any] | DeliveryDecision
"""A decision as people write it: one word, a mapping, or the value itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """What a policy may look at; `next_window` is the start of the thread's next digest, if any."""

    record: Notification
    thread_state: Literal["active", "idle"]
    now: datetime
    next_window: datetime | None = None


Decide = Callable[[PolicyContext], Rule | Awaitable[Rule | None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPolicy:
    """An agent's own rules, asked in this order: `decide`, `sources`, `priorities`, `default`.

    What none of them answers is decided by the built-in matrix (signals.md NI4, NI5). `decide`
    must be free of side effects: it is asked again when a row is dispatched.
    """

    default: Rule | None = None
    priorities: Mapping[str, Rule] = field(default_factory=dict)
    sources: Mapping[str, Rule] = field(default_factory=dict)
    decide: Decide | None = None


async def decide(policy: DeliveryPolicy, context: PolicyContext) -> DeliveryDecision:
    """Return the decision of the first rule that has one, with its times filled in.

    Raises:
        PolicyFailed: the policy's own function raised, or a rule is malformed.
        InvalidInput: `defer` without a time (NI11).
    """
    rule = await _asked(policy, context)
    if rule is None:
        rule = _listed(policy, context.record)
    decision = built_in(context) if rule is None else _parsed(rule)
    return complete(decision, context)


def built_in(context: PolicyContext) -> DeliveryDecision:
    """Decide by priority alone: the matrix of signals.md NI5."""
    active = context.thread_state == "active"
    match context.record.priority:
        case Priority.URGENT:
            return DeliveryDecision(action="deliver", reason="urgent")
        case Priority.HIGH if active:
            return DeliveryDecision(
                action="summarize",
                deliver_at=context.now,
                summary_at=context.now,
                reason="active-high-summary-then-full",
            )
        case Priority.HIGH:
            return DeliveryDecision(action="deliver", reason="idle-high")
        case Priority.MEDIUM if not active:
            return DeliveryDecision(action="deliver", reason="idle-medium")
        case Priority.MEDIUM | Priority.LOW:
            reason = "active-batch-summary" if active else "idle-low-summary"
            return DeliveryDecision(action="summarize", reason=reason)


async def _asked(policy: DeliveryPolicy, context: PolicyContext) -> Rule | None:
    if policy.decide is None:
        return None
    try:
        answer = policy.decide(context)
        return await answer if inspect.isawaitable(answer) else answer
    # The function is the user's own: it may raise anything, and is named in the error.
    except Exception as error:
        raise PolicyFailed(
            f"the delivery policy raised {type(error).__name__} on notification "
            f"{context.record.id}; mend its decide()"
        ) from error


def _listed(policy: DeliveryPolicy, record: Notification) -> Rule | None:
    # Only keys that were written down count; a source may be named like a method (NI4).
    by_source = policy.sources.get(record.source)
    if by_source is not None:
        return by_source
    by_priority = policy.priorities.get(record.priority.value)
    return policy.default if by_priority is None else by_priority


def _parsed(rule: Rule) -> DeliveryDecision:
    written = {"action": rule} if isinstance(rule, str) else rule
    try:
        return DeliveryDecision.model_validate(written)
    except ValidationError as error:
        raise PolicyFailed(
            f"{rule!r} is no delivery decision: {error.errors()[0]['msg']}"
        ) from None


def complete(decision: DeliveryDecision, context: PolicyContext) -> DeliveryDecision:
    """Fill in the times that a decision left open, and turn all of them to UTC."""
    if decision.action == "defer" and decision.deliver_at is None:
        raise InvalidInput(
            f"the policy defers notification {context.record.id} without saying until when",
            fields={"deliverAt": "required with defer"},
        )
    times = {"deliver_at": decision.deliver_at, "summary_at": decision.summary_at}
    if decision.action == "summarize" and decision.summary_at is None:
        times["summary_at"] = _summary_time(context)
    utc = {name: time and time.astimezone(UTC) for name, time in times.items()}
    return decision.model_copy(update=utc)


def _summary_time(context: PolicyContext) -> datetime:
    low = context.record.priority is Priority.LOW
    return context.next_window if low and context.next_window is not None else context.now
