"""Plans: reading a submitted file safely, and its title and body; agent.md P8 to P12."""

import asyncio
import hashlib
import os
import re
import stat
from pathlib import Path

from core.approvals.suspension import PlanText
from core.tools.tool import Folders

PLAN_SIZE_LIMIT = 256 * 1024
"""Bytes of a plan file that are read at most; a larger one is not read at all."""
_SECOND_HOME = Path(".mastracode/plans")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


def parse_plan(path: str, content: str, version: int = 1) -> PlanText:
    """Split a plan into title and body (agent.md P10).

    The first line that is not blank is the title if it starts with one `#` and a space; the rest
    is the body, its leading newlines dropped and its end trimmed. Without a heading the title is
    empty and the body is all of it.
    """
    text = content.removeprefix("\ufeff").replace("\r\n", "\n")
    first, _, rest = _BLANK_LINES.sub("", text).partition("\n")
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
    name = Path(path).name
    if not name.lower().endswith(".md"):
        return None
    # A root reached through a link has two spellings; an absolute path may use either.
    spellings = (folders.root.absolute(), folders.root.resolve())
    for root in spellings:
        asked = _tidy(root / path)
        for home in (folders.plans, _SECOND_HOME):
            if asked == _tidy(root / home) / name:
                return _read_regular(_real(spellings[1], home), name)
    return None


def _real(root: Path, home: Path) -> Path:
    # An operator's own absolute folder may lie behind links, one below the root may not.
    return home.resolve() if home.is_absolute() else _tidy(root / home)


def _tidy(path: Path) -> Path:
    # By the text alone: resolving would follow the links that may not be followed.
    return Path(os.path.normpath(path))


def _read_regular(home: Path, name: str) -> str | None:
    if home.resolve() != home:
        return None
    try:
        # The file is opened below the open folder: a link swapped in between leads nowhere.
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return _read_inside(folder, name)
    except (OSError, ValueError):
        # Not there, a link, not UTF-8, or a name that no file can have.
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
        # It may have grown since it was measured.
        content = file.read(PLAN_SIZE_LIMIT + 1)
    return content.decode() if len(content) <= PLAN_SIZE_LIMIT else None
