"""Toolsets: the tools of one run, by the names the model sees."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidConfig
from core.ports.model import ToolSpec
from core.tools.tool import Tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools by key; a call is matched by key first, then by tool id (agent.md T1)."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    def find(self, name: str) -> Tool | None:
        """Return the tool that a call names, or None."""
        if name in self.tools:
            return self.tools[name]
        # Models sometimes call a tool by its id although they were offered another key.
        return next((tool for tool in self.tools.values() if tool.id == name), None)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is offered."""
        return tuple(tool.spec(name) for name, tool in self.tools.items())

    def unknown(self, name: str) -> dict[str, Any]:
        """Return the result for a call of a tool that is not here.

        It names those that are (agent.md T2).
        """
        available = ", ".join(sorted(self.tools)) or "none"
        return {"error": True, "message": f"There is no tool {name!r}. Available: {available}."}


def build_toolset(
    given: Iterable[Tool | str] | Mapping[str, Tool], builtin: Mapping[str, Tool]
) -> Toolset:
    """Build the set from an agent's list or map; a string names a built-in tool.

    In a map the key is what the model sees, but a built-in tool always goes by its own id: hosts
    know `submit_plan` by it (agent.md 1.1, P13).

    Raises:
        InvalidConfig: a name that no built-in tool has, that two tools share, or that no provider
            would take.
    """
    items = given.items() if isinstance(given, Mapping) else [(None, item) for item in given]
    tools: dict[str, Tool] = {}
    for key, item in items:
        tool = _resolve(item, builtin)
        name = tool.id if key is None or tool in builtin.values() else key
        if not _NAME.fullmatch(name):
            raise InvalidConfig(
                f"tool name {name!r} cannot be offered to a model: use up to 64 letters, digits, "
                "_ and -"
            )
        if tools.setdefault(name, tool) is not tool:
            raise InvalidConfig(f"two tools are called {name!r}: give one of them another id")
    return Toolset(tools)


def _resolve(item: Tool | str, builtin: Mapping[str, Tool]) -> Tool:
    if isinstance(item, Tool):
        return item
    if item not in builtin:
        known = ", ".join(sorted(builtin))
        raise InvalidConfig(f"there is no built-in tool {item!r}; known: {known}")
    return builtin[item]
