"""What people do: say, edit, delete, react. Each returns the events Slack sends for it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.loopback.slack import chat
from tests.loopback.slack.delivery import Delivery
from tests.loopback.slack.events import (
    changed_event,
    mention_event,
    mentions_bot,
    message_event,
    person_message,
    rich_text,
)
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import NotPossible
from tests.loopback.slack.world import Channel, Message

Order = dict[str, Any]


async def say(platform: Platform, order: Order) -> dict[str, Any]:
    """Write a message: `user, channel, text, thread_ts?, order?, wait?, extra?`.

    A mention in a channel arrives twice, as `message` and `app_mention` with the same ts. `order`
    says which is tried first: `message_first`, `mention_first` or `together`. `extra` are further
    fields of the message, for example `files`. With `wait` it returns after the first tries.
    """
    channel, message = _write(platform, order)
    events = _twins(channel, message)
    if order.get("order") == "mention_first":
        events.reverse()
    deliveries = platform.emit(events, in_order=order.get("order") != "together")
    return await told(deliveries, ts=message["ts"], wait=order.get("wait", True))


async def edit(platform: Platform, order: Order) -> dict[str, Any]:
    """Edit one's own message: `user, channel, ts, text`."""
    channel = platform.world.channel(order["channel"])
    message = channel.message(order["ts"])
    if message["user"] != order["user"]:
        raise NotPossible(f"{order['user']} did not write {order['ts']}")
    previous, edited_ts = copy.deepcopy(message), channel.mint_ts()
    text = order["text"]
    message |= {"text": text, "blocks": [rich_text(text)]}
    message["edited"] = {"user": order["user"], "ts": edited_ts}
    deliveries = platform.emit([changed_event(channel, message, previous, edited_ts)])
    return await told(deliveries, ts=edited_ts, wait=order.get("wait", True))


async def delete(platform: Platform, order: Order) -> dict[str, Any]:
    """Delete a message: `channel, ts`."""
    channel = platform.world.channel(order["channel"])
    return {"event_ids": chat.remove(platform, channel, channel.message(order["ts"]))}


async def react(platform: Platform, order: Order) -> dict[str, Any]:
    """Add a reaction: `user, channel, ts, name`; `remove` takes it away."""
    channel = platform.world.channel(order["channel"])
    arguments = {"timestamp": order["ts"], "name": order["name"]}
    verb = chat.unreact if order.get("remove") else chat.react
    return {"event_ids": verb(platform, channel, arguments, user=order["user"])}


async def event(platform: Platform, order: Order) -> dict[str, Any]:
    """Deliver any event as it is given: `event, team?`; nothing in the world changes."""
    team = {"team": order["team"]} if "team" in order else {}
    deliveries = platform.emit([order["event"]], **team)
    return await told(deliveries, ts=order["event"].get("ts"), wait=order.get("wait", True))


async def redeliver(platform: Platform, order: Order) -> dict[str, Any]:
    """Deliver an event again although it was answered: `event_id`."""
    try:
        outcome = await platform.courier.again(order["event_id"])
    except KeyError:
        raise NotPossible(f"no event {order['event_id']} was ever sent") from None
    return {"status": outcome.status, "reason": outcome.reason}


async def told(deliveries: Sequence[Delivery], *, ts: object, wait: bool) -> dict[str, Any]:
    """Return ts and event ids, after the first try of each delivery when asked to wait."""
    if wait:
        await asyncio.gather(*(delivery.tried.wait() for delivery in deliveries))
    return {"ts": ts, "event_ids": [delivery.event_id for delivery in deliveries]}


VERBS: dict[str, Callable[[Platform, Order], Awaitable[dict[str, Any]]]] = {
    "delete": delete,
    "edit": edit,
    "event": event,
    "react": react,
    "redeliver": redeliver,
    "say": say,
}


def _write(platform: Platform, order: Order) -> tuple[Channel, Message]:
    channel = platform.world.channel(order["channel"])
    person = platform.world.person(order["user"])
    if channel.person not in ("", person.id):
        raise NotPossible(f"{channel.id} is not a DM of {person.id}")
    message = person_message(person, channel.mint_ts(), order["text"])
    message |= order.get("extra") or {}
    if order.get("thread_ts"):
        root = channel.message(order["thread_ts"])
        message |= {"thread_ts": root["ts"], "parent_user_id": root["user"]}
    return channel, channel.add(message)


def _twins(channel: Channel, message: Message) -> list[dict[str, Any]]:
    events = [message_event(channel, message)]
    if not channel.is_member:
        events.clear()
    if channel.kind != "im" and mentions_bot(message["text"]):
        events.append(mention_event(channel, message))
    return events
