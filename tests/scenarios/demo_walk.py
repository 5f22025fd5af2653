"""The walk through the demo that the README promises, as two people take it in two browsers."""

from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

REQUEST = "Write a plan to move our docs to the new server, and submit it for approval."


@dataclass(frozen=True, slots=True)
class Shots:
    """Where pictures go; None takes none."""

    folder: Path | None = None

    async def take(self, page: Page, name: str) -> None:
        """Keep what the page shows now."""
        if self.folder is not None:
            await page.screenshot(path=self.folder / f"{name}.png")


async def enter(browser: Browser, url: str, name: str, *, scheme: str = "light") -> Page:
    """Open the console as this person, in a profile of its own."""
    context = await browser.new_context(
        viewport={"width": 1280, "height": 860},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = await context.new_page()
    await page.goto(url)
    await page.get_by_label("You are").select_option(label=name)
    await expect(page.get_by_label("Message to")).to_be_editable()
    return page


async def say(page: Page, text: str) -> None:
    """Write a message and press Enter."""
    box = page.get_by_label("Message to")
    await box.fill(text)
    await box.press("Enter")


def newest_answer(page: Page) -> Locator:
    """Return the agent's newest words."""
    return page.locator("#log").get_by_text("demo model").last


async def talk(ada: Page, bob: Page) -> None:
    """Two people talk in one thread; the second message arrives while the agent works."""
    await say(ada, "Hello, is anybody there?")
    # Bob had the empty thread open before anybody spoke in it.
    await expect(bob.locator("#log")).to_contain_text("is anybody there?", timeout=20_000)
    await expect(ada.locator("#log")).to_contain_text("demo model", timeout=20_000)
    await expect(ada.locator("#run-state")).to_contain_text("Idle")
    await say(ada, "What time is it?")
    await expect(bob.locator("#log")).to_contain_text("What time is it?")
    await say(bob, "And please greet me as well")
    answer = ada.locator("#log")
    await expect(answer).to_contain_text("you added while I was working", timeout=30_000)
    await expect(answer).to_contain_text("Hi Bob")
    await expect(ada.locator("#run-state")).to_contain_text("Idle")


async def reject(ada: Page) -> None:
    """A plan is submitted and rejected with a reason."""
    await say(ada, REQUEST)
    card = ada.locator("#log").get_by_role("button", name="Reject")
    await expect(card).to_be_visible(timeout=30_000)
    await ada.locator("#log").get_by_label("Feedback").fill("Check the links afterwards")
    await card.click()


async def approve(bob: Page, shots: Shots) -> None:
    """The next version is approved by another person and carried out."""
    await expect(bob.locator("#log")).to_contain_text("version 2", timeout=30_000)
    await bob.locator("#log").get_by_role("button", name="Approve").scroll_into_view_if_needed()
    await shots.take(bob, "console-light")
    await bob.locator("#log").get_by_role("button", name="Approve").click()
    await expect(bob.locator("#log")).to_contain_text("Approved by Bob", timeout=30_000)
    await expect(bob.locator("#log")).to_contain_text("write_note", timeout=30_000)
    await expect(bob.locator("#run-state")).to_contain_text("Idle", timeout=60_000)
