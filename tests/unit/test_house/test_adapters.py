"""Siblings look alike: whoever knows one chat adapter finds the way in the next."""

import importlib

import pytest

from tests.unit.test_house.tree import ROOT

NOT_CHAT = {"models", "shared", "stores", "webhooks", "__pycache__"}
CHAT = sorted(
    folder.name
    for folder in (ROOT / "adapters").iterdir()
    if folder.is_dir() and folder.name not in NOT_CHAT
)


@pytest.mark.parametrize("name", CHAT)
def test_a_chat_adapter_has_the_same_four_files(name):
    files = {path.name for path in (ROOT / "adapters" / name).glob("*.py")}
    assert {"adapter.py", "parse.py", "render.py", "errors.py"} <= files


@pytest.mark.parametrize("name", CHAT)
def test_a_chat_adapter_exports_itself_and_its_settings(name):
    package = importlib.import_module(f"adapters.{name}")
    assert {f"{name.title()}Adapter", f"{name.title()}Settings"} <= set(package.__all__)


def test_slack_and_the_console_are_written():
    assert {"console", "slack"} <= set(CHAT)
