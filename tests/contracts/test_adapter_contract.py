"""One suite for every chat adapter: what the outbox relies on, on whatever platform."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.conversation import Card, Conversation, Notice, Reply
from core.ports.adapter import Adapter, Delivery
from core.testing import RecordingAdapter
from tests.unit.adapters.console.desk import open_desk
from tests.unit.adapters.slack.support import scene


@dataclass(frozen=True, kw_only=True)
class Platform:
    """An adapter that works, a conversation that is there, and a person whom it knows."""

    adapter: Adapter
    place: Conversation
    person: str
    name: str

    def delivery(self, entry_id: str = "out_1", **changes: object) -> Delivery:
        """Return one entry on its way here."""
        fields = {"conversation": self.place, "payload": Reply(text="hello"), **changes}
        return Delivery(entry_id=entry_id, **fields)


@asynccontextmanager
async def recording(_: Path) -> AsyncIterator[Platform]:
    place = Conversation(platform="test", tenant="t", channel="c")
    adapter = RecordingAdapter(people={"test:t:ada": "Ada"})
    yield Platform(adapter=adapter, place=place, person="test:t:ada", name="Ada")


@asynccontextmanager
async def console(_: Path) -> AsyncIterator[Platform]:
    place = Conversation(platform="console", tenant="local", channel="main")
    async with open_desk() as stage:
        yield Platform(adapter=stage.adapter, place=place, person="console:local:ada", name="Ada")


@asynccontextmanager
async def slack(folder: Path) -> AsyncIterator[Platform]:
    place = Conversation(platform="slack", tenant="T0001", channel="C0001")
    async with scene(folder) as stage:
        yield Platform(adapter=stage.adapter, place=place, person="slack:T0001:U0001", name="Ada")


@pytest.fixture(params=[recording, console, slack], ids=["recording", "console", "slack"])
async def platform(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Platform]:
    async with request.param(tmp_path) as running:
        yield running


async def test_what_was_sent_is_found_under_its_entry(platform: Platform) -> None:
    receipt = await platform.adapter.send(platform.delivery())
    assert receipt.message_id
    found = await platform.adapter.find(platform.delivery())
    assert found is not None
    assert found.message_id == receipt.message_id


async def test_a_message_is_edited_under_its_receipt(platform: Platform) -> None:
    receipt = await platform.adapter.send(platform.delivery())
    changed = platform.delivery("out_2", payload=Reply(text="hello again"), receipt=receipt)
    edited = await platform.adapter.send(changed)
    if platform.adapter.platform != "console":
        # At the console the row is the message: there is nothing on a platform to keep equal.
        assert edited.message_id == receipt.message_id


@pytest.mark.parametrize(
    "payload",
    [
        Notice(text="Something to know."),
        Card(token="s_1", title="Move the docs", body="- copy\n- check"),
        Reply(text="word " * 5_000),
    ],
    ids=["notice", "card", "long reply"],
)
async def test_every_kind_of_payload_goes_out(platform: Platform, payload: object) -> None:
    assert (await platform.adapter.send(platform.delivery(payload=payload))).message_id


async def test_known_people_have_names_and_others_are_left_out(platform: Platform) -> None:
    names = await platform.adapter.names([platform.person, f"{platform.person}nobody"])
    assert names == {platform.person: platform.name}


async def test_nobody_asked_for_is_nobody_named(platform: Platform) -> None:
    assert await platform.adapter.names([]) == {}
