"""Poster: outbox entries as Slack messages, and how they are found again.

Each message carries `{entry_id, part}` as metadata, so that an entry of several parts goes on at
the missing one and none is posted twice (reliability.md, stage 6).
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.client import SlackClient
from adapters.slack.render import Part, render
from core.conversation import Conversation, Notice, Receipt
from core.errors import DeliveryError
from core.faults import point
from core.ports.adapter import Delivery

Json = dict[str, Any]

EVENT_TYPE = "interlock_delivery"


class Poster:
    """Posts, edits and looks up what the outbox sends."""

    def __init__(self, *, client: SlackClient) -> None:
        """Keep the Web API."""
        self._client = client

    async def send(self, delivery: Delivery) -> Receipt:
        """Post or edit; the receipt is that of the first part.

        Raises:
            DeliveryError: see the Adapter port.
        """
        if isinstance(delivery.payload, Notice) and delivery.payload.to:
            return await self._tell(delivery.conversation, delivery.payload)
        parts = render(delivery.payload)
        existing = await self._existing(delivery) if _may_be_several(delivery, parts) else {}
        first = await self._put(delivery, _Numbered(0, parts[0]), existing.get(0))
        for index, part in enumerate(parts[1:], start=1):
            numbered = _Numbered(index, part, head=first.message_id)
            await self._put(delivery, numbered, existing.get(index))
        await self._drop(delivery, [existing[index] for index in existing if index >= len(parts)])
        return first

    async def find(self, delivery: Delivery) -> Receipt | None:
        """Look an entry up; found only when all its parts are there, else `send` completes it.

        Raises:
            DeliveryError: Slack cannot be asked now.
        """
        if isinstance(delivery.payload, Notice) and delivery.payload.to:
            return None
        existing = await self._existing(delivery)
        if not existing.keys() >= set(range(len(render(delivery.payload)))):
            return None
        return _receipt(existing[0], delivery)

    async def tell(
        self,
        conversation: Conversation,
        user: str,
        text: str,
        blocks: list[Json] | None = None,
    ) -> Receipt:
        """Tell one person something that nobody else sees.

        Raises:
            DeliveryError: Slack did not take it.
        """
        answer = await self._client.call(
            "chat.postEphemeral",
            channel=conversation.channel,
            user=user,
            thread_ts=_thread(conversation),
            text=render(Notice(text=text))[0].text,
            blocks=blocks,
        )
        return Receipt(message_id=str(answer["message_ts"]), channel=conversation.channel)

    async def _tell(self, conversation: Conversation, notice: Notice) -> Receipt:
        user = str(notice.to).rpartition(":")[2]
        return await self.tell(conversation, user, notice.text)

    async def _existing(self, delivery: Delivery) -> dict[int, str]:
        """Return the ts of each part that is already there.

        A new message's parts are known by its entry, those of an edited one by its first message:
        an edit is an entry of its own.
        """
        place = delivery.conversation
        found: dict[int, str] = {}
        async for message in self._client.messages(place.channel, place.root):
            part = _part_of(message, delivery)
            if part is not None:
                # Should a part be there twice after all, the first one counts from now on.
                found.setdefault(part, str(message["ts"]))
        return found

    async def _put(self, delivery: Delivery, part: "_Numbered", ts: str | None) -> Receipt:
        channel, edited = delivery.conversation.channel, delivery.receipt
        if edited is not None and part.index == 0:
            ts = edited.message_id
        if ts is not None and edited is None:
            return _receipt(ts, delivery)
        content = {"channel": channel, "text": part.part.text, "blocks": list(part.part.blocks)}
        point("slack.before_post")
        if ts is not None:
            # Metadata is left out: Slack keeps what the message was posted with.
            answer = await self._client.call("chat.update", ts=ts, **content)
        else:
            answer = await self._client.call("chat.postMessage", **content, **_new(delivery, part))
        point("slack.after_post")
        return _receipt(str(answer["ts"]), delivery)

    async def _drop(self, delivery: Delivery, surplus: list[str]) -> None:
        """Delete parts that an edited text no longer needs; gone already is as good."""
        for ts in surplus:
            with contextlib.suppress(DeliveryError):
                await self._client.call("chat.delete", channel=delivery.conversation.channel, ts=ts)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """One part and its place; `head` is the ts of the first part, once that is there."""

    index: int
    part: Part
    head: str | None = None


def _may_be_several(delivery: Delivery, parts: Sequence[Part]) -> bool:
    # An edited reply may once have had more parts; a first post looks only if it has several.
    return len(parts) > 1 or (delivery.receipt is not None and delivery.payload.kind == "reply")


def _new(delivery: Delivery, part: _Numbered) -> Json:
    """Return what only a new message carries: thread, metadata, and no previews of links."""
    payload = {"entry_id": delivery.entry_id, "part": part.index}
    return {
        "thread_ts": _thread(delivery.conversation),
        "unfurl_links": False,
        "unfurl_media": False,
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": payload | ({"head": part.head} if part.head else {}),
        },
    }


def _thread(conversation: Conversation) -> str | None:
    # An empty thread_ts is refused (vercel/chat#268), so a flat place sends none at all.
    return None if conversation.root == "-" else conversation.root


def _part_of(message: Mapping[str, Any], delivery: Delivery) -> int | None:
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return None
    if delivery.receipt is None:
        ours = payload.get("entry_id") == delivery.entry_id
    else:
        ours = payload.get("head") == delivery.receipt.message_id
    return int(payload.get("part") or 0) if ours else None


def _receipt(ts: str, delivery: Delivery) -> Receipt:
    """Name the message; one at top level is the root of what people answer below it."""
    place = delivery.conversation
    root = ts if place.root == "-" and delivery.receipt is None else None
    return Receipt(message_id=ts, channel=place.channel, root=root)
