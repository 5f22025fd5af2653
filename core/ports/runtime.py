"""The current Runtime: where an agent's verbs lead when they are not told otherwise."""

from contextvars import ContextVar
from typing import Any

current_runtime: ContextVar[Any] = ContextVar("current_runtime", default=None)
"""Set by `async with Runtime()` and by registration; None leads to a private in-memory Runtime."""
