"""Execution: running one tool call so that whatever happens becomes a result."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import structlog

from core.errors import NotAllowed
from core.tools.arguments import BadArguments, json_safe, validate_arguments
from core.tools.tool import SuspendRequest, Tool, ToolContext, WrittenDocument

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What became of a call: a JSON-safe result, an error result, or a suspension."""

    result: Any = None
    is_error: bool = False
    suspension: SuspendRequest | None = None
    documents: tuple[WrittenDocument, ...] = ()


async def execute(tool: Tool, arguments: Any, context: ToolContext) -> ToolOutcome:
    """Run one call within its time; whatever goes wrong becomes a result the model can read.

    Raises:
        NotAllowed: an authorisation was denied; that ends the run (agent.md T6).
    """
    limit = asyncio.timeout(tool.timeout.total_seconds())
    try:
        values = validate_arguments(tool, arguments)
        async with limit:
            result = await tool.execute(values, context)
        return _succeeded(result, context)
    except BadArguments as exc:
        return ToolOutcome(result=exc.result, is_error=True)
    # Not an answer for the model: the run ends here.
    except NotAllowed:
        raise
    # A tool is foreign code: whatever it raises is an answer for the model, not an end of the run.
    except Exception as exc:
        log.warning("tool.failed", tool=tool.id, run=context.run_id, exc_info=exc)
        if limit.expired():
            return _failed(f"{tool.id} did not finish within {tool.timeout.total_seconds():g} s")
        return _failed(f"{type(exc).__name__}: {exc}")


def _succeeded(result: Any, context: ToolContext) -> ToolOutcome:
    documents = tuple(context.documents)
    if context.suspension is None:
        return ToolOutcome(result=json_safe(result), documents=documents)
    request = replace(context.suspension, payload=json_safe(context.suspension.payload))
    return ToolOutcome(suspension=request, documents=documents)


def _failed(message: str) -> ToolOutcome:
    return ToolOutcome(result={"error": True, "message": json_safe(message)}, is_error=True)
