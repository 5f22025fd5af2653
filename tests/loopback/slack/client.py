"""LoopbackSlack: the loopback Slack as a test holds it: its process, its people, its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, TypeVar

import aiohttp

from tests.loopback.journal import Entry, Journal
from tests.loopback.process import LoopbackProcess
from tests.loopback.slack.options import Options
from tests.support import eventually

Found = TypeVar("Found")
Answer = dict[str, Any]


class LoopbackRefused(Exception):
    """A person cannot do that in Slack; the text says why."""


class LoopbackSlack:
    """A running loopback Slack; an asynchronous context manager.

    `async with LoopbackSlack(tmp_path, time_scale=0.01) as slack:` starts it; the gateway takes
    `slack.environment()`; events flow once `set_target(url)` is called or a socket is open.

    Starting takes most of a second. `with slack_process(folder) as process:` in a wider fixture
    and `LoopbackSlack(tmp_path, process=process)` in each test share one process, whose world
    begins anew with every `async with`.
    """

    def __init__(
        self, folder: Path, *, process: LoopbackProcess | None = None, **options: Any
    ) -> None:
        """Choose the folder of the journal and the options (see `options.Options`)."""
        self.options = Options(journal=str(folder / "slack.jsonl"), **options)
        self.journal = Journal(Path(self.options.journal))
        self.process = process or slack_process(folder, self.options)
        self._shared = process is not None
        self._session: aiohttp.ClientSession | None = None

    @property
    def api_url(self) -> str:
        """Return the Web API base, with the slash slack_sdk wants."""
        return f"{self.process.url}/api/"

    def environment(self, *, socket_mode: bool = False) -> dict[str, str]:
        """Return the environment variables that point a gateway at this Slack."""
        environment = {
            "SLACK_BOT_TOKEN": self.options.bot_token,
            "SLACK_SIGNING_SECRET": self.options.signing_secret,
            "SLACK_API_URL": self.api_url,
        }
        return environment | ({"SLACK_APP_TOKEN": self.options.app_token} if socket_mode else {})

    async def __aenter__(self) -> Self:
        """Start the process, or begin anew in the shared one."""
        if not self._shared:
            await self.process.start()
        self._session = aiohttp.ClientSession(base_url=self.process.url)
        if self._shared:
            await self.control("restart", **asdict(self.options))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the process, unless it is shared; the journal stays."""
        if self._session is not None:
            await self._session.close()
        if not self._shared:
            await self.process.stop()

    async def control(self, verb: str, **order: Any) -> Answer:
        """Call the control API.

        Raises:
            LoopbackRefused: it cannot be done; the text says why.
        """
        assert self._session is not None, "use it as `async with LoopbackSlack(...)`"
        async with self._session.post(f"/_control/{verb}", json=order) as response:
            answer: Answer = await response.json()
            if response.status != 200:
                raise LoopbackRefused(f"{verb}: {answer['error']}")
            return answer

    async def set_target(self, url: str) -> None:
        """Post events there from now on; an empty string stops that."""
        await self.settings(target=url)

    async def settings(self, **settings: Any) -> None:
        """Change target, delivery, time_scale, post_rate or answer_seconds."""
        await self.control("settings", **settings)

    async def say(self, user: str, channel: str, text: str, **more: Any) -> Answer:
        """Let a person write; `thread_ts`, `order`, `wait`, `extra` as in `people.say`."""
        return await self.control("say", user=user, channel=channel, text=text, **more)

    async def edit(self, user: str, channel: str, ts: str, text: str) -> Answer:
        """Let a person edit their message."""
        return await self.control("edit", user=user, channel=channel, ts=ts, text=text)

    async def delete(self, channel: str, ts: str) -> Answer:
        """Let a message be deleted."""
        return await self.control("delete", channel=channel, ts=ts)

    async def react(self, user: str, channel: str, ts: str, name: str, **more: Any) -> Answer:
        """Let a person react to a message; `remove=True` takes the reaction away."""
        return await self.control("react", user=user, channel=channel, ts=ts, name=name, **more)

    async def event(self, event: Answer, **more: Any) -> Answer:
        """Deliver any event; `team` makes it come from another workspace."""
        return await self.control("event", event=event, **more)

    async def redeliver(self, event_id: str) -> Answer:
        """Deliver an event again; return the status it got."""
        return await self.control("redeliver", event_id=event_id)

    async def deliver(self, raw: str, **more: Any) -> Answer:
        """Deliver a raw body, correctly signed; `content_type` may be given."""
        return await self.control("deliver", raw=raw, **more)

    async def forge(self, event: Answer, *, how: str = "wrong") -> Answer:
        """Deliver with a wrong, old, missing or altered signature; return the status it got."""
        return await self.control("forge", event=event, how=how)

    async def challenge(self) -> Answer:
        """Send url_verification; return status and body."""
        return await self.control("challenge")

    async def click(self, user: str, ts: str, channel: str, action_id: str, **more: Any) -> Answer:
        """Press a button; `value` picks an option, `stale` presses one shown earlier."""
        return await self.control(
            "click", user=user, ts=ts, channel=channel, action_id=action_id, **more
        )

    async def submit_view(self, user: str, view_id: str, values: Answer) -> Answer:
        """Submit a modal with values by action_id or block_id."""
        return await self.control("submit_view", user=user, view_id=view_id, values=values)

    async def close_view(self, user: str, view_id: str) -> Answer:
        """Close a modal without submitting it."""
        return await self.control("close_view", user=user, view_id=view_id)

    async def slash(self, user: str, channel: str, command: str, text: str = "") -> Answer:
        """Type a slash command."""
        return await self.control("slash", user=user, channel=channel, command=command, text=text)

    async def fault(self, method: str, kind: str, **fields: Any) -> None:
        """Set a fault for the next calls of a method (see `faults.Fault`)."""
        await self.control("fault", method=method, kind=kind, **fields)

    async def messages(self, channel: str) -> list[Answer]:
        """Return what a channel shows now."""
        return list((await self.control("messages", channel=channel))["messages"])

    async def views(self) -> list[Answer]:
        """Return the open modals."""
        return list((await self.control("views"))["views"])

    def posts(self, **match: Any) -> list[Entry]:
        """Return the messages the bot posted, oldest first."""
        return self.journal.entries("post", **match)

    def calls(self, method: str, **match: Any) -> list[Entry]:
        """Return the Web API calls of one method, with arguments and answers."""
        return self.journal.entries("api", method=method, **match)

    def deliveries(self, **match: Any) -> list[Entry]:
        """Return the tries to deliver events."""
        return self.journal.entries("delivery", **match)

    async def until(self, look: Callable[[], Found], *, seconds: float = 10.0) -> Found:
        """Return the first true value `look` gives.

        Raises:
            AssertionError: none came in time; the text shows the newest journal entries.
        """
        try:
            return await eventually(look, within=seconds)
        except AssertionError as late:
            newest = [f"{entry}"[:300] for entry in self.journal.entries()[-8:]]
            late.add_note("\n".join(["newest entries of the journal:", *newest]))
            raise


def slack_process(folder: Path, options: Options | None = None) -> LoopbackProcess:
    """Return a loopback Slack that is not started yet, alone or for many tests to share."""
    chosen = options or Options(journal=str(folder / "idle.jsonl"))
    return LoopbackProcess("tests.loopback.slack", *chosen.arguments(), log=folder / "slack.log")
