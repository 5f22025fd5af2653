"""views.*: modals, opened with a trigger that is good once and for three seconds."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from tests.loopback.slack.blocks import with_block_ids
from tests.loopback.slack.content import read_view
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal
from tests.loopback.slack.world import APP, BOT, TEAM, View

Arguments = dict[str, Any]
_HIDDEN = ("owner", "errors")
_MOST_STACKED = 3


def open_view(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer views.open: the trigger is spent, the person sees the modal."""
    content = read_view(arguments.get("view"))
    owner = _spend(platform, arguments)
    return {"view": shown(show_view(platform, owner, content))}


def push_view(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer views.push: a modal on top of the one that is open."""
    content = read_view(arguments.get("view"))
    owner = _spend(platform, arguments)
    stack = [view for view in platform.world.views.values() if view["owner"] == owner]
    if len(stack) >= _MOST_STACKED:
        raise SlackRefusal("push_limit_reached")
    below = stack[-1] if stack else None
    return {"view": shown(show_view(platform, owner, content, below=below))}


def update_view(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer views.update: by view_id or external_id, guarded by the hash when one is given."""
    content = read_view(arguments.get("view"))
    view = _find(platform, arguments)
    if arguments.get("hash") not in (None, view["hash"]):
        raise SlackRefusal("hash_conflict")
    replace_view(platform, view, content)
    return {"view": shown(view)}


METHODS: dict[str, Callable[[Platform, Arguments], dict[str, Any]]] = {
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
}


def show_view(
    platform: Platform, owner: str, content: dict[str, Any], *, below: View | None = None
) -> View:
    """Put a modal in front of a person and write it into the journal."""
    view_id = f"V{platform.world.number():04}"
    view: View = {
        "id": view_id,
        "team_id": TEAM,
        "app_id": APP,
        "bot_id": BOT,
        "app_installed_team_id": TEAM,
        "state": {"values": {}},
        "root_view_id": below["root_view_id"] if below else view_id,
        "previous_view_id": below["id"] if below else None,
        "owner": owner,
        "errors": {},
    }
    view |= _content(view_id, content)
    platform.world.views[view_id] = view
    platform.journal.write("view", change="opened", user=owner, view=shown(view))
    return view


def replace_view(platform: Platform, view: View, content: dict[str, Any]) -> None:
    """Change an open modal and write it into the journal."""
    view |= _content(view["id"], content)
    platform.journal.write("view", change="updated", user=view["owner"], view=shown(view))


def close_view(platform: Platform, view: View) -> None:
    """Take a modal away from its person."""
    platform.world.views.pop(view["id"], None)
    platform.journal.write("view", change="closed", user=view["owner"], view=shown(view))


def shown(view: View) -> View:
    """Return a view as Slack shows it to the app."""
    return {name: value for name, value in view.items() if name not in _HIDDEN}


def _content(view_id: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": content["type"],
        "title": content.get("title"),
        "submit": content.get("submit"),
        "close": content.get("close"),
        "blocks": with_block_ids(content["blocks"], prefix=f"{view_id}-"),
        "private_metadata": content.get("private_metadata", ""),
        "callback_id": content.get("callback_id", ""),
        "external_id": content.get("external_id", ""),
        "clear_on_close": bool(content.get("clear_on_close")),
        "notify_on_close": bool(content.get("notify_on_close")),
        "hash": f"1700000000.{secrets.token_hex(4)}",
    }


def _spend(platform: Platform, arguments: Arguments) -> str:
    seconds = platform.options.trigger_seconds
    return platform.world.spend_trigger(arguments.get("trigger_id"), seconds=seconds)


def _find(platform: Platform, arguments: Arguments) -> View:
    external_id = arguments.get("external_id")
    for view in platform.world.views.values():
        by_external = bool(external_id) and view["external_id"] == external_id
        if view["id"] == arguments.get("view_id") or by_external:
            return view
    raise SlackRefusal("not_found")
