"""Siblings look alike: whoever knows one chat adapter finds the way in the next."""

import importlib

from tests.unit.test_house.tree import ROOT, listed

NOT_CHAT = {"models", "shared", "stores", "voice", "webhooks", "__pycache__"}
CHAT = sorted(
    folder.name
    for folder in (ROOT / "adapters").iterdir()
    if folder.is_dir() and folder.name not in NOT_CHAT
)


def test_every_chat_adapter_has_the_same_four_files():
    missing = [
        f"adapters/{name}/{file}"
        for name in CHAT
        for file in ("adapter.py", "errors.py", "parse.py", "render.py")
        if not (ROOT / "adapters" / name / file).is_file()
    ]
    assert not missing, listed(missing)


def test_every_chat_adapter_exports_itself_and_its_settings():
    missing = [
        f"adapters.{name}: {export}"
        for name in CHAT
        for export in (f"{name.title()}Adapter", f"{name.title()}Settings")
        if export not in importlib.import_module(f"adapters.{name}").__all__
    ]
    assert not missing, listed(missing)


def test_slack_and_the_console_are_written():
    assert {"console", "slack"} <= set(CHAT)
