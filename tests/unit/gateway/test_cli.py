"""The command line: it teaches, it is quick, and it fails in one sentence."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest
import yaml

from core.errors import InvalidConfig
from gateway import cli

INTERLOCK = Path(sys.executable).with_name("interlock")
COMMANDS = ("dev", "serve", "init", "manifest", "doctor", "version")


def interlock(*words, cwd=None):
    """Run the command as a person does."""
    return subprocess.run(
        [str(INTERLOCK), *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


def in_process(capsys, *words):
    """Run a command here; return its exit code and what it printed."""
    code = cli.main(words)
    return code, *capsys.readouterr()


def helped(capsys, *words):
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_help_teaches_the_first_steps(capsys):
    shown = helped(capsys, "--help")
    for command in COMMANDS:
        assert f"    {command} " in shown
    assert "interlock dev  " in shown
    assert "interlock init && interlock serve" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(capsys, command):
    shown = helped(capsys, command, "--help")
    assert f"usage: interlock {command}" in shown
    assert "--debug" in shown


def test_help_is_there_at_once():
    took = []
    while len(took) < 3 and min(took, default=1) >= 0.3:
        before, began = os.times(), perf_counter()
        assert interlock("--help").returncode == 0
        spent = os.times().children_user + os.times().children_system
        spent -= before.children_user + before.children_system
        # Its own time alone: it waits for nothing but a processor that other tests had.
        took.append(min(perf_counter() - began, spent))
    assert min(took) < 0.3


def test_help_loads_nothing_that_it_does_not_need():
    program = (
        "import sys\nfrom gateway.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    print('loaded', *sys.modules)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    loaded = {name.split(".")[0] for name in shown.rpartition("loaded")[2].split()}
    assert "gateway" in loaded
    assert not loaded & {"core", "adapters", "pydantic", "aiohttp", "litellm", "structlog"}


@pytest.mark.parametrize(
    "words",
    [(), ("fly",), ("dev", "--port", "http"), ("manifest",), ("manifest", "teams"), ("--nope",)],
)
def test_wrong_usage_ends_with_two_and_says_what_is_right(capsys, words):
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert "usage: interlock" in capsys.readouterr().err


def test_version_tells_all_that_a_report_needs(capsys):
    code, out, err = in_process(capsys, "version")
    assert (code, err) == (0, "")
    assert out.startswith("interlock 0.")
    assert ", Python 3." in out
    assert ", SQLite 3." in out


def test_the_slack_manifest_is_yaml_with_what_the_adapter_needs(capsys):
    code, out, _ = in_process(capsys, "manifest", "slack")
    manifest = yaml.safe_load(out)
    assert code == 0
    assert "chat:write" in manifest["oauth_config"]["scopes"]["bot"]
    assert "app_mention" in manifest["settings"]["event_subscriptions"]["bot_events"]
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["features"]["slash_commands"][0]["command"] == "/interlock"


def test_init_prints_the_files_it_wrote_and_refuses_to_write_twice(capsys):
    code, out, _ = in_process(capsys, "init", "bot")
    assert (code, out.split()) == (0, ["bot/interlock.toml", "bot/agents.py", "bot/.env.example"])
    code, out, err = in_process(capsys, "init", "bot")
    assert (code, out) == (1, "")
    assert err == "interlock: bot/interlock.toml is there already; nothing was written\n"


def test_doctor_says_in_its_exit_code_whether_anything_fails(capsys):
    code, out, _ = in_process(capsys, "doctor")
    assert code == 1
    assert "FAIL agents: no agent is configured" in out
    Path("interlock.toml").write_text('[[agents]]\nid = "a"\nmodel = "demo"\n')
    code, out, _ = in_process(capsys, "doctor")
    assert code == 0
    assert "FAIL" not in out


def raising(problem):
    """A parser whose only command raises."""

    def build():
        parser = cli.argparse.ArgumentParser()
        parser.add_argument("--debug", action="store_true")

        def run(_):
            raise problem

        parser.set_defaults(run=run)
        return parser

    return build


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (InvalidConfig("the port is wrong"), "interlock: the port is wrong\n"),
        (KeyError("x"), "interlock: KeyError: 'x' (--debug shows where)\n"),
        (InvalidConfig("no: xoxb-" + "123456789012"), "interlock: no: [secret]\n"),
    ],
)
def test_an_error_is_one_sentence_without_secrets(capsys, monkeypatch, problem, said):
    monkeypatch.setattr(cli, "build_parser", raising(problem))
    assert in_process(capsys) == (1, "", said)
    with pytest.raises(type(problem)):
        cli.main(["--debug"])


def test_who_interrupts_gets_the_code_of_that(capsys, monkeypatch):
    monkeypatch.setattr(cli, "build_parser", raising(KeyboardInterrupt()))
    assert in_process(capsys) == (130, "", "")


@pytest.mark.parametrize("command", ["serve", "dev"])
def test_a_start_that_fails_says_why_in_one_line(command):
    done = interlock(command, "--config", "gone.toml")
    assert done.returncode == 1
    assert done.stderr == "interlock: gone.toml is not there; `interlock init` writes one\n"


@pytest.mark.parametrize(
    "words", [("--debug", "serve", "--config", "x"), ("serve", "--debug", "--config", "x")]
)
def test_debug_shows_the_traceback_wherever_it_stands(words):
    done = interlock(*words)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "x is not there" in done.stderr


def test_the_module_runs_like_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "gateway.cli", "version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("interlock 0.")
