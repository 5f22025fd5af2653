"""GitHub: what a failed run does, what can wait, and what is not believed."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.loopback.model.client import LoopbackModel
from tests.loopback.slack.client import LoopbackSlack
from tests.scenarios.gateway import AGENT, POLICY, SECRET, GatewayProcess
from tests.support import eventually

OPS = "/api/v1/threads/console%3Alocal%3Aops%3A-/console%3Alocal%3Aops%3A-"
CONFIG = (
    AGENT
    + POLICY
    + """
[[subscriptions]]
topic = "github:acme/app"
to = "console:local:ops"

[[digests]]
to = "console:local:ops"
at = "0 9 * * *"
zone = "Europe/Berlin"
"""
)


def workflow_run(conclusion: str, branch: str = "main") -> dict[str, Any]:
    repository = {"full_name": "acme/app", "default_branch": "main", "name": "app"}
    run = {
        "id": 7,
        "name": "CI",
        "head_branch": branch,
        "head_sha": "abc1234",
        "status": "completed",
        "conclusion": conclusion,
        "html_url": "https://github.com/acme/app/actions/runs/7",
        "pull_requests": [],
        "run_attempt": 1,
    }
    workflow = {"name": "CI", "path": ".github/workflows/ci.yml"}
    return {
        "action": "completed",
        "workflow_run": run,
        "workflow": workflow,
        "repository": repository,
        "sender": {"login": "ada"},
    }


async def deliver(
    gateway: GatewayProcess,
    event: str,
    body: dict[str, Any],
    *,
    delivery: str = "d-1",
    secret: str = SECRET,
) -> int:
    raw = json.dumps(body).encode()
    signature = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{gateway.url}/webhooks/github", data=raw, headers=headers) as answer,
    ):
        return answer.status


@pytest.fixture
async def gateway(tmp_path: Path, model: LoopbackModel) -> Any:
    environment = {**model.environment(), "GITHUB_WEBHOOK_SECRET": SECRET}
    async with GatewayProcess(tmp_path, environment=environment, config=CONFIG) as running:
        yield running


async def inbox(gateway: GatewayProcess) -> list[dict[str, Any]]:
    status, answer = await gateway.get(f"{OPS}/inbox?status=pending,delivered,seen")
    return answer["notifications"] if status == 200 else []


async def test_a_failed_run_on_main_reaches_an_idle_agent_at_once(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    await model.script("I will look at the failed run.")
    assert await deliver(gateway, "workflow_run", workflow_run("failure")) == 202
    await eventually(lambda: len(model.requests()) == 1, within=10)
    prompt = model.prompts()[0]
    assert prompt.startswith("<notification ")
    assert 'priority="high"' in prompt
    assert 'outcome="failed"' in prompt


async def test_what_is_low_waits_for_the_digest(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    assert await deliver(gateway, "workflow_run", workflow_run("success")) == 202
    [row] = await inbox(gateway)
    assert (row["priority"], row["status"]) == ("low", "pending")
    # 9:00 in Berlin is 7:00 or 8:00 in UTC, whatever day it is.
    assert row["summaryAt"][11:19] in ("07:00:00", "08:00:00")
    assert model.requests() == []


async def test_the_same_delivery_twice_is_one_record(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    await model.script("Noted.")
    assert await deliver(gateway, "workflow_run", workflow_run("failure")) == 202
    assert await deliver(gateway, "workflow_run", workflow_run("failure")) == 200
    assert len(await inbox(gateway)) == 1


async def test_a_wrong_signature_is_refused_and_leaves_no_trace(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    wrong = "a secret that is not the right one"
    assert await deliver(gateway, "workflow_run", workflow_run("failure"), secret=wrong) == 401
    assert (await gateway.get(f"{OPS}/inbox"))[0] == 404
    assert await deliver(gateway, "workflow_run", workflow_run("failure")) == 202


async def test_a_ping_is_answered_and_kept_nowhere(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    body = {"zen": "Keep it logically awesome.", "hook_id": 1}
    assert await deliver(gateway, "ping", body) in (200, 202)
    assert (await gateway.get(f"{OPS}/inbox"))[0] == 404


async def test_a_channel_hears_of_it_and_answers_below_come_back(
    tmp_path: Path, slack: LoopbackSlack, model: LoopbackModel
) -> None:
    config = (
        AGENT
        + POLICY
        + '\n[[subscriptions]]\ntopic = "github:acme/app"\nto = "slack:T0001:C0001"\n'
    )
    environment = {
        **model.environment(),
        **slack.environment(),
        "GITHUB_WEBHOOK_SECRET": SECRET,
    }
    await model.script("The build is broken; shall I look?", "Looking.")
    async with GatewayProcess(tmp_path, environment=environment, config=config) as running:
        await slack.set_target(f"{running.url}/slack/events")
        assert await deliver(running, "workflow_run", workflow_run("failure")) == 202
        [post] = await slack.until(slack.posts)
        assert (post["channel"], post.get("thread_ts")) == ("C0001", None)
        await slack.say("U0002", "C0001", "yes, please", thread_ts=post["ts"])
        answer = (await slack.until(lambda: len(slack.posts()) == 2 and slack.posts()))[1]
        assert answer["thread_ts"] == post["ts"]
        assert "yes, please" in model.prompts()[1]
        assert "The build is broken" in str(model.requests()[1]["messages"])
