import asyncio
import json
from contextlib import asynccontextmanager
from datetime import timedelta

from adapters.console.events import render_event
from core.runs.chunks import Chunk
from core.testing import FakeClock, Say
from core.threads.subscription import Streamed
from tests.support import eventually
from tests.unit.adapters.console.desk import KEY, MAIN, Setup, open_desk


@asynccontextmanager
async def listening(desk, query="", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"{desk.url}{MAIN.replace('%3A', ':')}/events{query}"
    async with desk.web.get(path, headers={**desk.bearer, **named}) as response:
        assert response.status == 200
        yield response


async def next_event(response):
    """Read one event; a comment comes back as it is."""
    lines = (await response.content.readuntil(b"\n\n")).decode().splitlines()
    if lines[0].startswith(":"):
        return lines[0], None
    fields = dict(line.split(": ", 1) for line in lines if line)
    return fields["id"], json.loads(fields["data"])


async def until(response, kind):
    async with asyncio.timeout(5):
        while True:
            cursor, chunk = await next_event(response)
            if chunk and chunk["type"] == kind:
                return cursor, chunk


async def test_chunks_of_a_run_arrive_as_events():
    async with open_desk(Setup(script=[Say(text="Hello.")])) as desk:
        await desk.call("PUT", MAIN, {})
        async with listening(desk) as response:
            assert response.content_type == "text/event-stream"
            sent = await desk.say()
            _, echo = await until(response, "data-user-message")
            assert echo["payload"]["id"] == sent.body["signal"]["id"]
            _, delta = await until(response, "text-delta")
            assert delta["payload"]["text"] == "Hello."
            assert delta["from"] == "AGENT"
            _, finish = await until(response, "finish")
            assert finish["runId"] == sent.body["accepted"]["runId"]


async def test_a_cursor_resumes_after_the_last_event():
    async with open_desk(Setup(script=[Say(text="one\n"), Say(text="two")])) as desk:
        await desk.call("PUT", MAIN, {})
        async with listening(desk) as response:
            await desk.say()
            cursor, _ = await until(response, "finish")
        await desk.say()
        async with listening(desk, Last_Event_ID=cursor) as response:
            _, delta = await until(response, "text-delta")
            assert delta["payload"]["text"] == "two"


async def test_whoever_comes_in_the_middle_sees_the_run_from_its_start_and_no_older_one():
    hold = asyncio.Event()
    script = [
        Say(text="old"),
        Say(text="early", calls=(("clock", {}),)),
        Say(text="late", gate=hold),
    ]
    async with open_desk(Setup(script=script)) as desk:
        await desk.say()
        await desk.call("POST", f"{MAIN}/messages", {"contents": "again"})
        await eventually(lambda: len(desk.model.requests) == 3)
        async with listening(desk) as response:
            _, first = await until(response, "text-delta")
            hold.set()
            _, second = await until(response, "text-delta")
        assert [first["payload"]["text"], second["payload"]["text"]] == ["early", "late"]
        await desk.runtime.idle()


async def test_a_stream_beats_every_fifteen_seconds():
    clock = FakeClock()
    async with open_desk(Setup(clock=clock)) as desk:
        await desk.call("PUT", MAIN, {})
        async with listening(desk) as response, asyncio.TaskGroup() as group:
            beats = group.create_task(next_event(response), name="wait for a beat")
            seconds = 0
            while not beats.done():
                await clock.advance(timedelta(seconds=1))
                seconds += 1
                await asyncio.sleep(0.002)
            assert beats.result()[0] == ": still here"
            assert seconds >= 15


async def test_a_reader_who_leaves_is_forgotten():
    async with open_desk() as desk:
        await desk.call("PUT", MAIN, {})
        readers = desk.runtime.broadcaster._channel(KEY).readers
        async with listening(desk):
            assert len(readers) == 1
        await eventually(lambda: not readers)


async def test_a_gateway_that_stops_ends_its_streams():
    async with open_desk() as desk:
        await desk.call("PUT", MAIN, {})
        async with listening(desk) as response:
            await desk.adapter.aclose()
            assert await response.content.read() == b""
        async with listening(desk) as response:
            assert await response.content.read() == b""


async def test_a_reader_who_fell_behind_is_told_to_come_back():
    async with open_desk() as desk:
        await desk.call("PUT", MAIN, {})
        async with listening(desk) as response:
            for number in range(5_000):
                chunk = Chunk(type="text-delta", run_id="run_1", payload={"text": str(number)})
                desk.runtime.broadcaster.publish(KEY, chunk)
            assert b"event: slow_subscriber" in await response.content.read()


async def test_a_stream_is_for_a_thread_that_is_there_and_for_people_who_may_look():
    async with open_desk() as desk:
        assert (await desk.call("GET", f"{MAIN}/events")).status == 404
        assert (await desk.ask("GET", f"{MAIN}/events")).status == 401
        await desk.visit()
        headers = {"Origin": "https://evil.example"}
        assert (await desk.ask("GET", f"{MAIN}/events", headers=headers)).status == 403


def test_an_event_is_one_line_of_json_whatever_is_in_it():
    chunk = Chunk(type="text-delta", payload={"text": "a\n\ndata: b\r\n", "odd": object()})
    lines = render_event(Streamed(cursor="s-1", chunk=chunk)).decode().split("\n")
    assert lines[0] == "id: s-1"
    assert lines[2:] == ["", ""]
    assert json.loads(lines[1].removeprefix("data: "))["payload"]["text"] == "a\n\ndata: b\r\n"
