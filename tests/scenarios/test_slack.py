"""Slack: people talk to the agent, steer it, and decide on its plans."""

from typing import Any

from tests.loopback.model.client import LoopbackModel
from tests.loopback.model.script import Call, Say
from tests.loopback.slack.client import LoopbackSlack
from tests.scenarios.gateway import AGENT, POLICY, GatewayProcess

MENTION = "<@U0BOT> "
PLAN = {"path": "docs.md", "content": "# Move the docs\n\n- copy\n- check"}


def plan_script(*after: Say | str) -> list[Say | str]:
    return [
        Say(calls=[Call(name="write_plan", arguments=PLAN)]),
        Say(calls=[Call(name="submit_plan", arguments={"path": "docs.md"})]),
        *after,
    ]


def card_of(slack: LoopbackSlack) -> dict[str, Any] | None:
    cards = [post for post in slack.posts() if "pa:" in str(post.get("blocks"))]
    return cards[-1] if cards else None


def action(card: dict[str, Any], letter: str) -> str:
    actions = next(block for block in card["blocks"] if block["type"] == "actions")
    ids = [element["action_id"] for element in actions["elements"]]
    return next(item for item in ids if item.endswith(f":{letter}"))


def texts(slack: LoopbackSlack) -> list[str]:
    return [str(post["text"]) for post in slack.posts()]


