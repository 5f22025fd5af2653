"""The app: supervision, the token of this machine, and a stop in stages."""

import asyncio
import os
import signal
import stat
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from core.errors import Fatal, InvalidConfig
from core.testing import FakeClock
from gateway.app import Health, TokenFile, check_bind, readiness, reason, run, serve, supervise
from gateway.config import AgentSection, ModelSection, ServerSection, Settings, StoreSection
from gateway.wiring import Gateway
from tests.support import eventually, unused_port


class HurriedClock(FakeClock):
    """A clock on which every pause is over at once; it keeps how long each was."""

    def __init__(self):
        super().__init__()
        self.pauses = []

    async def sleep(self, seconds):
        self.pauses.append(seconds)
        await self.advance(timedelta(seconds=seconds))


def lives(*ends, clock=None, health=None, seen=None):
    """A part that ends its lives one after the other: an error, or seconds lived before one."""
    script = list(ends)

    async def work():
        if seen is not None:
            seen.append(dict(health.problems))
        end = script.pop(0)
        if isinstance(end, Exception):
            raise end
        if end is not None:
            await clock.advance(timedelta(seconds=end))
            raise RuntimeError("lived and broke")

    return work


async def test_a_part_that_breaks_is_started_again_with_growing_pauses():
    clock, health = HurriedClock(), Health()
    broken = [RuntimeError("again")] * 8
    with pytest.raises(Fatal):
        await supervise("slack", lives(*broken, Fatal("over")), health, clock)
    assert clock.pauses == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_a_part_that_lived_long_is_trusted_again():
    clock, health = HurriedClock(), Health()
    work = lives(RuntimeError("1"), RuntimeError("2"), 3600, Fatal("over"), clock=clock)
    with pytest.raises(Fatal):
        await supervise("slack", work, health, clock)
    assert clock.pauses == [1, 2, 1]


async def test_a_part_is_unhealthy_while_it_is_down_and_no_longer():
    clock, health, seen = FakeClock(), Health(), []
    work = lives(
        ValueError("bad token xoxb-" + "123456789012"), Fatal("over"), health=health, seen=seen
    )
    task = asyncio.create_task(supervise("slack", work, health, clock))
    await eventually(lambda: health.problems)
    assert health.problems == {"slack": "ValueError: bad token [secret]"}
    await clock.advance(timedelta(seconds=1))
    with pytest.raises(Fatal):
        await task
    assert seen == [{}, {}]


async def test_a_life_that_ends_by_itself_counts_as_a_crash():
    clock, health = HurriedClock(), Health()
    with pytest.raises(Fatal):
        await supervise("slack", lives(None, Fatal("over")), health, clock)
    assert clock.pauses == [1]


async def test_a_fatal_error_leaves_even_from_a_group_of_tasks():
    async def work():
        async with asyncio.TaskGroup() as group:
            group.create_task(lives(Fatal("the version is wrong"))())
            await asyncio.Event().wait()

    with pytest.raises(BaseExceptionGroup) as left:
        await supervise("slack", work, Health(), HurriedClock())
    assert str(reason(left.value)) == "the version is wrong"


def test_of_many_errors_a_person_is_told_the_one_of_ours():
    ours = InvalidConfig("the port is wrong")
    inner = BaseExceptionGroup("inner", [ValueError("x"), ours])
    assert reason(BaseExceptionGroup("outer", [KeyError("y"), inner])) is ours
    plain = ValueError("x")
    assert reason(ExceptionGroup("outer", [plain])) is plain
    assert reason(plain) is plain


@pytest.mark.parametrize(
    ("prepared", "stopping", "ready"),
    [(False, False, False), (True, False, True), (True, True, False)],
)
def test_it_is_ready_from_prepared_to_stopping(prepared, stopping, ready):
    assert Health(prepared=prepared, stopping=stopping).ready() is ready


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "bot.example"])
def test_a_host_that_is_open_needs_a_token(host):
    """T25."""
    server = ServerSection(host=host)
    with pytest.raises(InvalidConfig, match=f"host {host} is open.*INTERLOCK_API_TOKEN"):
        check_bind(Settings(server=server))
    check_bind(Settings(server=server, api_token=SecretStr("a long enough token")))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_needs_none(host):
    check_bind(Settings(server=ServerSection(host=host)))


def test_the_token_of_this_machine_is_for_its_user_alone(tmp_path):
    path = tmp_path / "deep" / "token"
    first, second = TokenFile(path), TokenFile(path)
    first.write()
    assert path.read_text() == first.token
    path.chmod(0o644)
    second.write()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(second.token) >= 32
    assert first.token != second.token


def test_a_token_file_is_removed_only_by_its_owner(tmp_path):
    path = tmp_path / "token"
    ours, theirs = TokenFile(path), TokenFile(path)
    theirs.write()
    ours.remove()
    assert path.exists()
    theirs.remove()
    theirs.remove()
    assert not path.exists()


