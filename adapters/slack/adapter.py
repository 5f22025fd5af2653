"""SlackAdapter: its settings and its life; what it does is in the modules beside it."""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
from aiohttp import web
from pydantic import BaseModel, SecretStr

from adapters.slack.bolt import Bolt
from adapters.slack.client import SlackClient
from adapters.slack.desk import Desk, Means, Participates
from adapters.slack.errands import Errands
from adapters.slack.identity import Identity
from adapters.slack.ingress import PATH, Ingress
from adapters.slack.names import NameBook
from adapters.slack.poster import Poster
from adapters.slack.samples import samples
from adapters.slack.sockets import SocketMode
from core.clock import Clock
from core.conversation import Card, Conversation, Receipt
from core.facts import FactStore
from core.ports.adapter import Delivery, Gate, Handler

API_URL = "https://slack.com/api/"
_PERSON = re.compile(r"slack:[A-Z0-9]+:[UW][A-Z0-9]+")


class SlackSettings(BaseModel, frozen=True, extra="forbid"):
    """What the adapter is told by the configuration (gateway.md, Settings)."""

    bot_token: SecretStr
    signing_secret: SecretStr | None = None
    """Of the HTTP mode; without it the route is not mounted."""
    app_token: SecretStr | None = None
    """Of Socket Mode (`xapp-...`); without it no socket is opened."""
    api_url: str = API_URL


async def nowhere(_conversation: Conversation) -> bool:
    """Take part in no conversation: only mentions and DMs are heard."""
    return False


class SlackAdapter:
    """Slack as a chat platform: the Adapter port, the HTTP route and the supervised life."""

    platform = "slack"

    def __init__(
        self,
        settings: SlackSettings,
        *,
        gate: Gate,
        clock: Clock,
        participates: Participates = nowhere,
        session: aiohttp.ClientSession | None = None,
        facts: FactStore | None = None,
    ) -> None:
        """Put the parts together; nothing is contacted yet.

        Args:
            settings: tokens, secret and the Web API's base.
            gate: the door that everything heard goes through.
            clock: what signatures, names and pauses go by.
            participates: says whether a conversation is one of ours, so that a message in it
                needs no mention; asked for top-level messages too (`mention = false`).
            session: the HTTP session to use; without one the adapter opens and closes its own.
            facts: where who we are is remembered over restarts.
        """
        self._settings = settings
        self._client = SlackClient(
            token=settings.bot_token.get_secret_value(), api_url=settings.api_url, session=session
        )
        self._clock = clock
        self._errands = Errands()
        self._identity = Identity(
            ask=lambda: self._client.call("auth.test"),
            clock=clock,
            facts=facts,
            name=_fact_name(settings.bot_token),
        )
        self._names = NameBook(client=self._client, clock=clock)
        self._poster = Poster(client=self._client)
        self._bolt = self._make_bolt(gate, participates)
        self._socket = self._make_socket()

    async def send(self, delivery: Delivery) -> Receipt:
        """Post the payload, or make the message of the receipt equal to it.

        Raises:
            DeliveryError: see the Adapter port.
        """
        return await self._poster.send(await self._with_names(delivery))

    async def find(self, delivery: Delivery) -> Receipt | None:
        """Look up a message whose sending was unclear, by its entry id.

        Raises:
            DeliveryError: Slack cannot be asked now.
        """
        return await self._poster.find(delivery)

    async def names(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return display names of person ids, within 2 s; unknown ones are left out."""
        return await self._names.names(ids)

    def routes(self) -> list[web.RouteDef]:
        """Return the HTTP route, if there is a secret to verify requests with."""
        secret = self._settings.signing_secret
        if secret is None or not secret.get_secret_value():
            return []
        ingress = Ingress(secret=secret.get_secret_value(), take=self._bolt.take, clock=self._clock)
        return [web.post(PATH, ingress.handle)]

    def handlers(self) -> list[Handler]:
        """Return one sample of everything the adapter takes."""
        return samples()

    async def prepare(self) -> None:
        """Know again who we are, before the first request is served."""
        await self._identity.recall()

    async def run(self) -> None:
        """Learn who we are and stay connected, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._identity.learn(), name="slack identity")
            if self._socket is not None:
                group.create_task(self._socket.run(), name="slack socket")
            # Over HTTP there is nothing more to do, but a life that ends is taken for a crash.
            await asyncio.Event().wait()

    def status(self) -> dict[str, Any]:
        """Return how it stands, for `/readyz`: `ready`, and what it waits for."""
        connected = self._socket is None or self._socket.connected
        known = self._identity.known
        return {
            "ready": known is not None and connected,
            "team": known.team if known else None,
            "problem": self._identity.problem or (None if connected else "the socket is not open"),
            "mode": "http" if self._socket is None else "socket",
        }

    async def aclose(self) -> None:
        """End what is under way and close the session, if it is ours; after `run` was cancelled."""
        await self._errands.aclose()
        await self._client.aclose()

    def _make_bolt(self, gate: Gate, participates: Participates) -> Bolt:
        means = Means(
            gate=gate,
            identity=self._identity,
            client=self._client,
            poster=self._poster,
            names=self._names,
            errands=self._errands,
            participates=participates,
        )
        return Bolt(desk=Desk(means), identity=self._identity, client=self._client)

    def _make_socket(self) -> SocketMode | None:
        token = self._settings.app_token
        if token is None or not token.get_secret_value():
            return None
        return SocketMode(
            app_token=token.get_secret_value(),
            client=self._client,
            take=self._bolt.take,
            clock=self._clock,
        )

    async def _with_names(self, delivery: Delivery) -> Delivery:
        """Write people's names where a card's note has their ids: "Approved by Ada"."""
        card = delivery.payload
        if not isinstance(card, Card) or not card.note:
            return delivery
        # A decision is stored under its id at once; the name is looked up when there is time.
        names = await self._names.names(_PERSON.findall(card.note))
        note = _PERSON.sub(lambda person: names.get(person[0], person[0]), card.note)
        return replace(delivery, payload=card.model_copy(update={"note": note}))


def _fact_name(token: SecretStr) -> str:
    """Name what is remembered by its token: another token may be another app."""
    digest = hashlib.sha256(token.get_secret_value().encode()).hexdigest()
    return f"slack.identity.{digest[:16]}"
