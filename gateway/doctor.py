"""The doctor: checks the settings and the machine, and says how to mend what is wrong."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from core.errors import InterlockError
from gateway.agents import load_agents, name_models
from gateway.app import check_bind
from gateway.config import Settings, environment, load_settings
from gateway.logs import bare_url
from gateway.wiring import rehearse, store_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: what was looked at, whether it is well, and what to do where it is not."""

    check: str
    ok: bool
    detail: str

    @override
    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'} {self.check}: {self.detail}"


async def examine(file: Path | None) -> list[Finding]:
    """Make every check; settings that cannot be read end it early."""
    try:
        settings = load_settings(file, environment(), {})
    except InterlockError as exc:
        return [Finding(check="settings", ok=False, detail=str(exc))]
    agents = _agents(settings)
    return [
        Finding(check="settings", ok=True, detail="read"),
        agents,
        # Without agents that load, the rehearsal would only say the same again.
        *([await _serving(settings)] if agents.ok else []),
        _store(settings),
        _sqlite(),
        _policy(settings),
    ]


def _agents(settings: Settings) -> Finding:
    try:
        agents = load_agents(settings)
        names = name_models(agents, settings)
    except InterlockError as exc:
        return Finding(check="agents", ok=False, detail=str(exc))
    return Finding(check="agents", ok=True, detail=f"{len(agents)}, models {', '.join(names)}")


async def _serving(settings: Settings) -> Finding:
    """Try what `serve` would refuse: keys, secrets, tools, subscriptions, the bind."""
    try:
        check_bind(settings)
        await rehearse(settings)
    except InterlockError as exc:
        return Finding(check="serve", ok=False, detail=str(exc))
    return Finding(check="serve", ok=True, detail="everything that is named is there")


def _store(settings: Settings) -> Finding:
    if not settings.store.url.startswith("sqlite:///"):
        detail = f"{bare_url(settings.store.url)} is not known here: use sqlite:///PATH"
        return Finding(check="store", ok=False, detail=detail)
    path = settings.root / settings.store.url.removeprefix("sqlite:///")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    usable = folder.is_dir() and os.access(folder, os.W_OK)
    mend = f"{folder} is not a folder we may write to: change its owner or the URL"
    return Finding(check="store", ok=usable, detail=str(path) if usable else mend)


def _sqlite() -> Finding:
    warning = store_warning()
    return Finding(check="sqlite", ok=True, detail=warning or f"{sqlite3.sqlite_version}")


def _policy(settings: Settings) -> Finding:
    policy = settings.policy
    if policy.talk and not (policy.approve or any(item.approve for item in policy.channels)):
        return Finding(
            check="policy",
            ok=False,
            detail="people may talk but nobody may approve: list approvers in [policy] approve",
        )
    return Finding(check="policy", ok=True, detail=f"{len(policy.talk)} may talk")
