"""Names: what people are called, cached for a while and never waited for long."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from adapters.slack.client import SlackClient
from core.clock import Clock
from core.errors import DeliveryError
from core.ids import escape_part

log = structlog.get_logger(__name__)

BUDGET = 2.0
"""Seconds a step waits for names (architecture.md 6.7)."""
LIFETIME = 3600.0
MOST = 5_000
AT_ONCE = 8


class NameBook:
    """Display names by person id (`slack:T1:U2`)."""

    def __init__(self, *, client: SlackClient, clock: Clock) -> None:
        """Keep the Web API and the clock that entries age by."""
        self._client = client
        self._clock = clock
        self._entries: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._closed_until = 0.0

    def cached(self, person: str) -> str | None:
        """Return a name without asking anybody, None when it is unknown or too old."""
        name, until = self._entries.get(person, ("", 0.0))
        return name if name and until >= self._clock.monotonic() else None

    def learn(self, team: str, user: Mapping[str, Any]) -> None:
        """Take a user object of `users.info` or a `user_change` event."""
        name, user_id = display_name(user), user.get("id")
        if not name or not isinstance(user_id, str):
            return
        person = f"slack:{escape_part(team)}:{escape_part(user_id)}"
        self._entries[person] = (name, self._clock.monotonic() + LIFETIME)
        self._entries.move_to_end(person)
        # A big workspace changes profiles all day; the oldest entries make room (PB-082).
        while len(self._entries) > MOST:
            self._entries.popitem(last=False)

    async def names(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the names that are cached or that Slack tells within the budget.

        A 429 or an error leaves a name out; it never stops a message (cases PB-082).
        """
        wanted = [person for person in dict.fromkeys(ids) if person.startswith("slack:")]
        unknown = [person for person in wanted if self.cached(person) is None]
        if unknown and self._clock.monotonic() >= self._closed_until:
            await self._look_up(unknown)
        found = {person: self.cached(person) for person in wanted}
        return {person: name for person, name in found.items() if name}

    async def _look_up(self, unknown: Sequence[str]) -> None:
        gate = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.timeout(BUDGET), asyncio.TaskGroup() as group:
                for person in unknown:
                    group.create_task(self._ask(person, gate), name=f"name of {person}")
        except TimeoutError:
            log.info("slack.names_late", asked=len(unknown))

    async def _ask(self, person: str, gate: asyncio.Semaphore) -> None:
        _, _, rest = person.partition(":")
        team, _, user = rest.partition(":")
        async with gate:
            if self._clock.monotonic() < self._closed_until:
                return
            try:
                answer = await self._client.read("users.info", user=user)
            except DeliveryError as exc:
                # Inside a 429 no name is asked for at all; other errors concern one person only.
                self._closed_until = self._clock.monotonic() + (exc.retry_after or 0)
                log.info("slack.name_unknown", person=person, error=str(exc))
                return
            self.learn(team, answer.get("user") or {})


def display_name(user: Mapping[str, Any]) -> str:
    """Return what a person is called: display name, else real name, else handle (channels.md 1)."""
    profile = user.get("profile")
    profile = profile if isinstance(profile, Mapping) else {}
    choices = (
        profile.get("display_name"),
        profile.get("real_name"),
        user.get("real_name"),
        user.get("name"),
    )
    written = [choice.strip() for choice in choices if isinstance(choice, str)]
    return next(filter(None, written), "")
