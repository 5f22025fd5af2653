"""The test's side: start a model server, script it, read what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.loopback.journal import Journal
from tests.loopback.model.script import Rule, Say, text_of, to_json
from tests.loopback.process import LoopbackProcess

KEY = "sk-loopback-0123456789"


class LoopbackModel:
    """A model server in a process of its own; it outlives every gateway that asks it.

    `folder` takes its journal and log. `rules` are there from the start and survive `reset`.
    """

    def __init__(self, folder: Path, *, rules: Sequence[Rule] = (), key: str = KEY) -> None:
        """Prepare; the process starts on entering."""
        self.key = key
        self.journal = Journal(folder / "model.jsonl", source="test")
        arguments = ["--journal", str(self.journal.path), "--key", key]
        if rules:
            path = folder / "model-rules.json"
            path.write_text(json.dumps([to_json(rule) for rule in rules]))
            arguments += ["--rules", str(path)]
        self._process = LoopbackProcess(
            "tests.loopback.model", *arguments, log=folder / "model.log"
        )

    async def __aenter__(self) -> Self:
        """Start the server."""
        await self._process.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it."""
        await self._process.stop()

    @property
    def base_url(self) -> str:
        """Return what goes into INTERLOCK_MODEL_API_BASE."""
        return f"{self._process.url}/v1"

    def environment(self, model: str = "openai/loopback") -> dict[str, str]:
        """Return the settings that point a gateway at this server."""
        return {
            "INTERLOCK_MODEL": model,
            "INTERLOCK_MODEL_API_BASE": self.base_url,
            "OPENAI_API_KEY": self.key,
        }

    async def script(self, *answers: Say | str) -> None:
        """Queue answers for the next requests, whatever they ask; a string is a plain text."""
        says = [Say(text=answer) if isinstance(answer, str) else answer for answer in answers]
        await self._control("script", [to_json(say) for say in says])

    async def rule(self, when: str, *answers: Say | str, result: str = "") -> None:
        """Answer prompts whose last user message matches, step by step of the turn."""
        says = [Say(text=answer) if isinstance(answer, str) else answer for answer in answers]
        await self._control("rule", to_json(Rule(when=when, say=says, result=result)))

    async def otherwise(self, answer: Say) -> None:
        """Set what is said when nothing else fits."""
        await self._control("default", to_json(answer))

    async def reset(self) -> None:
        """Forget queue and rules of this test, and whatever `requests` showed so far."""
        await self._control("reset", None)

    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies received since the last reset, oldest first."""
        return [entry["body"] for entry in self._entries("request")]

    def ends(self) -> list[str]:
        """Return how requests ended: completed, client_gone, refused, cut, error, status N."""
        return [entry["how"] for entry in self._entries("end")]

    def prompts(self) -> list[str]:
        """Return the text of each request's last message."""
        return [text_of(body["messages"][-1].get("content")) for body in self.requests()]

    def _entries(self, kind: str) -> list[dict[str, Any]]:
        entries = self.journal.entries()
        resets = [place for place, entry in enumerate(entries) if entry["kind"] == "reset"]
        since = resets[-1] if resets else 0
        return [entry for entry in entries[since:] if entry["kind"] == kind]

    async def _control(self, word: str, body: Any) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self._process.url}/_control/{word}", json=body) as answer,
        ):
            answer.raise_for_status()


@contextlib.contextmanager
def running_model(folder: Path) -> Iterator[LoopbackModel]:
    """Run a server for fixtures that outlive one event loop; each test begins with `reset`."""
    model = LoopbackModel(folder)
    asyncio.run(model.__aenter__())
    try:
        yield model
    finally:
        asyncio.run(model.__aexit__())
