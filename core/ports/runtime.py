"""The current Runtime: where an agent's verbs lead when they are not told otherwise."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

# A context variable, so that two runtimes in one process do not meet.
current_runtime: ContextVar[Any] = ContextVar("current_runtime", default=None)
"""Set by `async with Runtime()` and by registration; None leads to the private Runtime."""


class PrivateRuntime:
    """The one in-memory Runtime of this process, made when an agent is first used without any.

    core.runtime says how it is made, so that no lower layer need look upward.
    """

    def __init__(self) -> None:
        """Start without one."""
        self._make: Callable[[], Any] | None = None
        self._made: Any = None

    def made_by(self, make: Callable[[], Any]) -> None:
        """Keep how it is made; it is not made yet."""
        self._make = make

    def get(self) -> Any:
        """Return it, made now if need be; None before core.runtime was imported."""
        if self._made is None and self._make is not None:
            self._made = self._make()
        return self._made


private_runtime = PrivateRuntime()
