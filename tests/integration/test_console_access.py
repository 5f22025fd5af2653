import colorsys
import re

import pytest
from playwright.async_api import expect

from adapters.console.page import FOLDER
from core.testing import Say
from tests.integration.console_browser import chromium, ready, say, visit
from tests.unit.adapters.console.desk import PLAN_SCRIPT, Setup, open_desk

PHONE = {"width": 360, "height": 740}
WIDE = f"{'unbroken' * 40}\n\n```\n{'code ' * 80}\n```\n\n- {'x' * 200}\n\n| a | b |\n"
CONTROLS = "button, a[href], input, select, textarea, summary"
NAMELESS = """(controls) => [...document.querySelectorAll(controls)]
    .filter((node) => node.checkVisibility())
    .filter((node) => !(node.labels?.length || node.ariaLabel || node.textContent.trim()))
    .map((node) => node.outerHTML)"""
# A pair of colours each: text, what it stands on, and the contrast that WCAG AA asks of it.
PAIRS = [
    ("ink", "paper", 4.5),
    ("ink", "sheet", 4.5),
    ("soft", "paper", 4.5),
    ("soft", "sheet", 4.5),
    ("soft", "sunk", 4.5),
    ("accent", "sheet", 4.5),
    ("accent-ink", "accent", 4.5),
    ("sheet", "clear", 4.5),
    ("clear", "sheet", 4.5),
    ("danger", "sheet", 4.5),
    ("danger", "danger-wash", 4.5),
    ("caution", "caution-wash", 4.5),
    ("edge", "sheet", 3.0),
    ("accent", "paper", 3.0),
]
MARKDOWN = """async (text) => {
    const { markdown } = await import("/static/markdown.js");
    const box = document.createElement("div");
    box.append(markdown(text));
    return box.innerHTML;
}"""
TIMED = f"""async (text) => {{
    const start = performance.now();
    await ({MARKDOWN})(text);
    return performance.now() - start;
}}"""
RENDERED = {
    "# Title": "<h3>Title</h3>",
    "a\nb": "<p>a<br>b</p>",
    "- a\n- b\n  - c": "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>",
    "3. a\n4. b": '<ol start="3"><li>a</li><li>b</li></ol>',
    "> **so**": "<blockquote><p><strong>so</strong></p></blockquote>",
    "_a `b_c` d_": "<p><em>a <code>b_c</code> d</em></p>",
    "snake_case_name": "<p>snake_case_name</p>",
    "```py\n<b>\n```": '<pre tabindex="0"><code data-language="py">&lt;b&gt;</code></pre>',
    "```\nopen": '<pre tabindex="0"><code>open</code></pre>',
    "<script>x</script>": "<p>&lt;script&gt;x&lt;/script&gt;</p>",
    "[a](javascript:x)": "<p>[a](javascript:x)</p>",
    "[a](//evil)": "<p>[a](//evil)</p>",
    "[a](data:text/html,x)": "<p>[a](data:text/html,x)</p>",
    "- [x] done": '<ul><li><span class="task" aria-hidden="true">☑ </span>done</li></ul>',
}


