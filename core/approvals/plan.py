"""Plans: reading a submitted file safely, and its title and body; agent.md P8 to P12."""

import asyncio
import hashlib
import os
import stat
from pathlib import Path

from core.approvals.suspension import PlanText
from core.tools.tool import Folders

PLAN_SIZE_LIMIT = 256 * 1024
"""Bytes of a plan file that are read at most; a larger one is not read at all."""
_SECOND_HOME = Path(".mastracode/plans")


def parse_plan(path: str, content: str, version: int = 1) -> PlanText:
    """Split a plan into title and body (agent.md P10).

    The first line that is not blank is the title if it starts with one `#` and a space; the rest
    is the body, its leading newlines dropped and its end trimmed. Without a heading the title is
    empty and the body is all of it.
    """
    text = content.replace("\r\n", "\n")
    first, _, rest = text.lstrip("\n \t").partition("\n")
    heading = first.startswith("# ")
    return PlanText(
        path=path,
        title=first[2:].strip() if heading else "",
        body=(rest.lstrip("\n") if heading else text).rstrip(),
        content=content,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        version=version,
    )


async def read_plan_file(path: str, folders: Folders) -> str | None:
    """Return the text of a plan file, or None where it may not or cannot be read.

    Allowed is a regular `.md` file directly in the plan folder, reached through no symbolic link,
    within the size limit and in UTF-8 (agent.md P8, P12). Nothing outside is ever opened.
    """
    return await asyncio.to_thread(_read, path, folders)


def _read(path: str, folders: Folders) -> str | None:
    root = folders.root.resolve()
    name = Path(path).name
    if not name.lower().endswith(".md"):
        return None
    asked = Path(os.path.normpath(root / path))
    homes = (Path(os.path.normpath(root / folders.plans)), root / _SECOND_HOME)
    home = next((home for home in homes if asked == home / name), None)
    return None if home is None else _read_regular(home, name)


def _read_regular(home: Path, name: str) -> str | None:
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return _read_inside(folder, name)
    except (OSError, UnicodeDecodeError):
        return None
    finally:
        os.close(folder)


def _read_inside(folder: int, name: str) -> str | None:
    # O_NONBLOCK keeps a FIFO from holding us up before we know what it is.
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > PLAN_SIZE_LIMIT:
            return None
        content = file.read(PLAN_SIZE_LIMIT + 1)
    return content.decode() if len(content) <= PLAN_SIZE_LIMIT else None