async def test_a_mention_is_answered_in_its_thread(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("Hello Ada.")
    await gateway.start()
    said = await slack.say("U0001", "C0001", f"{MENTION}hello")
    [post] = await slack.until(slack.posts)
    assert (post["channel"], post["thread_ts"]) == ("C0001", said["ts"])
    assert "Hello Ada." in str(post)


async def test_the_model_sees_who_said_what(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("Hello Ada.")
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}a < b & c")
    await slack.until(slack.posts)
    assert model.prompts() == [
        '<user name="Ada" from="slack" id="slack:T0001:U0001">a &lt; b &amp; c</user>'
    ]


async def test_twins_in_any_order_are_one_message(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("One.", "Two.", "Three.")
    await gateway.start()
    for number, order in enumerate(("message_first", "mention_first", "together"), start=1):
        await slack.say("U0001", "C0001", f"{MENTION}{order}", order=order)
        await slack.until(lambda wanted=number: len(slack.posts()) == wanted)
    assert len(model.requests()) == 3


async def test_a_follow_up_in_the_thread_needs_no_mention(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("First.", "Second.")
    await gateway.start()
    said = await slack.say("U0001", "G0001", f"{MENTION}hello")
    await slack.until(slack.posts)
    await slack.say("U0002", "G0001", "and me?", thread_ts=said["ts"])
    await slack.until(lambda: len(slack.posts()) == 2)
    assert 'name="Bob"' in model.prompts()[1]
    roles = [message["role"] for message in model.requests()[1]["messages"]]
    assert roles[-3:] == ["user", "assistant", "user"]


async def test_a_direct_message_is_answered(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("Hello.")
    await gateway.start()
    await slack.say("U0001", "D0001", "hello")
    [post] = await slack.until(slack.posts)
    assert post["channel"] == "D0001"


async def test_what_is_said_elsewhere_is_none_of_its_business(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script("Here.")
    await gateway.start()
    await slack.say("U0001", "C0001", "nobody in particular")
    await slack.say("U0001", "C0001", f"{MENTION}you")
    await slack.until(slack.posts)
    assert len(model.requests()) == 1


async def test_a_message_meanwhile_changes_the_answer(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    slow = Say(calls=[Call(name="clock")], stall_first=1.5)
    await model.script(slow, "Both of you.")
    await gateway.start()
    said = await slack.say("U0001", "C0001", f"{MENTION}what time is it?")
    await slack.until(lambda: len(model.requests()) == 1)
    await slack.say("U0002", "C0001", "in Tokyo, please", thread_ts=said["ts"])
    await slack.until(slack.posts)
    assert len(model.requests()) == 2
    assert "in Tokyo" in model.prompts()[1]
    assert len(slack.posts()) == 1


async def test_a_plan_is_approved_after_a_restart_between_card_and_click(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script(*plan_script("Done as planned."))
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}move the docs")
    card = await slack.until(lambda: card_of(slack))
    await gateway.kill()
    await gateway.start()
    await slack.click("U0001", card["ts"], "C0001", action(card, "a"))
    await slack.until(lambda: any("Done as planned." in str(post) for post in slack.posts()))
    await slack.until(lambda: slack.journal.entries("update"))
    [shown] = [one for one in await slack.messages("C0001") if one["ts"] == card["ts"]]
    assert "Approved by Ada" in str(shown)
    assert "actions" not in [block["type"] for block in shown["blocks"]]
    assert "Plan approved. Proceed" in model.prompts()[2]


async def test_a_rejection_asks_for_the_reason_and_the_plan_is_revised(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    await model.script(*plan_script(*plan_script("Done.")))
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}move the docs")
    card = await slack.until(lambda: card_of(slack))
    await slack.click("U0001", card["ts"], "C0001", action(card, "r"))
    [view] = await slack.views()
    block = next(block for block in view["blocks"] if block["type"] == "input")
    await slack.submit_view("U0001", view["id"], {block["block_id"]: "check the links"})
    second = await slack.until(lambda: (found := card_of(slack)) and found != card and found)
    assert "check the links" in model.prompts()[2]
    await slack.click("U0001", second["ts"], "C0001", action(second, "a"))
    await slack.until(lambda: any("Done." in str(post) for post in slack.posts()))


async def test_who_may_not_decide_is_told_so_alone(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    """PB-019."""
    await model.script(*plan_script("Done."))
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}move the docs")
    card = await slack.until(lambda: card_of(slack))
    await slack.click("U0002", card["ts"], "C0001", action(card, "a"))
    [told] = await slack.until(lambda: slack.journal.entries("ephemeral"))
    assert told["user"] == "U0002"
    assert "may not decide" in str(told)
    assert len(model.requests()) == 2


async def test_the_second_click_is_told_who_decided(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    """PB-061."""
    await model.script(*plan_script("Done."))
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}move the docs")
    card = await slack.until(lambda: card_of(slack))
    await slack.click("U0001", card["ts"], "C0001", action(card, "a"))
    await slack.until(lambda: slack.journal.entries("update"))
    await slack.click("U0001", card["ts"], "C0001", action(card, "a"), stale=True)
    [told] = await slack.until(lambda: slack.journal.entries("ephemeral"))
    assert "Approved by Ada" in str(told)
    await slack.until(lambda: len(model.requests()) == 3)


async def test_a_first_event_before_slack_knows_us_is_answered_on_its_retry(
    gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    """The event is not acknowledged while `auth.test` fails."""
    await model.script("Hello.")
    await slack.fault("auth.test", "error", error="internal_error", times=2)
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}hello", wait=False)
    [post] = await slack.until(slack.posts, seconds=20)
    assert "Hello." in str(post)
    statuses = [entry.get("status") for entry in slack.deliveries()]
    assert 503 in statuses
    assert len(model.requests()) == 1


async def test_a_socket_carries_the_same_conversation(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    await model.script("Hello.")
    await slack.settings(delivery="socket")
    gateway.add_environment(slack.environment(socket_mode=True))
    await gateway.start()
    await slack.until(lambda: slack.journal.entries("socket"))
    await slack.say("U0001", "C0001", f"{MENTION}hello")
    [post] = await slack.until(slack.posts)
    assert "Hello." in str(post)


async def test_a_question_is_answered_by_writing_in_the_thread(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    gateway.configure(AGENT.replace('"clock"', '"ask_user"') + POLICY)
    asking = {"question": "Which branch?", "options": [{"label": "main"}, {"label": "dev"}]}
    await model.script(Say(calls=[Call(name="ask_user", arguments=asking)]), "Taking main.")
    await gateway.start()
    said = await slack.say("U0001", "C0001", f"{MENTION}release it")
    await slack.until(lambda: any("Which branch?" in str(post) for post in slack.posts()))
    answer = await slack.say("U0002", "C0001", "main", thread_ts=said["ts"])
    await slack.until(lambda: any("Taking main." in str(post) for post in slack.posts()))
    await slack.redeliver(answer["event_ids"][0])
    assert len(model.requests()) == 2
    assert '"answer": "main"' in str(model.requests()[1]["messages"][-1]["content"])


async def test_a_post_whose_answer_is_lost_is_not_posted_again(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    await model.script("Once.", "Twice.")
    await slack.fault("chat.postMessage", "accept_then_drop")
    await gateway.start()
    said = await slack.say("U0001", "C0001", f"{MENTION}hello")
    await slack.until(slack.posts)
    await slack.say("U0001", "C0001", "and again", thread_ts=said["ts"])
    await slack.until(lambda: any("Twice." in str(post) for post in slack.posts()))
    assert [str(post).count("Once.") > 0 for post in slack.posts()] == [True, False]


async def test_a_rate_limit_is_waited_for(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    await model.script("Hello.")
    await slack.fault("chat.postMessage", "ratelimit", retry_after=1)
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}hello")
    await slack.until(slack.posts)
    assert not any(call.get("inside_retry_after") for call in slack.calls("chat.postMessage"))


async def test_a_model_that_is_down_is_told_with_an_error_id(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    await model.script(Say(status=401, error={"message": "bad key sk-loopback-0123456789"}))
    await gateway.start()
    await slack.say("U0001", "C0001", f"{MENTION}hello")
    [post] = await slack.until(slack.posts)
    assert "(error e_" in str(post)
    assert "sk-loopback" not in str(post)
    assert "sk-loopback" not in gateway.log.read_text()


async def test_stop_ends_the_run_and_says_so(
    slack: LoopbackSlack, model: LoopbackModel, gateway: GatewayProcess
) -> None:
    await model.script(Say(text="Never.", stall_first=20), "After all.")
    await gateway.start()
    said = await slack.say("U0001", "C0001", f"{MENTION}hello")
    await slack.until(lambda: len(model.requests()) == 1)
    await slack.say("U0001", "C0001", "!stop", thread_ts=said["ts"])
    await slack.until(lambda: "client_gone" in model.ends())
    await slack.say("U0001", "C0001", "go on", thread_ts=said["ts"])
    await slack.until(lambda: any("After all." in str(post) for post in slack.posts()))
    assert not any("Never." in str(post) for post in slack.posts())
