"""Names are a courtesy: looked up where people are, and never waited for."""

import asyncio

import pytest
from structlog.testing import capture_logs

import core.names
from core.names import NameBook
from core.testing import RecordingAdapter


class Broken(RecordingAdapter):
    async def names(self, ids):
        raise ConnectionError("no network")


class Silent(RecordingAdapter):
    """Never answers; remembers whether it was told to stop."""

    stopped = False

    async def names(self, ids):
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True


async def test_people_are_looked_up_at_their_own_platform():
    slack = RecordingAdapter("slack", people={"slack:T:U1": "Ada", "discord:9": "never asked"})
    discord = RecordingAdapter("discord", people={"discord:9": "Grace"})
    book = NameBook({"slack": slack, "discord": discord})
    found = await book.names(["slack:T:U1", "discord:9", "slack:T:U2"])
    assert found == {"slack:T:U1": "Ada", "discord:9": "Grace"}


@pytest.mark.parametrize("ids", [[], ["fax:1"], ["nobody"], ["slack"], [""]])
async def test_who_is_on_no_known_platform_has_no_name(ids):
    assert await NameBook({"slack": RecordingAdapter("slack")}).names(ids) == {}


async def test_a_platform_added_later_is_asked_too():
    adapters = {}
    book = NameBook(adapters)
    adapters["slack"] = RecordingAdapter("slack", people={"slack:1": "Ada"})
    assert await book.names(["slack:1"]) == {"slack:1": "Ada"}


async def test_a_platform_that_fails_costs_only_its_own_names():
    slack = RecordingAdapter("slack", people={"slack:1": "Ada"})
    book = NameBook({"slack": slack, "discord": Broken("discord")})
    with capture_logs() as logs:
        assert await book.names(["slack:1", "discord:9"]) == {"slack:1": "Ada"}
    assert [(entry["event"], entry["platform"]) for entry in logs] == [("names.failed", "discord")]


async def test_a_platform_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(core.names, "NAME_BUDGET", core.names.NAME_BUDGET / 100)
    slack = RecordingAdapter("slack", people={"slack:1": "Ada"})
    silent = Silent("discord")
    with capture_logs() as logs:
        found = await NameBook({"slack": slack, "discord": silent}).names(["slack:1", "discord:9"])
    assert (found, silent.stopped) == ({"slack:1": "Ada"}, True)
    assert [entry["event"] for entry in logs] == ["names.slow"]


async def test_a_step_that_is_cancelled_does_not_go_on_asking():
    silent = Silent("discord")
    asking = asyncio.create_task(NameBook({"discord": silent}).names(["discord:9"]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert silent.stopped
