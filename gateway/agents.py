"""Agents of the gateway: those declared in TOML, and those of the `agents_module`."""

import importlib.util
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.agent import Agent, AgentOptions
from core.errors import InvalidConfig
from gateway.config import AgentSection, Settings

MODULE = "interlock_agents"
"""The name under which the `agents_module` is loaded."""
DEFAULT_AGENT = AgentSection(
    id="helper",
    name="Helper",
    description="Helps the team.",
    instructions=(
        "Help the team. Before you change anything, write a plan and submit it. Keep answers short."
    ),
    tools=("clock", "write_plan", "submit_plan", "write_note", "notification_inbox"),
)
"""The agent of `interlock dev` where no other is configured."""


def load_agents(settings: Settings) -> list[Agent]:
    """Return the agents in the order of the settings; in dev there is always one.

    Raises:
        InvalidConfig: two agents share an id, or the module cannot be loaded; names which.
    """
    declared = [_from_section(section) for section in settings.agents]
    agents = [*declared, *_from_module(settings)]
    if settings.model_override is not None:
        agents = [replace(agent, model=settings.model_override) for agent in agents]
    if not agents and settings.dev:
        agents = [_from_section(DEFAULT_AGENT)]
    ids = [agent.id for agent in agents]
    twice = sorted({item for item in ids if ids.count(item) > 1})
    if twice:
        raise InvalidConfig(f"two agents have the id {', '.join(twice)}")
    if not agents:
        raise InvalidConfig("no agent is configured: add [[agents]] or `agents_module`")
    return agents


def name_models(agents: list[Agent], settings: Settings) -> list[str]:
    """Return the names of the models that the agents need.

    Raises:
        InvalidConfig: an agent has none; `serve` refuses that and names the agent (gateway.md).
    """
    for agent in agents:
        if not agent.model and settings.model.default is None:
            raise InvalidConfig(
                f"agent {agent.id} has no model: set its `model`, or INTERLOCK_MODEL "
                "(for example openai/gpt-5-mini, or demo)"
            )
    chains = [_chain(agent.model or settings.model.default) for agent in agents]
    return [name for chain in chains for name in chain if isinstance(name, str)]


def _chain(model: Any) -> list[Any]:
    return list(model) if isinstance(model, (list, tuple)) else [model]


def _from_section(section: AgentSection) -> Agent:
    return Agent(
        id=section.id,
        name=section.name or section.id,
        description=section.description,
        instructions=section.instructions,
        model=section.model,
        tools=section.tools,
        default_options=AgentOptions(max_steps=section.max_steps),
    )


def _from_module(settings: Settings) -> list[Agent]:
    if settings.agents_module is None:
        return []
    path = settings.folder / settings.agents_module
    module = _load(path)
    agents = getattr(module, "agents", None)
    if not isinstance(agents, list) or not all(isinstance(item, Agent) for item in agents):
        raise InvalidConfig(f"{path} must define `agents: list[Agent]`")
    return agents


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidConfig(f"agents_module {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up here.
    sys.modules[MODULE] = module
    try:
        spec.loader.exec_module(module)
    # The module is the user's own code: whatever is wrong in it is a wrong setting.
    except Exception as exc:
        where = _line_in(path, exc)
        raise InvalidConfig(f"{path}{where} cannot be loaded: {type(exc).__name__}: {exc}") from exc
    return module


def _line_in(path: Path, problem: Exception) -> str:
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f", line {lines[-1]}," if lines else ""
