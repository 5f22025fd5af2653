"""OpenAIModel: any server that speaks the OpenAI chat protocol, over one shared HTTP session."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import aiohttp
from pydantic import SecretStr

from adapters.models.answer import Chunk, chunk_of_document
from adapters.models.errors import from_status, from_stream, sentence
from adapters.models.following import follow
from adapters.models.names import ModelName
from adapters.models.prompt import render_request
from adapters.models.sse import MAX_LINE, EventParser
from core.errors import ModelError, ModelOutputError
from core.ports.model import ModelEvent, ModelRequest

API_BASE = "https://api.openai.com/v1"
_ERROR_BYTES = 64 * 1024


class SharedSession:
    """The one HTTP session of all direct models: the caller's, or its own, made on first use."""

    def __init__(self, session: aiohttp.ClientSession | None = None) -> None:
        """Take the caller's session, which stays theirs to close."""
        self._given = session
        self._own: aiohttp.ClientSession | None = None

    def get(self) -> aiohttp.ClientSession:
        """Return the session; there must be a running event loop."""
        if self._given is not None:
            return self._given
        if self._own is None or self._own.closed:
            # Our deadlines stand in following.py; the session's own would cut long answers.
            self._own = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        return self._own

    async def aclose(self) -> None:
        """Close our own session, if there is one."""
        if self._own is not None:
            await self._own.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Which model, where, and with which key."""

    name: ModelName
    api_base: str = API_BASE
    """Without a slash at the end; `/chat/completions` is put behind it."""
    key: SecretStr | None = None


class OpenAIModel:
    """A model behind the OpenAI protocol. It tries once: repeating is the run loop's decision."""

    def __init__(self, endpoint: Endpoint, *, session: SharedSession) -> None:
        """Take where to ask and the session to ask over."""
        self._endpoint = endpoint
        self._session = session

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask once; see the port."""
        return follow(self._chunks(request), request)

    async def _chunks(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        try:
            async with self._post(request) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                streamed = response.content_type == "text/event-stream"
                reading = self._events(response) if streamed else self._document(response, request)
                async with aclosing(reading):
                    async for chunk in reading:
                        yield chunk
        except aiohttp.ClientPayloadError as exc:
            raise ModelError(f"{self._label} broke off its answer", retryable=True) from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise ModelError(
                f"the connection to {self._label} failed: {sentence(exc) or type(exc).__name__}",
                retryable=True,
            ) from exc

    @property
    def _label(self) -> str:
        return f"the model {self._endpoint.name.text}"

    def _post(self, request: ModelRequest) -> Any:
        name = self._endpoint.name
        headers = {"Accept": "text/event-stream"}
        # A server of one's own may need none.
        if self._endpoint.key is not None:
            headers["Authorization"] = f"Bearer {self._endpoint.key.get_secret_value()}"
        return self._session.get().post(
            f"{self._endpoint.api_base.rstrip('/')}/chat/completions",
            json=render_request(request, model=name.model, provider=name.provider),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None),
            # The key goes where it was meant to go and nowhere else.
            allow_redirects=False,
        )

    async def _refusal(self, response: aiohttp.ClientResponse) -> ModelError:
        body = bytearray()
        async for block in response.content.iter_any():
            body += block
            # An error page may be endless too.
            if len(body) > _ERROR_BYTES:
                break
        text = self._without_key(bytes(body))
        return from_status(response.status, text, where=self._label, headers=response.headers)

    def _without_key(self, body: bytes) -> str:
        """Return the body's text; our own key is taken out whatever it looks like."""
        text = body.decode(errors="replace")
        key = self._endpoint.key
        return text.replace(key.get_secret_value(), "[key]") if key is not None else text

    async def _events(self, response: aiohttp.ClientResponse) -> AsyncGenerator[Chunk, None]:
        """Yield the chunks of a stream until the server says that it is done."""
        parser = EventParser()
        async for block in response.content.iter_any():
            for data in parser.feed(block):
                if data.strip() == b"[DONE]":
                    return
                yield self._chunk(data)
        for data in parser.end():
            if data.strip() != b"[DONE]":
                yield self._chunk(data)

    async def _document(
        self, response: aiohttp.ClientResponse, request: ModelRequest
    ) -> AsyncGenerator[Chunk, None]:
        """Read the answer of a server that ignores `stream` as one chunk."""
        limit = request.caps.characters * 4 + MAX_LINE
        body = bytearray()
        async for block in response.content.iter_any():
            body += block
            if len(body) > limit:
                raise ModelOutputError(f"{self._label} sent an answer of over {limit} bytes")
        yield chunk_of_document(self._chunk(bytes(body)))

    def _chunk(self, data: bytes) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except ValueError as exc:
            raise self._unreadable() from exc
        if not isinstance(chunk, dict):
            raise self._unreadable()
        if chunk.get("error"):
            raise from_stream(chunk["error"], where=self._label)
        return chunk

    def _unreadable(self) -> ModelOutputError:
        return ModelOutputError(f"{self._label} sent JSON that cannot be read", retryable=True)
