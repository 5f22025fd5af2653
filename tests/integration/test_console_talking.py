import asyncio

from playwright.async_api import expect

from core.ports.model import Finish, TextDelta, Usage
from core.testing import Say
from tests.integration.console_browser import chromium, ready, say, visit
from tests.unit.adapters.console.desk import MAIN, TOKEN, Setup, open_desk

MARKUP = "<img src=x onerror=alert(1)> [press](javascript:alert(2)) **bold** `code`"


class PausingModel:
    """Says half of its answer, and the rest when told."""

    def __init__(self):
        self.go_on = asyncio.Event()

    async def stream(self, request):
        yield TextDelta(text="The first half")
        await self.go_on.wait()
        yield TextDelta(text=" and the second.")
        yield Finish(reason="stop", usage=Usage(input_tokens=1, output_tokens=1))


async def test_a_person_is_picked_and_speaks_under_that_name():
    async with open_desk(Setup(script=[Say(text="Hello, Bob.")])) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.get_by_label("You are").select_option("Bob")
        await say(page, "Good morning")
        message = page.locator(".is-person")
        await expect(message).to_contain_text("Good morning")
        await expect(message.locator(".byline")).to_contain_text("Bob")
        await expect(message.locator(".badge")).to_have_text("Console")
        await expect(message.locator(".avatar")).to_have_text("B")
        await expect(page.locator(".is-agent")).to_contain_text("Hello, Bob.")
        assert desk.gate.admitted[0].sender.id == "console:local:bob"
        assert not page.complaints


async def test_somebody_new_gives_a_name_that_outlives_a_reload():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.get_by_label("You are").select_option("Someone else…")
        await page.get_by_label("Your name").fill("Dana Scully")
        await page.get_by_label("Your name").press("Enter")
        await expect(page.locator("#person")).to_have_value("console:local:dana-scully")
        await page.reload()
        await expect(page.locator("#person")).to_have_value("console:local:dana-scully")
        assert not page.complaints


async def test_a_reply_grows_while_it_is_written():
    model = PausingModel()
    async with open_desk(Setup(model=model)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "tell me")
        await expect(page.locator(".is-agent .live")).to_have_text("HelperagentThe first half")
        await expect(page.locator("#run-state")).to_contain_text("Working")
        model.go_on.set()
        await expect(page.locator(".is-agent")).to_contain_text("first half and the second.")
        await expect(page.locator(".live")).to_have_count(0)
        await expect(page.locator(".is-agent")).to_have_count(1)
        await expect(page.locator("#run-state")).to_have_text("Idle")
        await expect(page.locator("#announce")).to_contain_text("Helper: The first half")
        assert not page.complaints


async def test_whoever_opens_the_page_in_the_middle_sees_what_was_written():
    model = PausingModel()
    async with open_desk(Setup(model=model)) as desk, chromium() as browser:
        await desk.call("POST", f"{MAIN}/messages", {"contents": "tell me"})
        page = await visit(browser, desk)
        await expect(page.locator(".is-agent .live")).to_contain_text("The first half")
        model.go_on.set()
        await expect(page.locator(".is-agent")).to_contain_text("and the second.")


async def test_two_people_share_a_thread():
    script = [Say(text="Hi Ada."), Say(text="Hi Bob.")]
    async with open_desk(Setup(script=script)) as desk, chromium() as browser:
        ada, bob = await visit(browser, desk), await visit(browser, desk)
        await ready(ada)
        await say(ada, "from Ada")
        await expect(ada.locator(".is-agent")).to_contain_text("Hi Ada.")
        await bob.reload()
        await bob.get_by_label("You are").select_option("Bob")
        await say(bob, "from Bob")
        for page in (ada, bob):
            await expect(page.locator(".is-person")).to_have_count(2)
            await expect(page.locator(".is-agent").last).to_contain_text("Hi Bob.")
        await expect(ada.locator("#announce")).to_contain_text("Hi Bob.")


