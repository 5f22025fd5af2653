"""The platform: the one object the routes of the loopback Slack hold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp

from tests.loopback.journal import Journal, wall_seconds
from tests.loopback.slack.delivery import Courier, Delivery, HttpTransport, Transport
from tests.loopback.slack.events import event_callback
from tests.loopback.slack.faults import FaultBook, Limits
from tests.loopback.slack.options import Options
from tests.loopback.slack.sockets import SocketHub
from tests.loopback.slack.world import TEAM, World

CHANGEABLE = frozenset(["target", "delivery", "time_scale", "post_rate", "answer_seconds"])


class Platform:
    """World, journal, faults and the ways to the app, put together."""

    options: Options

    def __init__(self, options: Options, *, session: aiohttp.ClientSession) -> None:
        """Make a fresh team; the session carries HTTP deliveries."""
        self._session = session
        self._begin(options)

    async def restart(self, options: Options) -> None:
        """Forget everything and begin anew with these options, in the same process."""
        await self.courier.close()
        self.sockets.cut()
        self._begin(options)

    def change(self, settings: dict[str, Any]) -> None:
        """Change settings that may change while it runs; others raise ValueError."""
        unknown = set(settings) - CHANGEABLE
        if unknown:
            raise ValueError(f"cannot be changed while it runs: {sorted(unknown)}")
        self.options = replace(self.options, **settings)

    def transport(self) -> Transport:
        """Return the way events take now."""
        delivery = self.options.delivery
        if delivery == "auto":
            delivery = "http" if self.options.target else "socket"
        return self.http if delivery == "http" else self.sockets

    def emit(
        self, events: Sequence[dict[str, Any]], *, in_order: bool = True, team: str = TEAM
    ) -> list[Delivery]:
        """Give each event an id and start delivering."""
        bodies = [self.wrap(event, team=team) for event in events]
        return self.courier.emit(bodies, in_order=in_order)

    def wrap(self, event: dict[str, Any], *, team: str = TEAM) -> dict[str, Any]:
        """Return the outer body of an event, with the next event id."""
        event_id = f"Ev{next(self._event_numbers):08}"
        return event_callback(event, event_id=event_id, now=wall_seconds(), team=team)

    def _begin(self, options: Options) -> None:
        self.options = options
        self.base_url = ""
        """Where this server is reached, set by each request that comes in."""
        self.journal = Journal(Path(options.journal), source="slack")
        self.world = World(epoch=options.epoch)
        self.faults = FaultBook()
        self.limits = Limits()
        self.sockets = SocketHub(options=self._present, journal=self.journal)
        self.http = HttpTransport(session=self._session, options=self._present)
        self.courier = Courier(
            transport=self.transport, options=self._present, journal=self.journal
        )
        self._event_numbers = itertools.count(1)
        self.journal.write("started", options=options.arguments())

    def _present(self) -> Options:
        return self.options
