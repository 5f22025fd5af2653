"""The start: `interlock dev` on an empty folder is ready at once and loads nothing it can spare."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter

import aiohttp
import pytest

from tests.scenarios.gateway import GatewayProcess
from tests.support import eventually

READY_SECONDS = 2.0
SPARED = {"litellm", "openai", "slack_bolt", "slack_sdk", "discord", "redis"}
"""What the demo model on loopback has no use for; litellm alone takes six seconds."""
OFFLINE = {"INTERLOCK_API_TOKEN": "", "INTERLOCK_DEMO_PACE": "0"}


def dev(folder: Path, **environment: str) -> GatewayProcess:
    """`interlock dev` as a newcomer starts it."""
    return GatewayProcess(folder, environment={**OFFLINE, **environment}, config="", command="dev")


@pytest.fixture
async def traced(tmp_path: Path) -> AsyncIterator[GatewayProcess]:
    """The same, with every import written to its log."""
    async with dev(tmp_path, PYTHONPROFILEIMPORTTIME="1") as process:
        process.token = (tmp_path / ".interlock" / "token").read_text()
        yield process


async def started(folder: Path) -> float:
    """Start it on an empty folder; return the seconds of its own until /readyz was 200."""
    folder.mkdir()
    process, began = dev(folder), perf_counter()
    try:
        await process.start()
        return perf_counter() - began - waited(process)
    finally:
        await process.stop()


def waited(process: GatewayProcess) -> float:
    """Return the seconds for which it stood in line for a processor that other tests had."""
    assert process._process is not None
    told = Path(f"/proc/{process._process.pid}/schedstat")
    return int(told.read_text().split()[1]) / 1e9 if told.exists() else 0.0


async def test_it_is_ready_in_two_seconds(tmp_path: Path) -> None:
    took: list[float] = []
    while len(took) < 3 and min(took, default=READY_SECONDS) >= READY_SECONDS:
        took.append(await started(tmp_path / str(len(took))))
    assert min(took) < READY_SECONDS, took


async def test_it_answers_and_has_still_loaded_no_heavy_library(traced: GatewayProcess) -> None:
    thread = "/api/v1/threads/team/t1"
    assert await said(traced, f"{thread}/messages", "hello") == 202

    async def answered() -> bool:
        _, page = await traced.get(f"{thread}/messages")
        return any(item["role"] == "assistant" for item in page["messages"])

    await eventually(answered, within=10)
    loaded = {name.split(".")[0] for name in imports(traced.log)}
    assert "aiohttp" in loaded
    assert not loaded & SPARED


async def test_it_says_where_to_look_and_how_to_get_a_real_model(traced: GatewayProcess) -> None:
    greeting = traced.log.read_text()
    assert f"http://127.0.0.1:{traced.port}" in greeting
    assert "built-in demo model" in greeting
    assert "INTERLOCK_MODEL=openai/" in greeting


async def test_it_leaves_no_token_behind(tmp_path: Path) -> None:
    async with dev(tmp_path):
        assert (tmp_path / ".interlock" / "token").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / ".interlock" / "token").exists()


async def said(process: GatewayProcess, path: str, text: str) -> int:
    """Let somebody of the console say something; in dev nobody else may."""
    headers = {
        "Authorization": f"Bearer {process.token}",
        "X-Interlock-Actor": "console:local:ada",
    }
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{process.url}{path}", json={"contents": text}) as answer,
    ):
        return answer.status


def imports(log: Path) -> list[str]:
    """Return the modules that a process imported, as it logged them."""
    return re.findall(r"^import time:.*\|\s*([\w.]+)$", log.read_text(), re.MULTILINE)
