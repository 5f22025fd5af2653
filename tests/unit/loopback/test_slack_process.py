"""The process a fake runs in, and the journal that outlives everything."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback.journal import Journal
from tests.loopback.process import PROJECT, LoopbackProcess
from tests.loopback.slack.client import LoopbackSlack
from tests.loopback.slack.options import Options
from tests.support import eventually


def is_alive(pid):
    """A zombie has ended; only its parent has not looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_journal_outlives_the_kill_of_its_server(tmp_path):
    async with LoopbackSlack(tmp_path) as slack:
        await slack.say("U0001", "C0001", "hi")
        os.kill(slack.process.pid, signal.SIGKILL)
    assert slack.journal.entries("event", event__text="hi")


async def test_a_server_that_cannot_start_says_why(tmp_path):
    process = LoopbackProcess("tests.loopback.nowhere", log=tmp_path / "log")
    with pytest.raises(RuntimeError, match="No module named"):
        await process.start()


async def test_a_stopped_server_is_gone_and_may_be_stopped_again(tmp_path):
    process = LoopbackProcess(
        "tests.loopback.slack", f"--journal={tmp_path / 'j'}", log=tmp_path / "log"
    )
    await process.start()
    pid = process.pid
    await process.stop()
    await process.stop()
    assert not is_alive(pid)


async def test_a_server_ends_with_the_test_that_started_it(tmp_path):
    starter = (
        "import asyncio, os, pathlib, sys\n"
        "from tests.loopback.slack.client import LoopbackSlack\n"
        "async def main():\n"
        "    slack = LoopbackSlack(pathlib.Path(sys.argv[1]))\n"
        "    await slack.process.start()\n"
        "    print(slack.process.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", starter, str(tmp_path)]
    ended = await asyncio.to_thread(subprocess.run, command, cwd=PROJECT, capture_output=True)
    pid = int(ended.stdout)
    await eventually(lambda: not is_alive(pid))


def test_entries_are_found_by_kind_and_by_fields_one_level_down(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.write("api", method="auth.test", args={"a": 1})
    journal.write("api", method="users.info", args={"a": 2})
    journal.write("post", method="auth.test")
    assert [entry["method"] for entry in journal.entries("api", args__a=2)] == ["users.info"]
    assert len(journal.entries(method="auth.test")) == 2


def test_a_torn_last_line_is_not_yet_an_entry(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.write("whole")
    with journal.path.open("a") as torn:
        torn.write('{"kind": "to')
    assert [entry["kind"] for entry in journal.entries()] == ["whole"]


def test_a_journal_nobody_wrote_is_empty(tmp_path):
    assert Journal(tmp_path / "none").entries() == []


def test_writers_of_several_processes_never_mix_their_lines(tmp_path):
    program = (
        "import pathlib, sys\n"
        "from tests.loopback.journal import Journal\n"
        "for number in range(200):\n"
        "    Journal(pathlib.Path(sys.argv[1])).write('n', text='x' * 9000, number=number)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "journal")]
    writers = [subprocess.Popen(command, cwd=PROJECT) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(Journal(tmp_path / "journal").entries("n")) == 400


def test_options_survive_the_command_line():
    options = Options(journal="a b.jsonl", time_scale=0.5, target="http://127.0.0.1:1/x", epoch=5)
    assert Options.parse(options.arguments()) == options


async def test_a_gateway_is_pointed_here_by_its_environment(tmp_path):
    slack = LoopbackSlack(tmp_path)
    assert "SLACK_APP_TOKEN" not in slack.environment()
    environment = slack.environment(socket_mode=True)
    assert json.dumps(sorted(environment)) == json.dumps(
        ["SLACK_API_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]
    )


async def test_waiting_in_vain_shows_the_newest_entries(tmp_path):
    slack = LoopbackSlack(tmp_path)
    slack.journal.write("clue")
    with pytest.raises(AssertionError) as late:
        await slack.until(lambda: None, seconds=0.05)
    assert "clue" in late.value.__notes__[0]
