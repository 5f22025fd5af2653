"""The lock: versions and hashes for everything, the address of nothing."""

import re
import tomllib

import pytest

from tests.unit.test_house.tree import ROOT

LOCKS = ["requirements.lock", "scripts/installer.lock"]
ADDRESS = re.compile(
    r"://|\bfile:|\s@\s|^--?(index|extra-index|find-links|trusted-host|i|f)\b", re.MULTILINE
)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_no_address(lock):
    assert ADDRESS.findall(_text(lock)) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_version_and_a_hash(lock):
    entries = _entries(_text(lock))
    bare = [entry.split()[0] for entry in entries if "==" not in entry or not HASH.search(entry)]
    assert entries
    assert not bare


def test_everything_the_project_asks_for_is_locked():
    locked = {_normal(entry) for entry in _entries(_text("requirements.lock"))}
    project = tomllib.loads(_text("pyproject.toml"))
    groups = project["dependency-groups"].values()
    asked = [*project["project"]["dependencies"], *(name for group in groups for name in group)]
    assert {_normal(name) for name in asked} <= locked


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _entries(text: str) -> list[str]:
    """One text per package: its line and the lines that continue it."""
    return [
        entry
        for entry in re.split(r"\n(?=\S)", text)
        if entry.strip() and not entry.startswith("#")
    ]


def _normal(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[._-]+", "-", name.group()).lower()
