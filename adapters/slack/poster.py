"""Poster: outbox entries as Slack messages, and how they are found again.

Each message carries `{entry_id, part}` as metadata, so that an entry of several parts goes on at
the missing one and none is posted twice (reliability.md, stage 6).
"""

import contextlib
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
        several = len(parts) > 1 or (delivery.receipt is not None and _may_be_several(delivery))
        existing = await self._existing(delivery) if several else {}
        if delivery.receipt is not None:
            existing[0] = delivery.receipt.message_id
        receipts = [
            await self._put(delivery, index, part, existing.get(index))
            for index, part in enumerate(parts)
        ]
        await self._drop(delivery, [existing[index] for index in existing if index >= len(parts)])
        return receipts[0]

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
        return Receipt(message_id=existing[0], channel=delivery.conversation.channel)

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
        """Return the ts of each part that is already there."""
        place = delivery.conversation
        found: dict[int, str] = {}
        async for message in self._client.messages(place.channel, place.root):
            part = _part_of(message, delivery.entry_id)
            if part is not None:
                found.setdefault(part, str(message["ts"]))
        return found

    async def _put(self, delivery: Delivery, index: int, part: Part, ts: str | None) -> Receipt:
        if ts is not None and delivery.receipt is None:
            return Receipt(message_id=ts, channel=delivery.conversation.channel)
        method = "chat.postMessage" if ts is None else "chat.update"
        arguments = _arguments(delivery, index, part)
        if ts is None:
            arguments |= {"thread_ts": _thread(delivery.conversation)}
            arguments |= {"unfurl_links": False, "unfurl_media": False}
        point("slack.before_post")
        answer = await self._client.call(method, ts=ts, **arguments)
        point("slack.after_post")
        return Receipt(message_id=str(answer["ts"]), channel=str(answer["channel"]))

    async def _drop(self, delivery: Delivery, surplus: list[str]) -> None:
        """Delete parts that an edited text no longer needs; gone already is as good."""
        for ts in surplus:
            with contextlib.suppress(DeliveryError):
                await self._client.call("chat.delete", channel=delivery.conversation.channel, ts=ts)


def _may_be_several(delivery: Delivery) -> bool:
    return delivery.payload.kind == "reply"


def _arguments(delivery: Delivery, index: int, part: Part) -> Json:
    return {
        "channel": delivery.conversation.channel,
        "text": part.text,
        "blocks": list(part.blocks),
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": {"entry_id": delivery.entry_id, "part": index},
        },
    }


def _thread(conversation: Conversation) -> str | None:
    return None if conversation.root == "-" else conversation.root


def _part_of(message: Any, entry_id: str) -> int | None:
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE or payload.get("entry_id") != entry_id:
        return None
    return int(payload.get("part") or 0)
