"""The server: checks a request like the real one, then says what the book holds for it."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from aiohttp import web

from tests.loopback.journal import Journal
from tests.loopback.model.checks import Refusal, check_body, check_key, error_object
from tests.loopback.model.script import Book, Say, rule_from, say_from
from tests.loopback.model.wire import Chunk, chunk, deltas, document, finish_of, usage_of

_POLL = 0.01
_HUGE = 8_000_000


class ClientGone(Exception):
    """The client closed its connection before the answer was over."""


class ModelServer:
    """One model behind one key; every model name is served."""

    def __init__(self, *, book: Book, journal: Journal, key: str) -> None:
        """Take the answers to come, the file to write to, and the key to demand."""
        self._book = book
        self._journal = journal
        self._key = key
        self._numbers = itertools.count(1)

    def app(self) -> web.Application:
        """Return the routes; the API is served with and without `/v1`."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for prefix in ("/v1", ""):
            app.router.add_post(f"{prefix}/chat/completions", self._complete)
        app.router.add_post("/_control/script", self._script)
        app.router.add_post("/_control/rule", self._rule)
        app.router.add_post("/_control/default", self._default)
        app.router.add_post("/_control/reset", self._reset)
        return app

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        number = next(self._numbers)
        body = await _json(request)
        self._journal.write("request", number=number, body=body)
        try:
            check_key(request.headers.get("Authorization"), self._key)
            check_body(body)
        except Refusal as refusal:
            self._end(number, "refused", message=refusal.message)
            return web.json_response(refusal.body(), status=refusal.status)
        say = self._book.next(body["messages"])
        speaker = Speaker(request, body, say, f"chatcmpl-loop{number}")
        try:
            return await speaker.speak()
        except (ClientGone, ConnectionResetError):
            speaker.how = "client_gone"
            return web.Response(status=499)
        finally:
            self._end(number, speaker.how, chunks=speaker.sent)

    def _end(self, number: int, how: str, **fields: Any) -> None:
        self._journal.write("end", number=number, how=how, **fields)

    async def _script(self, request: web.Request) -> web.Response:
        self._book.queue.extend(say_from(answer) for answer in await request.json())
        return web.json_response({"waiting": len(self._book.queue)})

    async def _rule(self, request: web.Request) -> web.Response:
        self._book.rules.append(rule_from(await request.json()))
        return web.json_response({"rules": len(self._book.rules)})

    async def _default(self, request: web.Request) -> web.Response:
        self._book.default = say_from(await request.json())
        return web.json_response({})

    async def _reset(self, _: web.Request) -> web.Response:
        self._book.reset()
        self._journal.write("reset")
        return web.json_response({})


class Speaker:
    """Says one answer to one request."""

    def __init__(self, request: web.Request, body: Chunk, say: Say, answer_id: str) -> None:
        """Take the request and what to say to it."""
        self._request = request
        self._body = body
        self._say = say
        self._id = answer_id
        self._response = web.StreamResponse()
        self.sent = 0
        """Chunks written so far."""
        self.how = "completed"
        """How it ended, for the journal."""

    async def speak(self) -> web.StreamResponse:
        """Answer in the way that was scripted."""
        say = self._say
        if say.status is not None:
            return self._refuse(say.status)
        if not self._body.get("stream") or say.fault == "not_streamed":
            await self._pause(say.stall_first)
            return web.json_response(document(self._id, self._body["model"], say))
        await self._open()
        if say.fault == "silent":
            return await self._done()
        await self._pause(say.stall_first)
        await self._stream()
        return self._response

    def _refuse(self, status: int) -> web.Response:
        self.how = f"status {status}"
        kind = {429: "requests", 401: "invalid_request_error"}.get(status, "server_error")
        error = error_object("The server had an error while processing your request.", kind)
        headers = {"Retry-After": self._say.retry_after} if self._say.retry_after else {}
        return web.json_response({"error": error | self._say.error}, status=status, headers=headers)

    async def _open(self) -> None:
        self._response.content_type = "text/event-stream"
        await self._response.prepare(self._request)

    async def _stream(self) -> None:
        parts = list(deltas(self._say))
        for position, delta in enumerate(parts):
            # The role goes out at once: it is no token.
            await self._pause(self._say.stall_between if position > 1 else 0.0)
            await self._delta(delta)
        await self._last_words(parts[-1])

    async def _last_words(self, delta: Chunk) -> None:
        match self._say.fault:
            case "endless":
                while True:
                    await self._delta(delta)
                    await asyncio.sleep(0)
            case "huge":
                await self._delta({"content": "x" * _HUGE})
            case "broken_json":
                await self._write(b'data: {"choices": [{"delta": {"cont\n\n')
            case "error_in_stream":
                error = error_object("The server is overloaded.", "server_error") | self._say.error
                await self._event({"error": error})
                self.how = "error"
                return
            case "cut":
                self._cut()
                return
        await self._finish()

    async def _finish(self) -> None:
        empty = {"index": 0, "delta": {}, "finish_reason": finish_of(self._say)}
        await self._event(self._chunk(choices=[empty]))
        wanted = (self._body.get("stream_options") or {}).get("include_usage")
        if wanted and self._say.fault != "no_usage":
            await self._event(self._chunk(choices=[], usage=usage_of(self._say)))
        await self._done()

    async def _done(self) -> web.StreamResponse:
        await self._write(b"data: [DONE]\n\n")
        await self._response.write_eof()
        return self._response

    def _cut(self) -> None:
        self.how = "cut"
        if self._request.transport is not None:
            self._request.transport.abort()

    def _chunk(self, **fields: Any) -> Chunk:
        return chunk(self._id, self._body["model"], **fields)

    async def _delta(self, delta: Chunk) -> None:
        await self._event(
            self._chunk(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
        )
        self.sent += 1

    async def _event(self, event: Chunk) -> None:
        await self._write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())

    async def _write(self, data: bytes) -> None:
        self._notice_absence()
        await self._response.write(data)

    async def _pause(self, seconds: float) -> None:
        """Keep silent, but notice when nobody listens any more."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while loop.time() < until:
            self._notice_absence()
            await asyncio.sleep(min(_POLL, max(0.0, until - loop.time())))

    def _notice_absence(self) -> None:
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ClientGone


async def _json(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except ValueError:
        return None
