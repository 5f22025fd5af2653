"""What people press: buttons, modals, slash commands, and what Slack makes of the app's answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from tests.loopback.slack import chat, modals
from tests.loopback.slack.blocks import interactive_elements
from tests.loopback.slack.content import read_content, read_view
from tests.loopback.slack.delivery import Outcome
from tests.loopback.slack.events import interaction, slash_command
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import NotPossible, SlackRefusal
from tests.loopback.slack.world import Channel, Message, Person, ResponseUrl, View

Order = dict[str, Any]
Element = dict[str, Any]


async def click(platform: Platform, order: Order) -> dict[str, Any]:
    """Press a button or pick an option: `user, channel, ts, action_id, value?, stale?`.

    `stale` presses what an earlier version of the message showed: a screen not yet refreshed.

    Raises:
        NotPossible: the message does not show that element to this person.
    """
    channel = platform.world.channel(order["channel"])
    person = platform.world.person(order["user"])
    message = _message_shown_to(channel, person, order["ts"])
    found = _find_element(channel, message, order)
    payload = _block_actions(platform, (channel, message), person, _action(channel, found, order))
    outcome = await platform.courier.ask("interactive", payload)
    return _answered(outcome) | {"trigger_id": payload["trigger_id"]}


async def submit_view(platform: Platform, order: Order) -> dict[str, Any]:
    """Submit a modal: `user, view_id, values` with values by action_id or block_id.

    Raises:
        NotPossible: not this person's modal, or a required field is empty.
    """
    person, view = _open_view(platform, order)
    view["state"] = {"values": _state_values(view, order.get("values") or {})}
    payload = interaction(
        "view_submission",
        person,
        trigger_id=platform.world.issue_trigger(person.id),
        view=modals.shown(view),
        response_urls=[],
    )
    outcome = await platform.courier.ask("interactive", payload)
    if outcome.ok:
        _apply_response_action(platform, view, _json(outcome.text))
    return _answered(outcome) | {"errors": view["errors"]}


async def close_view(platform: Platform, order: Order) -> dict[str, Any]:
    """Close a modal without submitting: `user, view_id`; told only if notify_on_close is set."""
    person, view = _open_view(platform, order)
    modals.close_view(platform, view)
    if not view["notify_on_close"]:
        return {"status": None, "body": "", "reason": "not asked for"}
    payload = interaction("view_closed", person, view=modals.shown(view), is_cleared=False)
    return _answered(await platform.courier.ask("interactive", payload))


async def slash(platform: Platform, order: Order) -> dict[str, Any]:
    """Type a slash command: `user, channel, command, text?`; its answer is shown privately."""
    channel = platform.world.channel(order["channel"])
    person = platform.world.person(order["user"])
    form = slash_command(channel, person, order["command"], order.get("text", ""))
    form["trigger_id"] = platform.world.issue_trigger(person.id)
    form["response_url"] = issue_response_url(platform, channel, person, kind="commands")
    outcome = await platform.courier.ask("slash_commands", form)
    answer = _json(outcome.text) or ({"text": outcome.text} if outcome.text else {})
    if outcome.ok and (answer.get("text") or answer.get("blocks")):
        respond(platform, channel, person.id, answer, by="command")
    return _answered(outcome)


VERBS: dict[str, Callable[[Platform, Order], Awaitable[dict[str, Any]]]] = {
    "click": click,
    "close_view": close_view,
    "slash": slash,
    "submit_view": submit_view,
}


def issue_response_url(
    platform: Platform, channel: Channel, person: Person, *, kind: str, message_ts: str = ""
) -> str:
    """Return a response_url: five answers, private unless they say in_channel."""
    token = f"{platform.world.number()}"
    platform.world.response_urls[token] = ResponseUrl(
        channel=channel.id, user=person.id, message_ts=message_ts
    )
    return f"{platform.base_url}/response/{kind}/{token}"


def use_response_url(platform: Platform, token: str, answer: dict[str, Any]) -> None:
    """Do what an answer to a response_url asks for.

    Raises:
        SlackRefusal: `expired_url` for an unknown or used-up one, or what the content deserves.
    """
    response_url = platform.world.response_urls.get(token)
    if response_url is None or response_url.uses_left < 1:
        raise SlackRefusal("expired_url")
    response_url.uses_left -= 1
    channel = platform.world.channel(response_url.channel)
    if answer.get("delete_original") or answer.get("replace_original"):
        _change_original(platform, channel, response_url.message_ts, answer)
        return
    respond(platform, channel, response_url.user, answer, by="response_url")


def respond(
    platform: Platform, channel: Channel, user: str, answer: dict[str, Any], *, by: str
) -> None:
    """Show an answer to one person, or post it when it says `in_channel`."""
    content = read_content(answer)
    if answer.get("thread_ts"):
        content["thread_ts"] = answer["thread_ts"]
    if answer.get("response_type") == "in_channel":
        chat.store_post(platform, channel, content, answer)
        return
    chat.show_privately(platform, channel, user, content, by=by)


def _change_original(platform: Platform, channel: Channel, ts: str, answer: dict[str, Any]) -> None:
    if ts in channel.ephemerals:
        channel.ephemerals[ts] |= {"text": "", "blocks": [], **answer}
        platform.journal.write("ephemeral_changed", channel=channel.id, ts=ts, answer=answer)
        return
    message = channel.message(ts)
    if answer.get("delete_original"):
        chat.remove(platform, channel, message)
        return
    chat.change(platform, channel, message, {"blocks": [], **read_content(answer)})


def _message_shown_to(channel: Channel, person: Person, ts: str) -> Message:
    if channel.person not in ("", person.id):
        raise NotPossible(f"{person.id} does not see {channel.id}")
    message = channel.messages.get(ts) or channel.ephemerals.get(ts)
    if message is None or message.get("only_for", person.id) != person.id:
        raise NotPossible(f"{person.id} sees no message {ts} in {channel.id}")
    return message


def _find_element(channel: Channel, message: Message, order: Order) -> tuple[Element, Element]:
    blocks = list(message.get("blocks") or [])
    if order.get("stale"):
        blocks += reversed(channel.earlier_blocks.get(message["ts"], []))
    for block, element in interactive_elements(blocks):
        if element["action_id"] == order["action_id"]:
            return block, element
    shown = [element["action_id"] for _, element in interactive_elements(blocks)]
    raise NotPossible(f"no {order['action_id']} on {order['ts']}; it shows {shown}")


def _action(channel: Channel, found: tuple[Element, Element], order: Order) -> Element:
    block, element = found
    action = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": order.get("action_ts") or channel.mint_ts(),
    }
    if "options" in element:
        return action | {"selected_option": _option(element, order.get("value"))}
    kept = ("text", "value", "style", "url")
    return action | {name: element[name] for name in kept if name in element}


def _option(element: Element, value: object) -> Element:
    for option in element["options"]:
        if option.get("value") == value:
            return dict(option)
    raise NotPossible(f"{element['action_id']} has no option {value!r}")


def _block_actions(
    platform: Platform, place: tuple[Channel, Message], person: Person, action: Element
) -> dict[str, Any]:
    channel, message = place
    private = "only_for" in message
    container = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": private,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    payload = interaction(
        "block_actions",
        person,
        container=container,
        trigger_id=platform.world.issue_trigger(person.id),
        channel={"id": channel.id, "name": _shown_name(channel)},
        state={"values": {}},
        response_url=issue_response_url(
            platform, channel, person, kind="actions", message_ts=message["ts"]
        ),
        actions=[action],
    )
    return payload if private else payload | {"message": chat.shown(message)}


def _shown_name(channel: Channel) -> str:
    return {"im": "directmessage", "group": "privategroup"}.get(channel.kind, channel.name)


def _open_view(platform: Platform, order: Order) -> tuple[Person, View]:
    person = platform.world.person(order["user"])
    view = platform.world.views.get(order["view_id"])
    if view is None or view["owner"] != person.id:
        raise NotPossible(f"{person.id} has no open view {order['view_id']}")
    return person, view


def _state_values(view: View, values: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for block in view["blocks"]:
        element = block.get("element")
        if element is None:
            continue
        action_id = element.setdefault("action_id", f"{block['block_id']}-e")
        value = values.get(action_id, values.get(block["block_id"]))
        if not value and not block.get("optional"):
            raise NotPossible(f"{action_id} must be filled in")
        state[block["block_id"]] = {action_id: _entered(element, value)}
    return state


def _entered(element: Element, value: Any) -> dict[str, Any]:
    if "options" in element:
        chosen = None if value is None else _option(element, value)
        return {"type": element["type"], "selected_option": chosen}
    if len(str(value or "")) > element.get("max_length", 3000):
        raise NotPossible(f"{element['action_id']} takes {element.get('max_length', 3000)} at most")
    return {"type": element["type"], "value": value or None}


def _apply_response_action(platform: Platform, view: View, answer: dict[str, Any]) -> None:
    view["errors"] = {}
    match answer.get("response_action"):
        case "errors":
            view["errors"] = answer["errors"]
            platform.journal.write("view", change="errors", user=view["owner"], view=view)
        case "update":
            modals.replace_view(platform, view, read_view(answer["view"]))
        case "push":
            modals.show_view(platform, view["owner"], read_view(answer["view"]), below=view)
        case "clear":
            for each in [v for v in platform.world.views.values() if v["owner"] == view["owner"]]:
                modals.close_view(platform, each)
        case _:
            modals.close_view(platform, view)


def _answered(outcome: Outcome) -> dict[str, Any]:
    return {"status": outcome.status, "body": outcome.text, "reason": outcome.reason}


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
