"""A real Chromium in front of the console, and the gestures people make there."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.unit.adapters.console.desk import Desk

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
expect.set_options(timeout=10_000)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start the machine's own Chromium; a browser of Playwright's is never fetched."""
    program = shutil.which("chromium")
    assert program, "no chromium on the PATH: run `make test` once"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


async def visit(browser: Browser, desk: Desk, **options: Any) -> Page:
    """Open the console in a profile of its own; anything the page complains of fails the test."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: page.complaints.append(f"dialog {dialog.message}"))
    page.on("console", lambda said: _keep_errors(page, said))
    await page.goto(desk.url)
    return page


def _keep_errors(page: Page, said: Any) -> None:
    # A refused or lost request is often the point of a test; broken code or policy never is.
    if said.type == "error" and "Failed to load resource" not in said.text:
        page.complaints.append(said.text)


async def say(page: Page, text: str) -> None:
    """Write a message and press Enter."""
    await page.get_by_label("Message to").fill(text)
    await page.get_by_label("Message to").press("Enter")


async def ready(page: Page) -> None:
    """Wait until the page has loaded what it shows."""
    await expect(page.locator("#person")).to_have_value("console:local:ada")
    await expect(page.locator("#link")).not_to_have_text("Connecting")
