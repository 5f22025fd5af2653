"""Toolsets: the tools of one run, by the names the model sees."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidConfig
from core.ports.model import ToolSpec
from core.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools by key; a call is matched by key first, then by tool id (agent.md T1)."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    def find(self, name: str) -> Tool | None:
        """Return the tool that a call names, or None."""
        if name in self.tools:
            return self.tools[name]
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

    Raises:
        InvalidConfig: a name that no built-in tool has.
    """
    if isinstance(given, Mapping):
        return Toolset(dict(given))
    tools = [_resolve(item, builtin) for item in given]
    return Toolset({tool.id: tool for tool in tools})


def _resolve(item: Tool | str, builtin: Mapping[str, Tool]) -> Tool:
    if isinstance(item, Tool):
        return item
    if item not in builtin:
        known = ", ".join(sorted(builtin))
        raise InvalidConfig(f"there is no built-in tool {item!r}; known: {known}")
    return builtin[item]
