"""Client: calls of Slack's Web API, each one sent once and its errors translated."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import aiohttp

from adapters.slack.errors import translate
from core.errors import DeliveryError

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

Json = dict[str, Any]

TIMEOUT = 15
"""Seconds for a whole call; after that its outcome is uncertain."""
MOST_PAGES = 25
PAGE = 200


def vendor_logger() -> logging.Logger:
    """Return the logger the vendors get: silent, since theirs write bodies and tokens' owners."""
    logger = logging.getLogger("interlock.slack.vendor")
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


class SlackClient:
    """The Web API, without the SDK's own retries: a post that broke may have been accepted."""

    def __init__(self, *, token: str, api_url: str, session: aiohttp.ClientSession | None) -> None:
        """Keep the token, the base URL and the session; without one, it opens its own."""
        self.token = token
        self._api_url = api_url
        self._session = session
        self._owned = session is None
        self._web: AsyncWebClient | None = None

    @property
    def web(self) -> "AsyncWebClient":
        """Return the SDK's client, made on first use."""
        if self._web is None:
            from slack_sdk.web.async_client import AsyncWebClient

            # Made here and not at construction: a session wants a running loop.
            self._session = self._session or aiohttp.ClientSession()
            self._web = AsyncWebClient(
                token=self.token,
                base_url=self._api_url,
                timeout=TIMEOUT,
                session=self._session,
                logger=vendor_logger(),
                # The default handler repeats a post after a connection error (reliability.md 0.4).
                retry_handlers=[],
            )
        return self._web

    async def aclose(self) -> None:
        """Close the session, if it is our own."""
        if self._owned and self._session is not None:
            await self._session.close()

    async def call(self, method: str, **arguments: Any) -> Json:
        """Call a writing method once and return its answer; arguments that are None are left out.

        Raises:
            DeliveryError: what Slack or the network said instead.
        """
        return await self._once(method, http_verb="POST", json=_given(arguments))

    async def read(self, method: str, **arguments: Any) -> Json:
        """Call a reading method, which takes its arguments in the query; like `call` otherwise."""
        return await self._once(method, http_verb="GET", params=_given(arguments))

    async def messages(self, channel: str, root: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the messages of a thread, or of a channel when root is `-`, with their metadata.

        Raises:
            DeliveryError: Slack cannot be asked, or there are more pages than anybody reads.
        """
        method = "conversations.history" if root == "-" else "conversations.replies"
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            answer = await self.read(
                method,
                channel=channel,
                ts=None if root == "-" else root,
                include_all_metadata="true",
                limit=PAGE,
                cursor=cursor,
            )
            for message in answer.get("messages") or ():
                yield message
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
        # Not found among thousands is no proof that it is not there: do not post on a guess.
        raise DeliveryError(f"{method}: {channel} has too many messages to look through")

    async def _once(self, method: str, **request: Any) -> Json:
        from slack_sdk.errors import SlackApiError, SlackClientError

        try:
            async with asyncio.timeout(TIMEOUT):
                response = await self.web.api_call(method, **request)
        except (SlackApiError, SlackClientError, aiohttp.ClientError, OSError, ValueError) as exc:
            raise translate(method, exc) from exc
        if not isinstance(response.data, dict):
            raise DeliveryError(f"{method}: Slack's answer is no JSON object", uncertain=True)
        return response.data


def _given(arguments: Json) -> Json:
    return {name: value for name, value in arguments.items() if value is not None}
