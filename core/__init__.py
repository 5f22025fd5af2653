"""Interlock's agent runtime: agents, tools, threads and the decisions people make."""

from core.agent import Agent, AgentOptions
from core.approvals.submit_plan import submit_plan
from core.memory.memory import Memory
from core.runtime import Runtime, RuntimeOptions
from core.tools.function import tool
from core.tools.tool import ToolContext

__all__ = [
    "Agent",
    "AgentOptions",
    "Memory",
    "Runtime",
    "RuntimeOptions",
    "ToolContext",
    "submit_plan",
    "tool",
]
