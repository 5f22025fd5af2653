import pytest
from playwright.async_api import expect

from core.testing import Say
from tests.integration.console_browser import chromium, ready, say, visit
from tests.unit.adapters.console.desk import MAIN, PLAN_SCRIPT, Setup, open_desk

DONE = Say(text="Done.")
QUESTION = {
    "id": "tok_q",
    "kind": "question",
    "status": "pending",
    "version": 1,
    "args": {
        "question": "Which **zone**?",
        "options": [{"label": "Berlin", "description": "CET"}, {"label": "Tokyo"}],
    },
}
SHOW_QUESTION = """async ([plan, many]) => {
    const { card } = await import("/static/card.js");
    if (many) plan.args.selectionMode = "multi_select";
    window.answers = [];
    const answer = (_, data) => window.answers.push(data);
    document.querySelector("#scroll").replaceChildren(card(plan, { answer }));
}"""


async def planning(desk, browser):
    """Open the page and get as far as the card."""
    page = await visit(browser, desk)
    await ready(page)
    await say(page, "plan it")
    await expect(page.locator(".card.pending")).to_be_visible()
    return page


async def test_a_person_approves_a_plan_and_the_run_goes_on(tmp_path):
    setup = Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)
    async with open_desk(setup) as desk, chromium() as browser:
        page = await planning(desk, browser)
        card = page.locator(".card")
        await expect(card.get_by_role("heading", name="Move the docs")).to_be_visible()
        await expect(card.locator(".prose li")).to_have_text(["Copy them", "Tell the team"])
        await expect(card.locator(".card-kind")).to_have_text("Plan · version 1")
        await expect(page.locator("#run-state")).to_have_text("Waiting for a decision")
        await card.get_by_role("button", name="Approve").click()
        await expect(card.locator(".card-state")).to_contain_text("Approved by Ada at")
        await expect(card.get_by_role("button")).to_have_count(0)
        await expect(page.locator(".is-agent").last).to_contain_text("Done.")
        await expect(page.locator("#waiting")).to_have_text("Nothing waits for you.")
        assert not page.complaints


async def test_a_rejection_carries_its_reason_to_the_agent(tmp_path):
    setup = Setup(script=[*PLAN_SCRIPT, *PLAN_SCRIPT], plans=tmp_path)
    async with open_desk(setup) as desk, chromium() as browser:
        page = await planning(desk, browser)
        await page.get_by_label("Feedback (optional)").fill("Add a rollback.")
        await page.get_by_role("button", name="Reject").click()
        first, second = page.locator(".card").first, page.locator(".card").last
        await expect(first.locator(".card-state")).to_contain_text("Rejected by Ada")
        await expect(first.locator(".card-state")).to_contain_text("Add a rollback.")
        await expect(second.get_by_role("button", name="Approve")).to_be_visible()
        assert "Add a rollback." in repr(desk.model.requests[2].messages)


async def test_half_written_feedback_survives_what_happens_meanwhile(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk, chromium() as browser:
        page = await planning(desk, browser)
        await page.get_by_label("Feedback (optional)").fill("Add a roll")
        body = {"contents": "wait for me", "attributes": {"name": "Bob", "from": "slack"}}
        await desk.call("POST", f"{MAIN}/messages", body)
        event = {"source": "github", "kind": "ci", "summary": "red", "priority": "low"}
        await desk.call("POST", f"{MAIN}/notifications", event)
        await expect(page.locator("#inbox")).to_contain_text("red")
        await expect(page.get_by_label("Feedback (optional)")).to_have_value("Add a roll")


async def test_everybody_sees_who_decided_at_once(tmp_path):
    setup = Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)
    async with open_desk(setup) as desk, chromium() as browser:
        ada = await planning(desk, browser)
        bob = await visit(browser, desk)
        await bob.get_by_label("You are").select_option("Bob")
        await bob.get_by_role("button", name="Approve").click()
        for page in (ada, bob):
            await expect(page.locator(".card-state")).to_contain_text("Approved by Bob")


async def test_who_comes_second_is_told_who_was_first(tmp_path):
    setup = Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)
    async with open_desk(setup) as desk, chromium() as browser:
        page = await planning(desk, browser)
        plan = await desk.pending_plan()

        async def too_late(route):
            body = {"action": "rejected"}
            headers = {"X_Interlock_Actor": "console:local:bob"}
            await desk.call("POST", f"/api/v1/plans/{plan['id']}/decision", body, **headers)
            await route.continue_()

        await page.route("**/decision", too_late)
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator("#problem")).to_have_text("Bob was first: rejected.")
        await expect(page.locator(".card-state")).to_contain_text("Rejected by Bob")


async def test_who_may_not_decide_is_told_on_the_card(tmp_path):
    setup = Setup(script=PLAN_SCRIPT, plans=tmp_path, approve=("api:token",))
    async with open_desk(setup) as desk, chromium() as browser:
        page = await planning(desk, browser)
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".card .problem")).not_to_be_empty()
        await expect(page.get_by_role("button", name="Approve")).to_be_enabled()


async def test_show_leads_from_the_signal_box_to_the_card(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk, chromium() as browser:
        page = await planning(desk, browser)
        await page.get_by_role("button", name="Show: Move the docs").click()
        await expect(page.locator(".card")).to_be_focused()


async def test_notifications_are_marked_seen_and_dismissed():
    async with open_desk() as desk, chromium() as browser:
        event = {"source": "github", "kind": "ci-status", "summary": "Build 7", "priority": "low"}
        await desk.call("POST", f"{MAIN}/notifications", event)
        page = await visit(browser, desk)
        row = page.locator("#inbox .note")
        await expect(row.locator(".badge")).to_have_text("low")
        await page.get_by_role("button", name="Seen: Build 7").click()
        await expect(row.get_by_role("button", name="Seen")).to_have_count(0)
        await page.get_by_role("button", name="Dismiss: Build 7").click()
        await expect(page.locator("#inbox")).to_have_text("Nothing new.")
        assert not page.complaints


async def test_a_sample_alert_shows_how_signals_look():
    async with open_desk(Setup(script=[Say(text="I see it.")])) as desk, chromium() as browser:
        page = await visit(browser, desk)
        await page.get_by_role("button", name="Send a sample alert").click()
        line = page.locator(".is-signal")
        await expect(line).to_contain_text("Build 218 of acme/app failed on main")
        await expect(line.locator(".priority-high")).to_have_text("high")
        await expect(page.locator(".is-agent")).to_contain_text("I see it.")


@pytest.mark.parametrize(
    ("many", "answer"), [(False, "Berlin"), (True, ["Berlin", "Tokyo"])], ids=["one", "any"]
)
async def test_a_question_is_answered_by_choosing(many, answer):
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.evaluate(SHOW_QUESTION, [QUESTION, many])
        await expect(page.locator(".card strong")).to_have_text("zone")
        for label in ["Berlin", "Tokyo"] if many else ["Berlin"]:
            await page.get_by_label(label).check()
        await page.get_by_role("button", name="Answer").click()
        assert await page.evaluate("window.answers") == [answer]


async def test_a_question_is_answered_in_own_words():
    async with open_desk() as desk, chromium() as browser:
        page = await visit(browser, desk)
        await ready(page)
        await page.evaluate(SHOW_QUESTION, [QUESTION, False])
        await page.get_by_label("Or in your own words").fill("Lisbon")
        await page.get_by_label("Or in your own words").press("Enter")
        assert await page.evaluate("window.answers") == ["Lisbon"]
