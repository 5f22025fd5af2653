"""The gateway as a process: started by its console script, killed, and started again."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.support import eventually, unused_port

INTERLOCK = Path(sys.executable).with_name("interlock")
SECRET = "a webhook secret of enough length"
POLICY = """
[policy]
talk = ["slack:T0001:*", "console:local:*", "api:token"]
approve = ["slack:T0001:U0001", "console:local:*", "api:token"]
"""
AGENT = """
[[agents]]
id = "helper"
name = "Helper"
instructions = "Help the team."
tools = ["clock", "write_plan", "submit_plan", "write_note", "notification_inbox"]
"""


class GatewayProcess:
    """One `interlock` on a folder and a port of its own; what it printed is in `log`."""

    def __init__(
        self,
        folder: Path,
        *,
        environment: Mapping[str, str],
        config: str = AGENT + POLICY,
        command: str = "serve",
    ) -> None:
        """Write the settings; nothing runs yet."""
        self.folder = folder
        self.port = unused_port()
        self.log = folder / "gateway.log"
        self.token = "token-of-this-test"
        self._command = command
        self._environment = {
            **os.environ,
            "INTERLOCK_API_TOKEN": self.token,
            "INTERLOCK_DEMO_PACE": "0",
            **environment,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self.configure(config)

    @property
    def url(self) -> str:
        """Return where it serves."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        """Start it and wait until it is ready."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it as an operator would."""
        await self.stop()

    async def start(self, *, kill_at: str | None = None, ready: bool = True) -> None:
        """Start it; with `kill_at` it kills itself when it passes that point."""
        environment = dict(self._environment)
        if kill_at is not None:
            environment["INTERLOCK_KILL_AT"] = kill_at
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(INTERLOCK), self._command, "--port", str(self.port)],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        if ready:
            await eventually(self.is_ready, within=20)

    async def is_ready(self) -> bool:
        """Say whether /readyz is 200; fails at once when the process has ended."""
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"the gateway ended: {self.log.read_text()[-2000:]}")
        with contextlib.suppress(aiohttp.ClientError):
            return (await self.get("/readyz"))[0] == 200
        return False

    async def dead(self, *, within: float = 20) -> None:
        """Wait until it has killed itself."""
        assert self._process is not None
        process = self._process
        await eventually(lambda: process.poll() is not None, within=within)
        assert process.returncode == -signal.SIGKILL, self.log.read_text()[-2000:]

    def configure(self, config: str) -> None:
        """Write the settings that the next start will find."""
        (self.folder / "interlock.toml").write_text(config)

    def add_environment(self, more: Mapping[str, str]) -> None:
        """Add to what the next start will find in its environment."""
        self._environment.update(more)

    def limit_files(self, *, bytes_at_most: int | None) -> None:
        """Let no file of the running process grow beyond this; None lifts the limit."""
        assert self._process is not None
        soft = resource.RLIM_INFINITY if bytes_at_most is None else bytes_at_most
        limits = (soft, resource.RLIM_INFINITY)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, limits)

    async def kill(self) -> None:
        """Kill it as a crash would."""
        assert self._process is not None
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def stop(self) -> None:
        """Stop it by SIGTERM, and make sure that it is gone."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, 15)
        except subprocess.TimeoutExpired:
            await self.kill()
            raise

    async def finished(self) -> int:
        """Wait for it to end by itself; returns its exit code."""
        assert self._process is not None
        try:
            return await asyncio.to_thread(self._process.wait, 20)
        finally:
            # One that should have ended and did not must not outlive its test.
            self._process.kill()

    async def get(self, path: str) -> tuple[int, Any]:
        """Ask the API with the token; returns status and JSON."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Post JSON to the API with the token; returns status and JSON."""
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session,
            session.request(method, f"{self.url}{path}", json=body, headers=headers) as answer,
        ):
            return answer.status, await answer.json(content_type=None)
