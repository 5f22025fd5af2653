"""Subscriptions: which outside topics reach which thread."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.conversation import Conversation, OutsideEvent
from core.ids import ThreadKey
from core.notifications.notification import Priority

_SEGMENTS = re.compile(r"[:/#@]|[^:/#@]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A topic pattern, and the thread or conversation that hears of it.

    `priorities` overrides an event's priority by its kind, or more exactly by `kind:outcome`.
    """

    topic: str
    agent_id: str
    key: ThreadKey | None = None
    conversation: Conversation | None = None
    priorities: Mapping[str, Priority] = field(default_factory=dict)

    def priority_of(self, event: OutsideEvent) -> Priority:
        """Return the event's priority for this subscriber."""
        for name in (f"{event.event_kind}:{event.outcome}", event.event_kind):
            if name in self.priorities:
                return self.priorities[name]
        return Priority(event.priority)


def covers(pattern: str, topic: str) -> bool:
    """Say whether a pattern covers a topic, whole segments only.

    `github:acme/app` covers `github:acme/app#12` and `github:acme/app@main`, never
    `github:acme/app2`; `*` stands for one whole segment (digests.md). Case does not matter: names
    on GitHub have none.
    """
    # Whole segments: `acme/app` must not hear of `acme/app2`.
    wanted = _SEGMENTS.findall(pattern.casefold())
    given = _SEGMENTS.findall(topic.casefold())
    if len(wanted) > len(given) or not wanted:
        return False
    return all(want in ("*", have) for want, have in zip(wanted, given, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriptions:
    """All subscriptions of the gateway, in the order of the configuration."""

    listed: tuple[Subscription, ...] = ()

    def match(self, topic: str) -> list[Subscription]:
        """Return one subscription per thread that hears of the topic: the most exact one first."""
        found = [one for one in self.listed if covers(one.topic, topic)]
        # The most exact one speaks for its thread, for instance with its own priorities.
        by_exactness = sorted(found, key=lambda one: -_exactness(one.topic))
        return list(_first_per_thread(by_exactness))


def _first_per_thread(found: Iterable[Subscription]) -> Iterable[Subscription]:
    seen: set[object] = set()
    for one in found:
        place = one.key or (one.conversation and one.conversation.key)
        if place not in seen:
            seen.add(place)
            yield one


def _exactness(pattern: str) -> int:
    return sum(1 for segment in _SEGMENTS.findall(pattern) if segment != "*")
