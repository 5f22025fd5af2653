"""Built-in tools that need nobody's answer: the clock, plans and notes."""

import asyncio
import re
from datetime import UTC
from pathlib import Path
from typing import Annotated

import structlog
from pydantic import Field

from core.tools.function import tool
from core.tools.tool import ToolContext

log = structlog.get_logger(__name__)
BARE_NAME = re.compile(r"[^/\\\x00-\x1f\x7f\s.][^/\\\x00-\x1f\x7f]{0,99}")
Name = Annotated[
    str, Field(min_length=1, max_length=100, description="A bare file name, without folders")
]
Text = Annotated[str, Field(max_length=200_000)]


@tool(idempotent=True)
async def clock(context: ToolContext) -> dict[str, str]:
    """Tell the present date and time in UTC."""
    if context.now is None:
        raise RuntimeError("no clock was given to this call")
    return {"now": context.now.astimezone(UTC).isoformat(timespec="seconds")}


@tool(idempotent=True)
async def write_plan(path: Name, content: Text, context: ToolContext) -> dict[str, str]:
    """Write a plan in Markdown; begin with a line `# Title`, then submit it with submit_plan."""
    name = _bare(path, suffix=".md")
    target = context.folders.plans / f"{_thread_part(context)}--{name}"
    await _mirror(context.folders.root / target, content)
    context.write(str(target), "plan", content)
    # Models submit either what they wrote or what they were told: both lead to the text.
    context.write(name, "plan", content)
    return {"path": str(target)}


@tool(idempotent=True)
async def write_note(name: Name, content: Text, context: ToolContext) -> dict[str, str]:
    """Write down a note, such as the outcome of one item of a plan."""
    bare = _bare(name)
    context.write(f"notes/{bare}", "note", content)
    return {"name": bare}


def _bare(name: str, suffix: str = "") -> str:
    if not BARE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a bare file name; leave out folders and leading dots")
    return name if name.lower().endswith(suffix) else f"{name}{suffix}"


def _thread_part(context: ToolContext) -> str:
    # Thread ids hold colons and slashes, which file names must not.
    thread_id = context.thread.thread_id if context.thread else "run"
    return re.sub(r"[^A-Za-z0-9._-]", "_", thread_id)[:100]


async def _mirror(path: Path, content: str) -> None:
    # The stored text is the one that counts; the file is there for people to open.
    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    try:
        await asyncio.to_thread(write)
    except OSError as exc:
        log.warning("plan.not_mirrored", path=str(path), error=str(exc))