@dataclass
class Part:
    """Whatever a gateway closes in the end; says when it was."""

    name: str
    told: list[str]
    problem: Exception | None = None
    clock: Any = field(default_factory=HurriedClock)
    platform: str = "slack"

    async def prepare(self, names=()):
        self.told.append(f"{self.name} prepared")
        if self.problem is not None:
            raise self.problem

    async def run(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.told.append(f"{self.name} heard no more")

    async def aclose(self, *_):
        self.told.append(f"{self.name} closed")

    def status(self):
        return {"ready": True}


def fake_gateway(told, port, **problems):
    """A gateway of parts that only tell when they are closed."""
    parts = {
        name: Part(name, told, problems.get(name))
        for name in ("runtime", "registry", "console", "adapter")
    }
    return Gateway(
        settings=Settings(server=ServerSection(port=port)),
        routes=(),
        adapters=(parts.pop("adapter"),),
        chores=(),
        model_names=(),
        **parts,
    )


async def test_it_stops_from_the_bottom_up(tmp_path):
    told, stop, token = [], asyncio.Event(), TokenFile(tmp_path / "token")
    gateway = fake_gateway(told, unused_port())

    def announce(port):
        told.append("announced" if port and (tmp_path / "token").exists() else "too early")
        asyncio.get_running_loop().call_soon(stop.set)

    await run(gateway, token, announce, stop)
    assert told == [
        "adapter prepared",
        "registry prepared",
        "announced",
        "adapter heard no more",
        "console closed",
        "runtime closed",
        "adapter closed",
        "registry closed",
    ]
    assert not (tmp_path / "token").exists()


@pytest.mark.parametrize("name", ["adapter", "registry"])
async def test_whatever_fails_on_the_way_up_everything_is_closed(tmp_path, name):
    told: list[str] = []
    gateway = fake_gateway(told, unused_port(), **{name: Fatal("no")})
    with pytest.raises(Fatal, match="no"):
        await run(gateway, TokenFile(tmp_path / "token"), lambda _: None, asyncio.Event())
    assert told[-3:] == ["runtime closed", "adapter closed", "registry closed"]
    assert not (tmp_path / "token").exists()


def test_readiness_tells_what_is_wrong_with_each_part_and_no_secret():
    gateway = fake_gateway([], 0)
    store = StoreSection(url="redis://user:hunter2@127.0.0.1:1/0")
    gateway = replace(gateway, settings=gateway.settings.model_copy(update={"store": store}))
    ready, lines = readiness(gateway, Health(problems={"slack": "OSError: no route"}))
    assert not ready
    assert lines == [
        {"part": "store", "url": "redis://127.0.0.1:1/0"},
        {"part": "models", "prepared": False},
        {"part": "slack", "ready": True, "problem": "OSError: no route"},
    ]


def demo(folder, **more):
    """Settings that need no credentials."""
    fields = {
        "root": folder,
        "folder": folder,
        "agents": (AgentSection(id="helper"),),
        "model": ModelSection(default="demo", demo_pace=0),
        "server": ServerSection(port=unused_port()),
    }
    return Settings(**{**fields, **more})


@dataclass
class Running:
    """A gateway that serves in this process."""

    port: int
    token: str

    async def get(self, path, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{self.port}{path}", headers=headers) as answer,
        ):
            return answer.status, await answer.json()


async def test_the_gateway_serves_until_it_is_told_to_stop(tmp_path):
    ports, stop = [], asyncio.Event()
    task = asyncio.create_task(serve(demo(tmp_path), ports.append, stop))
    await eventually(lambda: ports)
    token = (tmp_path / ".interlock" / "token").read_text()
    running = Running(ports[0], token)
    status, body = await running.get("/readyz")
    assert (status, body["ready"]) == (200, True)
    assert [part["part"] for part in body["parts"]] == ["store", "models"]
    assert (await running.get("/api/v1/agents", token))[1]["agents"][0]["id"] == "helper"
    assert (await running.get("/api/v1/agents", token + "x"))[0] == 401
    stop.set()
    await task
    assert not (tmp_path / ".interlock" / "token").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_it_as_an_operator_expects(tmp_path, number):
    ports = []
    task = asyncio.create_task(serve(demo(tmp_path), ports.append))
    await eventually(lambda: ports)
    # Unheard, the signal would end this process.
    assert signal.getsignal(number) not in (signal.SIG_DFL, signal.default_int_handler)
    os.kill(os.getpid(), number)
    async with asyncio.timeout(10):
        await task


async def test_a_failed_start_lets_go_of_the_store(tmp_path):
    with pytest.raises(InvalidConfig, match="no built-in tool 'nope'"):
        await serve(demo(tmp_path, agents=(AgentSection(id="a", tools=("nope",)),)), print)
    ports, stop = [], asyncio.Event()
    task = asyncio.create_task(serve(demo(tmp_path), ports.append, stop))
    await eventually(lambda: ports)
    stop.set()
    await task


async def test_a_status_page_shows_no_password_of_the_store(tmp_path):
    url = "redis://user:hunter2@127.0.0.1:1/0"
    with pytest.raises(InvalidConfig, match=r"redis://127\.0\.0\.1:1/0") as refused:
        await serve(demo(tmp_path, store=StoreSection(url=url)), print)
    assert "hunter2" not in str(refused.value)
