"""The README and the docs: their Python runs, their settings load, their links lead somewhere."""

import re
from pathlib import Path

import pytest

from core.agent import Agent
from core.tools.tool import Tool
from gateway.config import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of one language, as a reader would copy them."""
    return [text for found, text in FENCE.findall(page.read_text()) if found == language]


def test_the_readme_defines_an_agent_with_one_tool() -> None:
    names: dict[str, object] = {"__name__": "readme"}
    [block] = blocks(ROOT / "README.md", "python")
    exec(block, names)  # noqa: S102 - the snippet that people are asked to copy
    assert isinstance(names["helper"], Agent)
    assert isinstance(names["deploys"], Tool)


def test_the_readme_opens_with_what_it_is_and_shows_it() -> None:
    opening = (ROOT / "README.md").read_text().splitlines()[:40]
    assert opening[0] == "# Interlock"
    assert any("make run" in line for line in opening)
    assert any("make test" in line for line in opening)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_python_block_can_be_compiled(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, str(page), "exec")


def test_the_settings_of_the_reference_are_settings(tmp_path: Path) -> None:
    [block] = blocks(ROOT / "docs" / "reference" / "settings.md", "toml")
    file = tmp_path / "interlock.toml"
    file.write_text(block)
    settings = load_settings(file, {}, {})
    assert isinstance(settings, Settings)
    assert settings.agents[0].id == "helper"
    assert settings.policy.channels[0].mention