def luminance(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


async def press_until(page, key, name):
    """Press a key until the control of that name has the focus."""
    for _ in range(60):
        await page.keyboard.press(key)
        focused = "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"
        if await page.evaluate(focused) == name:
            return
    raise AssertionError(f"{key} never leads to {name}")


async def test_a_plan_is_asked_for_and_approved_with_the_keyboard_alone(tmp_path):
    setup = Setup(script=[*PLAN_SCRIPT, Say(text="Done.")], plans=tmp_path)
    async with open_desk(setup) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.keyboard.press("Tab")
        await expect(page.get_by_text("Skip to the message box")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.type("plan it")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("please")
        await page.keyboard.press("Enter")
        await expect(page.locator(".is-person .prose")).to_contain_text("please")
        await expect(page.locator(".card.pending")).to_be_visible()
        await press_until(page, "Shift+Tab", "Approve")
        ring = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring == "solid"
        await page.keyboard.press("Space")
        await expect(page.locator(".card-state")).to_contain_text("Approved by Ada")
        await expect(page.get_by_label("Message to")).to_be_focused()


async def test_every_control_has_a_name_and_every_part_a_landmark(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "plan it")
        await expect(page.locator(".card.pending")).to_be_visible()
        assert await page.evaluate(NAMELESS, CONTROLS) == []
        for role in ("banner", "navigation", "main", "complementary"):
            await expect(page.get_by_role(role)).to_have_count(1)
        await expect(page.get_by_role("heading", level=1)).to_have_count(1)
        ids = await page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
        assert len(ids) == len(set(ids))
        assert await page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_colours_can_be_told_apart(scheme):
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk, color_scheme=scheme)
        style = "getComputedStyle(document.documentElement)"
        for text, ground, least in PAIRS:
            one, other = [
                await page.evaluate(f"{style}.getPropertyValue('--{name}').trim()")
                for name in (text, ground)
            ]
            assert contrast(one, other) >= least, f"{text} on {ground} in the {scheme}"


@pytest.mark.parametrize("hue", range(0, 360, 30))
def test_initials_can_be_read_on_every_avatar(hue):
    """As style.css paints them: white on hsl(hue 45% --avatar-light)."""
    style = (FOLDER / "static" / "style.css").read_text()
    light = int(re.search(r"--avatar-light: (\d+)%", style)[1]) / 100
    red, green, blue = colorsys.hls_to_rgb(hue / 360, light, 0.45)
    colour = f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
    assert contrast("#ffffff", colour) >= 4.5, colour


async def test_the_page_follows_the_system_and_the_switch_beats_it():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk, color_scheme="dark")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert await page.evaluate(ground) == "rgb(18, 22, 27)"
        await page.get_by_role("button", name="Switch between light and dark").click()
        assert await page.evaluate(ground) == "rgb(246, 245, 241)"
        await page.reload()
        await ready(page)
        assert await page.evaluate(ground) == "rgb(246, 245, 241)"


async def test_a_phone_shows_everything_without_scrolling_sideways(tmp_path):
    script = [Say(text=WIDE, calls=(("clock", {}),)), *PLAN_SCRIPT]
    async with open_desk(Setup(script=script, plans=tmp_path)) as desk, chromium() as browser:
        page = await visit(browser, desk, viewport=PHONE)
        await ready(page)
        await say(page, WIDE)
        await expect(page.locator(".card.pending")).to_be_visible()
        width = "document.documentElement.scrollWidth"
        assert await page.evaluate(width) <= PHONE["width"]
        await page.locator(".is-tool summary").first.click()
        await page.get_by_role("button", name="Conversations").click()
        await expect(page.get_by_role("button", name="New conversation")).to_be_visible()
        await expect(page.locator("#panel")).to_be_visible()
        assert await page.evaluate(width) <= PHONE["width"]


async def test_on_a_phone_the_newest_message_stays_in_view():
    script = [Say(text="\n\n".join(["line"] * 60)), Say(text="the end")]
    async with open_desk(Setup(script=script)) as desk, chromium() as browser:
        page = await visit(browser, desk, viewport=PHONE)
        await ready(page)
        await say(page, "go")
        await expect(page.locator(".is-agent")).to_have_count(1)
        await say(page, "and then?")
        await expect(page.locator(".is-agent").last).to_contain_text("the end")
        await expect(page.locator(".is-agent").last).to_be_in_viewport()


async def test_the_signal_box_folds_away():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        button = page.get_by_role("button", name="Signal box")
        await expect(button).to_have_attribute("aria-expanded", "true")
        await button.click()
        await expect(button).to_have_attribute("aria-expanded", "false")
        await expect(page.locator("#panel")).to_be_hidden()


async def test_an_empty_thread_tells_what_to_try():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        await page.get_by_role("button", name="Ask for a plan").click()
        await expect(page.get_by_label("Message to")).to_have_value(re.compile("^Write a plan"))
        await expect(page.get_by_label("Message to")).to_be_focused()


async def test_markdown_becomes_plain_safe_nodes():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        for text, markup in RENDERED.items():
            assert await page.evaluate(MARKDOWN, text) == markup
        link = await page.evaluate(MARKDOWN, "see https://example.com/a?b=1&c=2.")
        assert 'href="https://example.com/a?b=1&amp;c=2' in link
        assert 'rel="noopener noreferrer nofollow"' in link


@pytest.mark.parametrize(
    "text",
    [">" * 20_000, "[" * 50_000, "`" * 50_001, "**a" * 20_000, "- " * 30_000, "_a " * 20_000],
)
async def test_hostile_markdown_does_not_hold_up_the_page(text):
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        took = await page.evaluate(TIMED, text)
        assert took < 2_000
