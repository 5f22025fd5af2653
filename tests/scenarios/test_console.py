"""The console as a newcomer finds it: `interlock dev`, a browser, and no credentials."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.console_browser import chromium
from tests.scenarios.demo_walk import Shots, approve, enter, reject, talk
from tests.scenarios.gateway import GatewayProcess


@pytest.fixture
async def dev(tmp_path: Path) -> AsyncIterator[GatewayProcess]:
    """`interlock dev` on an empty folder, a little quicker than for people."""
    environment = {"INTERLOCK_API_TOKEN": "", "INTERLOCK_DEMO_PACE": "1"}
    async with GatewayProcess(
        tmp_path, environment=environment, config="", command="dev"
    ) as process:
        yield process


async def test_two_people_steer_decide_and_see_the_plan_carried_out(dev: GatewayProcess) -> None:
    async with chromium() as browser:
        ada = await enter(browser, dev.url, "Ada")
        bob = await enter(browser, dev.url, "Bob")
        await talk(ada, bob)
        await reject(ada)
        await approve(bob, Shots())
