"""Takes the pictures of the docs: `python -m tests.scenarios.screenshots docs/screenshots`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page

from tests.integration.console_browser import chromium
from tests.scenarios.demo_walk import Shots, approve, enter, reject, talk
from tests.scenarios.gateway import GatewayProcess


async def take(folder: Path) -> None:
    """Walk through the demo once and keep it in light, dark and on a phone."""
    shots = Shots(folder)
    environment = {"INTERLOCK_API_TOKEN": "", "INTERLOCK_DEMO_PACE": "1"}
    with tempfile.TemporaryDirectory() as place:
        gateway = GatewayProcess(Path(place), environment=environment, config="", command="dev")
        async with gateway, chromium() as browser:
            await walk(browser, gateway.url, shots)


async def walk(browser: Browser, url: str, shots: Shots) -> None:
    """Two people, one plan; then the same thread in other lights."""
    ada = await enter(browser, url, "Ada")
    bob = await enter(browser, url, "Bob")
    await talk(ada, bob)
    await shots.take(ada, "console-steering")
    await reject(ada)
    await approve(bob, shots)
    dark = await enter(browser, url, "Carol", scheme="dark")
    await settle(dark)
    await shots.take(dark, "console-dark")
    phone = await enter(browser, url, "Ada")
    await phone.set_viewport_size({"width": 360, "height": 740})
    await settle(phone)
    await shots.take(phone, "console-phone")


async def settle(page: Page) -> None:
    """Wait until the page has shown the thread to its end."""
    await page.locator("#log").get_by_text("Approved by Bob").first.wait_for()
    await page.wait_for_timeout(500)


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
