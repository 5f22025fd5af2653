"""Fake servers as child processes: start one, learn its port, stop it; and the child's side of it.

The child prints one JSON line, `{"ready": true, "port": 4711}`, and serves until SIGTERM or until
its standard input closes, which happens by itself when the test process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from aiohttp import web

PROJECT = Path(__file__).resolve().parents[2]
_READY_SECONDS = 30.0
_STOP_SECONDS = 5.0


class LoopbackProcess:
    """One fake server running as `python -m module ...`.

    Not bound to an event loop, so a fixture of any scope may own it.
    """

    def __init__(self, module: str, *arguments: str, log: Path) -> None:
        """Name what to run and the file that takes its standard error."""
        self.command = [sys.executable, "-m", module, *arguments]
        self.log = log
        self.port = 0
        self._child: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """Return where it serves, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Return the child's process id, 0 when it is not running."""
        return self._child.pid if self._child else 0

    def launch(self) -> Self:
        """Start the child and wait for its ready line, blocking.

        Raises:
            RuntimeError: it ended or stayed silent; the text carries the end of its log.
        """
        with self.log.open("ab") as errors:
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=PROJECT,
            )
        line = _first_line(self._child)
        if not line:
            self.end()
            tail = self.log.read_text()[-2000:]
            raise RuntimeError(f"{' '.join(self.command)} gave no ready line: {tail}")
        self.port = int(json.loads(line)["port"])
        return self

    def end(self) -> None:
        """End the child, gently and then not, and reap it; a second call does nothing."""
        child, self._child = self._child, None
        if child is not None:
            child.terminate()
            _reap(child)

    async def start(self) -> Self:
        """Start without blocking the event loop (see `launch`)."""
        return await asyncio.to_thread(self.launch)

    async def stop(self) -> None:
        """End without blocking the event loop."""
        await asyncio.to_thread(self.end)

    async def __aenter__(self) -> Self:
        """Start."""
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        """Stop, whatever happened."""
        await self.stop()

    def __enter__(self) -> Self:
        """Start, for a fixture that is wider than an event loop."""
        return self.launch()

    def __exit__(self, *_: object) -> None:
        """Stop, whatever happened."""
        self.end()


async def serve(app: web.Application, *, port: int = 0) -> None:
    """Serve on loopback, print the ready line, return when told to stop (the child's side)."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    stop = _stop_event()
    sys.stdout.write(json.dumps({"ready": True, "port": runner.addresses[0][1]}) + "\n")
    sys.stdout.flush()
    await stop.wait()
    await runner.cleanup()


def _stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, stop.set)
    # Standard input may be a plain file, which cannot be watched: then only signals stop it.
    with contextlib.suppress(PermissionError):
        loop.add_reader(sys.stdin.fileno(), _on_input, loop, stop)
    return stop


def _on_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.remove_reader(sys.stdin.fileno())
    stop.set()


def _first_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    readable, _, _ = select.select([child.stdout], [], [], _READY_SECONDS)
    return child.stdout.readline() if readable else ""


def _reap(child: subprocess.Popen[str]) -> None:
    try:
        child.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
