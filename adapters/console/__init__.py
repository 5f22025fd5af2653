"""The console: people and programs at the HTTP port, by one page and the API under `/api/v1`."""

from adapters.console.adapter import ConsoleAdapter
from adapters.console.ports import AgentInfo, Host, Permit
from adapters.console.settings import ConsoleSettings

__all__ = ["AgentInfo", "ConsoleAdapter", "ConsoleSettings", "Host", "Permit"]
