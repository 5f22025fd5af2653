"""Wiring: what is configured is mounted, what is not stays away, and contradictions refuse."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.agent import Agent
from core.conversation import Conversation
from core.errors import InvalidConfig, ModelAuthError
from core.runtime import Runtime
from core.testing import ScriptedModel
from gateway.config import load_settings
from gateway.wiring import ConsoleHost, open_store, store_warning, wire

AGENT = '[[agents]]\nid = "a"\nmodel = "demo"\n[[agents]]\nid = "b"\nmodel = "demo"\n'
SLACK = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s" * 32}
GITHUB = {"GITHUB_WEBHOOK_SECRET": "s" * 16 + "," + "t" * 16}
SUBSCRIPTION = "[[subscriptions]]\ntopic = 'github:acme/app'\nto = 'slack:T1:C1'\n"


@pytest.fixture
async def wired(tmp_path, monkeypatch):
    """Wires a gateway on an empty folder; it is closed in the end."""
    monkeypatch.chdir(tmp_path)
    opened = []

    async def make(text="", **variables):
        Path("interlock.toml").write_text(AGENT + text)
        settings = load_settings(None, variables, {})
        opened.append(await wire(settings, SecretStr("a local token of some length")))
        return opened[-1]

    yield make
    for gateway in opened:
        await gateway.runtime.aclose()
        for item in (*gateway.adapters, gateway.registry):
            await item.aclose()


def paths(gateway):
    return {route.path for route in gateway.routes}


async def test_without_secrets_only_the_console_is_mounted(wired):
    gateway = await wired()
    assert "/" in paths(gateway)
    assert not {"/slack/events", "/webhooks/github"} & paths(gateway)
    assert gateway.adapters == ()
    assert [chore.name for chore in gateway.chores] == ["tick", "courier", "purge"]
    assert gateway.model_names == ("demo", "demo")


async def test_each_secret_mounts_its_own_route(wired):
    gateway = await wired(**SLACK, **GITHUB)
    assert {"/slack/events", "/webhooks/github"} <= paths(gateway)
    assert [item.platform for item in gateway.adapters] == ["slack"]
    assert set(gateway.runtime.adapters) == {"console", "slack"}


async def test_socket_mode_needs_no_route(wired):
    gateway = await wired(SLACK_BOT_TOKEN="xoxb-1", SLACK_APP_TOKEN="xapp-1")
    assert "/slack/events" not in paths(gateway)
    assert [item.platform for item in gateway.adapters] == ["slack"]


@pytest.mark.parametrize(
    ("text", "variables", "said"),
    [
        ("", {"SLACK_BOT_TOKEN": "xoxb-1"}, "neither SLACK_SIGNING_SECRET"),
        ("", {"GITHUB_WEBHOOK_SECRET": "s" * 16 + ",short"}, "GITHUB_WEBHOOK_SECRET is shorter"),
        (SUBSCRIPTION, {}, "github:acme/app needs GITHUB_WEBHOOK_SECRET"),
        (SUBSCRIPTION + "agent = 'c'\n", GITHUB, "github:acme/app names the agent 'c'"),
        ("", {"INTERLOCK_STORE_URL": "postgres://u:p@h/x"}, "'postgres://h/x' is not known here"),
    ],
)
async def test_what_contradicts_itself_refuses_the_start(wired, text, variables, said):
    with pytest.raises(InvalidConfig, match=said):
        await wired(text, **variables)


async def test_a_missing_key_is_told_before_a_store_is_opened(wired, tmp_path):
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        await wired('[[agents]]\nid = "c"\nmodel = ["demo", "openai/gpt-5-mini"]\n')
    assert not (tmp_path / ".interlock").exists()


async def test_a_failed_start_leaves_the_store_to_the_next(wired):
    with pytest.raises(InvalidConfig, match="no built-in tool 'nope'"):
        await wired('[[agents]]\nid = "c"\nmodel = "demo"\ntools = ["nope"]\n')
    assert (await wired()).runtime.agent().id == "a"


async def test_subscriptions_and_digests_lead_to_the_channel_that_they_name(wired):
    digest = "[[digests]]\nto = 'slack:T1:C1'\nat = '0 9 * * mon-fri'\nzone = 'Europe/Berlin'\n"
    priority = "priority = { issue = 'high' }\nagent = 'b'\n"
    gateway = await wired(SUBSCRIPTION + priority + digest, **GITHUB)
    assert [agent.id for agent in gateway.runtime.agents()] == ["a", "b"]


async def test_a_channel_without_mentions_takes_part_and_others_once_they_are_bound(wired):
    channel = "[[policy.channels]]\nid = 'slack:T1:C1'\nmention = false\n"
    gateway = await wired(channel, **SLACK)
    participates = gateway.adapters[0]._bolt._desk._means.participates
    open_one = Conversation(platform="slack", tenant="T1", channel="C1", root="1.0")
    other = open_one.model_copy(update={"channel": "C2"})
    assert await participates(open_one)
    assert not await participates(other)
    await gateway.runtime.store.bind(other, gateway_key(other), "a")
    assert await participates(other)


def gateway_key(conversation):
    from core.notifications.inbox import home_of

    return home_of(conversation)


async def test_the_console_sees_the_agents_as_they_are():
    agents = [
        Agent(id="a", model="demo", tools=("clock",), description="d"),
        Agent(id="b", model=ScriptedModel()),
    ]
    async with Runtime(agents=agents) as runtime:
        host = ConsoleHost(runtime, "openai/x")
        first, second = host.agents()
        assert (first.id, first.model, first.tools) == ("a", "demo", ("clock",))
        assert (second.model, host.default_agent_id) == ("openai/x", "a")


async def test_a_relative_store_stands_below_the_root(tmp_path):
    store = await open_store("sqlite:///deep/x.db", tmp_path)
    await store.aclose()
    assert (tmp_path / "deep" / "x.db").is_file()


def test_what_is_known_of_this_sqlite_is_a_sentence_or_nothing():
    assert store_warning() is None or "SQLite" in store_warning()
