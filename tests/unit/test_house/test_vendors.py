"""Vendors: each given library has one home, is imported there, and only when it is needed."""

import subprocess
import sys

import pytest

from tests.unit.test_house.tree import PACKAGES, ROOT, imported, listed, sources

OWNERS = {
    "aiohttp": ("gateway/", "adapters/"),
    "apscheduler": ("gateway/scheduler.py",),
    "litellm": ("adapters/models/",),
    "pydantic": ("core/",),
    "slack_bolt": ("adapters/slack/",),
}
OWED = {
    "discord": ("adapters/discord/",),
    "redis": ("adapters/stores/redis/",),
}
"""Their adapters come with the next issues and are held to the rule from the first file on."""

AT_HOME_ONLY = OWNERS | OWED | {"slack_sdk": ("adapters/slack/",)}
del AT_HOME_ONLY["pydantic"]
HEAVY = ("apscheduler", "discord", "litellm", "slack_bolt")


@pytest.mark.parametrize("vendor", OWNERS)
def test_a_given_library_is_used_by_the_part_that_owns_it(vendor):
    assert any(name.startswith(OWNERS[vendor]) for name in _users(vendor)), OWNERS[vendor]


@pytest.mark.parametrize("vendor", OWED)
def test_an_adapter_still_owed_uses_its_library_once_it_is_written(vendor):
    written = [source.name for source in _code() if source.name.startswith(OWED[vendor])]
    assert not written or _users(vendor), f"{written} do not import {vendor}"


@pytest.mark.parametrize("vendor", AT_HOME_ONLY)
def test_a_vendor_is_named_nowhere_but_at_home(vendor):
    strays = [name for name in _users(vendor) if not name.startswith(AT_HOME_ONLY[vendor])]
    assert not strays, listed(strays)


def test_the_command_starts_without_the_heavy_libraries():
    loaded = _loaded_by("import gateway.cli")
    assert not loaded & set(HEAVY)


def test_core_loads_no_vendor_at_all():
    assert not _loaded_by("import core") & set(AT_HOME_ONLY)


def _code():
    return sources(*PACKAGES)


def _users(vendor: str) -> list[str]:
    return [
        source.name
        for source in _code()
        if any(name.split(".")[0] == vendor for name in imported(source))
    ]


def _loaded_by(statement: str) -> set[str]:
    program = f"{statement}; import sys; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(answer.stdout.split())
