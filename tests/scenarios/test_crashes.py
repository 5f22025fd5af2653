"""Crashes: the gateway kills itself at a named point; afterwards each message has one answer."""

from collections import Counter

import pytest

from tests.loopback.model.client import LoopbackModel
from tests.loopback.model.script import Call, Say
from tests.loopback.slack.client import LoopbackSlack
from tests.scenarios.gateway import GatewayProcess

QUESTION = "<@U0BOT> what time is it?"
POINTS = [
    "bind.before_commit",
    "accept.before_commit",
    "accept.after_commit",
    "acquire.after_commit",
    "next_run.after_commit",
    "close_step.before_commit",
    "close_step.after_commit",
    "model.before_call",
    "model.after_call",
    "commit_answer.before_commit",
    "commit_answer.after_commit",
    "tool.before_run",
    "tool.after_run",
    "settle_call.after_commit",
    "commit_answer.after_commit#2",
    "claim.after_commit",
    "slack.before_post",
    "slack.after_post",
    "sent.before_commit",
    "sent.after_commit",
    "end_run.before_commit",
]


@pytest.fixture
async def model(model_server: LoopbackModel) -> LoopbackModel:
    """A model that reads the clock and then answers, as often as it is asked."""
    await model_server.reset()
    await model_server.rule("what time", Say(calls=[Call(name="clock")]), "It is noon.")
    await model_server.rule("and now", "Still noon.")
    return model_server


def answers(slack: LoopbackSlack) -> Counter[str]:
    """Count what stands in the channel as the bot's words."""
    said = ("It is noon.", "Still noon.")
    return Counter(word for post in slack.posts() for word in said if word in str(post["text"]))


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_costs_no_message_and_doubles_no_answer(
    point: str, gateway: GatewayProcess, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    # A restart may take some seconds on a busy machine: Slack's retries must outlast it.
    await slack.settings(time_scale=0.04)
    await gateway.start(kill_at=point)
    said = await slack.say("U0001", "C0001", QUESTION, wait=False)
    await gateway.dead()
    await gateway.start()
    await slack.until(lambda: answers(slack)["It is noon."] >= 1, seconds=25)
    # A second question after the first answer shows that the thread is free, and flushes doubles.
    await slack.say("U0002", "C0001", "and now?", thread_ts=said["ts"])
    await slack.until(lambda: answers(slack)["Still noon."] >= 1, seconds=15)
    assert answers(slack) == Counter({"It is noon.": 1, "Still noon.": 1})
