"""Accepting: events per second into the SQLite store, commits shared against one commit for each.

Both sides run the store's own `accept` for 50 concurrent senders, each on a thread of its own, in
turns within one run. "Padded" adds 4 ms to every commit on both sides, as a disk costs that syncs
for real (reliability.md 0.6); "raw" is this machine's disk as it is.
"""

import asyncio
import statistics
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.conversation import Conversation
from core.ids import thread_key
from core.signals.signal import create_signal
from core.stores.table_store import TableStore
from core.threads.store import AcceptRequest

SENDERS = 50
GROUPED_EVENTS = 40
"""Events of each sender where commits are shared."""
SINGLE_EVENTS = 6
"""Fewer where they are not: at 4 ms each they take their time."""
PADDING = timedelta(milliseconds=4)
GOAL = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One side of one round."""

    per_second: float
    per_commit: float
    p50: float
    p99: float


async def measure(rounds: int) -> list[str]:
    """Measure all sides and return the lines to print."""
    lines = [f"accept: {SENDERS} concurrent senders, SQLite, synchronous=FULL, median of {rounds}"]
    for title, padding in (("commit padded to 4 ms", PADDING), ("raw", timedelta(0))):
        shared, single = await _rounds(rounds, padding)
        ratio = statistics.median(
            one.per_second / other.per_second for one, other in zip(shared, single, strict=True)
        )
        lines += [
            f"  {title}",
            _line("commits shared", shared),
            _line("one commit per event", single),
            f"    ratio {ratio:.1f}x" + (f" (goal {GOAL:.0f}x)" if padding else ""),
        ]
    return lines


async def _rounds(rounds: int, padding: timedelta) -> tuple[list[Figure], list[Figure]]:
    shared, single = [], []
    for _ in range(rounds):
        shared.append(await _side(GROUPED_EVENTS, padding, group_limit=256))
        single.append(await _side(SINGLE_EVENTS, padding, group_limit=1))
    return shared, single


async def _side(events: int, padding: timedelta, *, group_limit: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        settings = SqliteSettings(
            path=Path(folder) / "store.db", group_limit=group_limit, commit_padding=padding
        )
        async with await SqliteTransactor.open(settings) as transactor:
            store = TableStore(transactor)
            begun = perf_counter()
            waits = await asyncio.gather(
                *(_sender(store, f"t{number}", events) for number in range(SENDERS))
            )
            elapsed = perf_counter() - begun
            commits = transactor.commits
    ordered = sorted(wait for sender in waits for wait in sender)
    return Figure(
        per_second=len(ordered) / elapsed,
        per_commit=len(ordered) / commits,
        p50=ordered[len(ordered) // 2] * 1_000,
        p99=ordered[len(ordered) * 99 // 100] * 1_000,
    )


async def _sender(store: TableStore, thread: str, events: int) -> list[float]:
    """Send one event after the other, each once the one before is on disk; returns the seconds."""
    waits = []
    for number in range(events):
        request = _request(thread, number)
        begun = perf_counter()
        await store.accept(request)
        waits.append(perf_counter() - begun)
    return waits


def _request(thread: str, number: int) -> AcceptRequest:
    name = f"{thread}:{number}"
    signal = create_signal(
        {
            "type": "user",
            "contents": "Could you look at why the nightly build is red again, please? " * 2,
            "attributes": {"name": "Ada", "id": "slack:T1:U2", "channel": "#builds"},
        },
        now=datetime.now(UTC),
        new_id=lambda: f"sig_{name}",
    )
    return AcceptRequest(
        key=thread_key("slack:T1:C1", thread),
        agent_id="interlock",
        signal=signal,
        fresh_run_id=f"run_{name}",
        event_key=f"slack:T1:C1:{name}",
        conversation=Conversation(platform="slack", tenant="T1", channel="C1", root=thread),
    )


def _line(title: str, figures: list[Figure]) -> str:
    middle = {
        name: statistics.median(getattr(figure, name) for figure in figures)
        for name in ("per_second", "per_commit", "p50", "p99")
    }
    return (
        f"    {title:<21} {middle['per_second']:>7.0f} events/s   "
        f"{middle['per_commit']:>5.1f} events/commit   "
        f"p50 {middle['p50']:>6.1f} ms   p99 {middle['p99']:>6.1f} ms"
    )