async def test_markup_in_a_message_stays_text():
    async with open_desk(Setup(script=[Say(text=MARKUP)])) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, MARKUP)
        for place in (".is-person", ".is-agent"):
            await expect(page.locator(f"{place} .prose")).to_contain_text("<img src=x")
            await expect(page.locator(f"{place} .prose strong")).to_have_text("bold")
            await expect(page.locator(f"{place} .prose code")).to_have_text("code")
            assert await page.locator(f"{place} :is(img, a)").count() == 0
        assert not page.complaints


async def test_a_message_may_wait_for_the_next_turn():
    model = PausingModel()
    async with open_desk(Setup(model=model)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "first")
        await expect(page.locator(".live")).to_be_visible()
        await page.get_by_label("Wait for the next turn").check()
        await say(page, "second")
        await expect(page.locator(".is-person").last).to_contain_text("Waits for the next turn")
        await expect(page.get_by_label("Wait for the next turn")).not_to_be_checked()
        model.go_on.set()
        await expect(page.locator(".is-agent")).to_have_count(2)
        assert desk.gate.admitted[1].own_turn


async def test_stop_ends_the_run():
    async with open_desk(Setup(model=PausingModel())) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "a long story")
        await expect(page.locator(".live")).to_be_visible()
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator("#run-state")).to_have_text("Idle")
        await expect(page.locator(".notice")).to_have_text("The run was stopped.")
        await expect(page.get_by_role("button", name="Stop")).to_be_hidden()


async def test_a_tool_call_opens_to_what_went_in_and_came_out():
    script = [Say(calls=(("write_note", {"name": "todo", "content": "buy milk"}),)), Say(text="ok")]
    async with open_desk(Setup(script=script)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "note it")
        line = page.locator(".is-tool")
        await expect(line).to_contain_text("done")
        await expect(line.locator("pre").first).to_be_hidden()
        await line.locator("summary").click()
        await expect(line.locator("pre").first).to_contain_text("buy milk")
        await expect(line.locator("pre")).to_have_count(2)


async def test_a_lost_connection_comes_back_and_catches_up():
    script = [Say(text="one"), Say(text="two")]
    async with open_desk(Setup(script=script)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "first")
        await expect(page.locator(".is-agent")).to_contain_text("one")
        await page.context.set_offline(True)
        for reader in tuple(desk.adapter._events._open):
            reader.close()
        await expect(page.locator("#link")).to_have_text("Reconnecting")
        await desk.say("second")
        await page.context.set_offline(False)
        await expect(page.locator("#link")).to_have_text("Live")
        await expect(page.locator(".is-agent").last).to_contain_text("two")


async def test_a_session_lost_with_a_restart_is_renewed_for_the_same_person():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.get_by_label("You are").select_option("Bob")
        await expect(page.get_by_label("Message to")).to_have_attribute(
            "placeholder", "Write to Helper as Bob"
        )
        desk.adapter._door._sessions._open.clear()
        await say(page, "still me")
        await expect(page.locator(".is-agent")).to_contain_text("ok")
        assert desk.gate.admitted[-1].sender.id == "console:local:bob"


async def test_a_failed_run_is_told_in_plain_words():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "hello?")
        await expect(page.locator(".notice.error")).to_contain_text("error")
        assert "Traceback" not in await page.content()


async def test_a_refusal_keeps_what_was_written():
    async with open_desk(Setup(talk=())) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await say(page, "let me in")
        await expect(page.locator("#problem")).to_contain_text("Policy")
        await expect(page.get_by_label("Message to")).to_have_value("let me in")


async def test_a_new_conversation_is_named_after_its_first_words():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.get_by_role("button", name="New conversation").click()
        await say(page, "Rotate the keys")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Rotate the keys")
        await expect(page.locator("#thread-list")).to_contain_text("Rotate the keys")
        await page.reload()
        await expect(page.locator(".is-agent")).to_contain_text("ok")


async def test_with_a_token_people_log_in_first():
    async with open_desk(Setup(token=TOKEN)) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_role("alert")).to_have_text("That is not the token.")
        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_label("Token").press("Enter")
        await ready(page)
        await expect(page.locator("#empty")).to_be_visible()
