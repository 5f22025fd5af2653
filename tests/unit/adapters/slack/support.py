"""What the tests of the Slack adapter share: a gate that records, and a gateway of one route."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from adapters.slack import SlackAdapter, SlackSettings
from adapters.slack.identity import Bot
from core.clock import SystemClock
from core.conversation import Conversation, Inbound
from core.ports.adapter import Admission, Delivery
from tests.loopback.slack.client import LoopbackSlack
from tests.support import eventually

BOT = Bot(team="T0001", user="U0BOT", bot_id="B0BOT", app_id="A0001")
MENTION = "<@U0BOT> hello"


@dataclass
class RecordingGate:
    """Takes everything once by its key; may be told to fail, to answer or to be slow."""

    admitted: list[Inbound] = field(default_factory=list)
    answer: Admission = field(default_factory=lambda: Admission(outcome="accepted"))
    failure: Exception | None = None
    pause: asyncio.Event | None = None

    async def admit(self, inbound: Inbound) -> Admission:
        if self.pause is not None:
            await self.pause.wait()
        if self.failure is not None:
            raise self.failure
        if inbound.event_key in [seen.event_key for seen in self.admitted]:
            return Admission(outcome="duplicate")
        self.admitted.append(inbound)
        return self.answer


@dataclass(kw_only=True)
class Scene:
    """A loopback Slack and the adapter that serves it."""

    slack: LoopbackSlack
    adapter: SlackAdapter
    gate: RecordingGate
    bound: set[str] = field(default_factory=set)
    url: str = ""

    async def participates(self, conversation: Conversation) -> bool:
        return conversation.key in self.bound

    async def known(self) -> None:
        await eventually(lambda: self.adapter.status()["ready"])


@contextlib.asynccontextmanager
async def scene(
    folder: Path, *, socket: bool = False, run: bool = True, **options
) -> AsyncIterator[Scene]:
    """Start a loopback Slack with our route as its target, or with a socket open to it."""
    async with LoopbackSlack(folder, time_scale=0.001, **options) as slack:
        stage = Scene(slack=slack, gate=RecordingGate(), adapter=None)  # type: ignore[arg-type]  # made below
        stage.adapter = SlackAdapter(
            settings_for(slack, socket=socket),
            gate=stage.gate,
            clock=SystemClock(),
            participates=stage.participates,
        )
        async with _serving(stage.adapter) as url, _running(stage.adapter, run=run):
            stage.url = url
            if not socket:
                await slack.set_target(url)
            if run:
                await stage.known()
            yield stage


def settings_for(slack: LoopbackSlack, *, socket: bool = False) -> SlackSettings:
    return SlackSettings(
        bot_token=slack.options.bot_token,
        signing_secret=slack.options.signing_secret,
        app_token=slack.options.app_token if socket else None,
        api_url=slack.api_url,
    )


def reply_to(conversation: Conversation, payload, *, entry_id="entry_1", receipt=None) -> Delivery:
    return Delivery(entry_id=entry_id, conversation=conversation, payload=payload, receipt=receipt)


def at(channel: str, root: str = "-") -> Conversation:
    return Conversation(platform="slack", tenant="T0001", channel=channel, root=root)


@contextlib.asynccontextmanager
async def _serving(adapter: SlackAdapter) -> AsyncIterator[str]:
    app = web.Application()
    app.add_routes(adapter.routes())
    runner = web.AppRunner(app, auto_decompress=False)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}/slack/events"
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def _running(adapter: SlackAdapter, *, run: bool) -> AsyncIterator[None]:
    life = asyncio.create_task(adapter.run(), name="slack") if run else None
    try:
        yield
    finally:
        if life is not None:
            life.cancel()
            await asyncio.gather(life, return_exceptions=True)
        await adapter.aclose()
