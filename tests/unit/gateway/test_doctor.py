"""The doctor: one line for each check, and each failing one says how to mend it."""

from pathlib import Path

import pytest

from gateway.doctor import Finding, examine

AGENT = '[[agents]]\nid = "a"\nmodel = "demo"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def examined(text=AGENT, monkeypatch=None, **variables):
    """Return the findings by check."""
    Path("interlock.toml").write_text(text)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return {finding.check: finding for finding in await examine(None)}


def test_a_finding_is_one_line():
    assert str(Finding(check="store", ok=True, detail="x.db")) == "ok   store: x.db"
    assert str(Finding(check="store", ok=False, detail="gone")) == "FAIL store: gone"


async def test_a_project_that_is_well_has_only_good_findings(folder):
    found = await examined()
    assert list(found) == ["settings", "agents", "serve", "store", "sqlite", "policy"]
    assert all(finding.ok for finding in found.values())
    assert found["agents"].detail == "1, models demo"
    assert found["store"].detail == str(folder / ".interlock" / "interlock.db")


async def test_settings_that_cannot_be_read_end_it_early():
    found = await examined("[store]\nulr = 'x'\n")
    assert list(found) == ["settings"]
    assert "did you mean 'url'?" in found["settings"].detail


async def test_agents_that_do_not_load_are_told_once():
    found = await examined("agents_module = 'gone.py'\n")
    assert not found["agents"].ok
    assert "gone.py is not a Python file" in found["agents"].detail
    assert "serve" not in found


@pytest.mark.parametrize(
    ("text", "variables", "said"),
    [
        (AGENT.replace("demo", "openai/gpt-5-mini"), {}, "OPENAI_API_KEY"),
        (AGENT + "tools = ['nope']\n", {}, "there is no built-in tool 'nope'"),
        (AGENT, {"INTERLOCK_HOST": "0.0.0.0"}, "INTERLOCK_API_TOKEN"),
        (AGENT, {"GITHUB_WEBHOOK_SECRET": "short"}, "GITHUB_WEBHOOK_SECRET is shorter"),
        (AGENT, {"SLACK_BOT_TOKEN": "xoxb-1"}, "neither SLACK_SIGNING_SECRET"),
        (
            AGENT + "[[subscriptions]]\ntopic = 'github:acme/app'\nto = 'slack:T1:C1'\n",
            {},
            "github:acme/app needs GITHUB_WEBHOOK_SECRET",
        ),
        (
            AGENT + "[[digests]]\nto = 'slack:T1:C1'\nat = '0 9 * * 8'\n",
            {},
            "'0 9 \\* \\* 8' is no cron expression",
        ),
        (
            AGENT + "[[policy.channels]]\nid = 'slack:T1:C1'\nagent = 'b'\n",
            {},
            "the channel slack:T1:C1 names the agent 'b'; known: a",
        ),
    ],
)
async def test_what_serve_would_refuse_is_told_before(monkeypatch, text, variables, said):
    finding = (await examined(text, monkeypatch, **variables))["serve"]
    assert not finding.ok
    assert said.replace("\\", "") in finding.detail


async def test_a_slack_that_is_configured_is_rehearsed_without_asking_it(monkeypatch):
    secrets = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s" * 32}
    assert (await examined(AGENT, monkeypatch, **secrets))["serve"].ok


async def test_a_store_that_cannot_be_is_told(folder, monkeypatch):
    (folder / "file").write_text("")
    found = await examined(AGENT + "[store]\nurl = 'sqlite:///file/x.db'\n")
    assert "file is not a folder we may write to" in found["store"].detail
    url = "redis://user:hunter2@127.0.0.1:1/0"
    found = await examined(AGENT, monkeypatch, INTERLOCK_STORE_URL=url)
    assert found["store"].detail.startswith("redis://127.0.0.1:1/0 is not known here")


@pytest.mark.parametrize(
    ("policy", "well"),
    [
        ("talk = ['slack:T1:*']\n", False),
        ("talk = ['slack:T1:*']\napprove = ['slack:T1:U1']\n", True),
        (
            "talk = ['slack:T1:*']\n[[policy.channels]]\nid = 'slack:T1:C1'\n"
            "approve = ['slack:T1:U1']\n",
            True,
        ),
    ],
)
async def test_people_who_may_talk_need_somebody_who_may_approve(policy, well):
    finding = (await examined(f"{AGENT}[policy]\n{policy}"))["policy"]
    assert finding.ok is well
    assert ("list approvers in [policy] approve" in finding.detail) is not well
