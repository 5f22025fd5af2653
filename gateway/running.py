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
    demo = settings.model.default is None
    await serve(with_demo(settings), lambda port: _greet(port, demo=demo))
    return 0


async def run_serve(parsed: argparse.Namespace) -> int:
    """Serve what is configured."""
    configure_logs(pretty=sys.stderr.isatty(), level="DEBUG" if parsed.debug else "INFO")
    flags = {"server.port": parsed.port, **_model_flags(parsed.model)}
    await serve(load_settings(parsed.config, environment(), flags), _announce)
    return 0


def dev_settings(parsed: argparse.Namespace) -> Settings:
    """Return the settings of `interlock dev`: those of the project, bound to loopback."""
    flags: dict[str, Any] = {
        "server.port": parsed.port,
        "server.host": "127.0.0.1",
        "store.url": _store_url(parsed.data),
        "dev": True,
        **_model_flags(parsed.model),
    }
    return load_settings(parsed.config, environment(), flags)


def with_demo(settings: Settings) -> Settings:
    """Return the settings with the demo model where no default is named."""
    if settings.model.default is not None:
        return settings
    model = settings.model.model_copy(update={"default": "demo"})
    return settings.model_copy(update={"model": model})


def _model_flags(model: str | None) -> dict[str, str | None]:
    """Return what `--model` sets: the default, and what beats every agent's own (gateway.md)."""
    return {"model.default": model, "model_override": model}


def _store_url(data: Path | None) -> str | None:
    return None if data is None else f"sqlite:///{data.absolute() / 'interlock.db'}"


def _announce(port: int) -> None:
    sys.stderr.write(f"interlock: serving on port {port}\n")


def _greet(port: int, *, demo: bool) -> None:
    lines = [f"Interlock is ready: http://127.0.0.1:{port}"]
    if demo:
        lines.append("No default model is named: the built-in demo model takes its place.")
        lines.append("For a real one: INTERLOCK_MODEL=openai/gpt-5-mini OPENAI_API_KEY=...")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
