"""Running: the commands `dev` and `serve`, from their flags to a gateway that serves."""

import argparse
import sys
from pathlib import Path
from typing import Any

from gateway.app import serve
from gateway.config import Settings, environment, load_settings
from gateway.logs import configure_logs


async def run_dev(parsed: argparse.Namespace) -> int:
    """Serve on loopback with an SQLite store and, where no model is named, the demo model."""
    configure_logs(pretty=True, level="DEBUG" if parsed.debug else "WARNING")
    settings = dev_settings(parsed)
    demo = settings.model.default == "demo"
    await serve(settings, lambda port: _greet(port, demo=demo))
    return 0


async def run_serve(parsed: argparse.Namespace) -> int:
    """Serve what is configured."""
    configure_logs(pretty=sys.stderr.isatty(), level="DEBUG" if parsed.debug else "INFO")
    flags = {"server.port": parsed.port, "model.default": parsed.model}
    settings = _with_model(load_settings(parsed.config, environment(), flags), parsed.model)
    await serve(settings, _announce)
    return 0


def dev_settings(parsed: argparse.Namespace) -> Settings:
    """Return the settings of `interlock dev`: those of the project, bound to loopback."""
    flags: dict[str, Any] = {
        "server.port": parsed.port,
        "server.host": "127.0.0.1",
        "model.default": parsed.model,
        "store.url": _store_url(parsed.data),
    }
    settings = load_settings(parsed.config, environment(), flags)
    settings = _with_model(settings, parsed.model)
    if settings.model.default is None:
        model = settings.model.model_copy(update={"default": "demo"})
        settings = settings.model_copy(update={"model": model})
    return settings.model_copy(update={"dev": True})


def _with_model(settings: Settings, flag: str | None) -> Settings:
    """Let the flag beat every agent's own model (gateway.md, Settings)."""
    if flag is None:
        return settings
    agents = tuple(agent.model_copy(update={"model": flag}) for agent in settings.agents)
    return settings.model_copy(update={"agents": agents})


def _store_url(data: Path | None) -> str | None:
    return None if data is None else f"sqlite:///{data.absolute() / 'interlock.db'}"


def _announce(port: int) -> None:
    sys.stderr.write(f"interlock: serving on port {port}\n")


def _greet(port: int, *, demo: bool) -> None:
    lines = [f"Interlock is ready: http://127.0.0.1:{port}"]
    if demo:
        lines.append("No model is configured, so the built-in demo model answers.")
        lines.append("For a real one: INTERLOCK_MODEL=openai/gpt-5-mini OPENAI_API_KEY=... ")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
