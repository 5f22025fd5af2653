"""Support: what a test that watches a real process needs, and nothing else."""

import asyncio
import contextlib
import inspect
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

Answer = TypeVar("Answer")

POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisServer:
    """A private Redis (or Valkey) of this test run, on loopback, keeping every write on disk."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


async def eventually(
    predicate: Callable[[], Awaitable[Answer] | Answer], *, within: float = 5.0
) -> Answer:
    """Polls until the predicate answers something true, and returns that answer.

    Args:
        predicate: plain or async, without arguments; an AssertionError counts as "not yet".
        within: seconds until the test fails with the last thing the predicate said.

    Raises:
        AssertionError: the deadline passed; the text tells what was awaited.
    """
    deadline = monotonic() + within
    while True:
        answer = await _ask(predicate)
        if answer and not isinstance(answer, AssertionError):
            return answer
        if monotonic() >= deadline:
            cause = answer if isinstance(answer, AssertionError) else None
            msg = f"{_name(predicate)} did not come true within {within} s; last: {answer!r}"
            raise AssertionError(msg) from cause
        await asyncio.sleep(POLL_SECONDS)


async def _ask(predicate: Callable[[], Awaitable[Answer] | Answer]) -> Answer | AssertionError:
    try:
        answer = predicate()
        return await answer if inspect.isawaitable(answer) else answer
    except AssertionError as not_yet:
        return not_yet


def _name(predicate: Callable[[], object]) -> str:
    code = getattr(predicate, "__code__", None)
    name = getattr(predicate, "__qualname__", repr(predicate))
    return f"{name} (line {code.co_firstlineno})" if code else name


def unused_port() -> int:
    """A loopback port nobody listens on now; prefer port 0 where the program can tell its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_redis(folder: Path) -> Iterator[RedisServer]:
    """Runs a Redis of our own in `folder` until the block ends; it is killed, never asked twice."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    assert program, "no redis-server and no valkey-server on the PATH: run `make test` once"
    port = unused_port()
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(
            [program, *_redis_settings(port, folder)],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        _await_pong(process, port, log=folder / "redis.log")
        yield RedisServer(port=port, process=process)
    finally:
        process.kill()
        process.wait()


def _redis_settings(port: int, folder: Path) -> list[str]:
    settings = {
        "port": port,
        "bind": "127.0.0.1",
        "dir": folder,
        "save": "",
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
    }
    return [word for key, value in settings.items() for word in (f"--{key}", str(value))]


def _await_pong(
    process: subprocess.Popen[bytes], port: int, *, log: Path, within: float = 10
) -> None:
    deadline = monotonic() + within
    while not _pongs(port):
        alive = process.poll() is None and monotonic() < deadline
        assert alive, f"Redis did not start on port {port}:\n{log.read_text()[-2000:]}"
        sleep(POLL_SECONDS)


def _pongs(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as line:
        line.sendall(b"PING\r\n")
        return line.recv(16).startswith(b"+PONG")
    return False
