"""The dispatcher: every thread with work gets an owner, and no wake-up is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from core.errors import LeaseLost, StoreUnavailable
from core.ids import ThreadKey, thread_key
from core.signals.routing import IfIdle
from core.signals.signal import create_signal
from core.stores.memory import MemoryStore
from core.testing import NOON, FakeClock
from core.threads.dispatcher import Dispatcher
from core.threads.lease import Lease
from core.threads.store import AcceptRequest
from tests.support import eventually

NO_TIME = timedelta(0)
MINUTE = timedelta(minutes=1)


def key(name: str) -> ThreadKey:
    return thread_key("res", name)


def request(name: str, number: int = 1, **wishes) -> AcceptRequest:
    signal = create_signal(
        {"type": "user", "contents": "hi"}, now=NOON, new_id=lambda: f"sig_{name}_{number}"
    )
    told = {"key": key(name), "agent_id": "ada", "signal": signal, "fresh_run_id": f"run_{name}"}
    return AcceptRequest(**{**told, **wishes})


class Owner:
    """Runs a thread as a runner does: holds it until told to go on, then drains and leaves it."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.started: list[str] = []
        self.left: list[str] = []
        self.may_leave = asyncio.Event()
        self.may_leave.set()
        self.problem: Exception | None = None
        self.parting: Callable[[], Awaitable[None]] | None = None

    async def own(self, lease: Lease) -> None:
        self.started.append(lease.key.thread_id)
        if self.problem is not None:
            raise self.problem
        await self.may_leave.wait()
        await self.store.postpone(lease, 0)
        if self.parting is not None:
            parting, self.parting = self.parting, None
            await parting()
        self.left.append(lease.key.thread_id)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(clock=FakeClock())


@pytest.fixture
def owner(store) -> Owner:
    return Owner(store)


@pytest.fixture
def dispatcher(store, owner) -> Dispatcher:
    return Dispatcher(store=store, own=owner.own, owner="p1")


async def test_a_message_gets_its_thread_an_owner(dispatcher, owner):
    accepted = await dispatcher.send(request("a"))
    await dispatcher.idle()
    assert (accepted.action, owner.started) == ("wake", ["a"])


async def test_what_is_only_kept_wakes_nobody(dispatcher, owner):
    await dispatcher.send(request("a", if_idle=IfIdle(behavior="persist")))
    await dispatcher.idle()
    assert owner.started == []


async def test_an_event_sent_twice_wakes_once(dispatcher, owner, store):
    await store.accept(request("a", event_key="e"))
    await dispatcher.send(request("a", 2, event_key="e"))
    await dispatcher.idle()
    assert owner.started == []


async def test_one_thread_has_one_owner_however_often_it_is_woken(dispatcher, owner):
    owner.may_leave.clear()
    await dispatcher.send(request("a"))
    for _ in range(5):
        dispatcher.wake(key("a"))
    await eventually(lambda: owner.started == ["a"])
    assert len(dispatcher._tasks) == 1
    await dispatcher.stop(NO_TIME)


async def test_a_wake_up_while_the_owner_is_leaving_is_not_lost(dispatcher, owner, store):
    async def somebody_writes() -> None:
        dispatcher.wake(key("a"))

    owner.parting = somebody_writes
    await dispatcher.send(request("a"))
    await dispatcher.idle()
    assert owner.started == ["a", "a"]


async def test_threads_run_beside_each_other(dispatcher, owner):
    owner.may_leave.clear()
    for name in "abc":
        await dispatcher.send(request(name))
    await eventually(lambda: sorted(owner.started) == ["a", "b", "c"])
    owner.may_leave.set()
    await dispatcher.idle()


async def test_only_so_many_threads_run_at_once(store, owner):
    dispatcher = Dispatcher(store=store, own=owner.own, owner="p1", limit=2)
    owner.may_leave.clear()
    for name in "abc":
        await dispatcher.send(request(name))
    await eventually(lambda: len(owner.started) == 2)
    assert len(await store.runnable()) == 1
    owner.may_leave.set()
    await dispatcher.idle()
    assert sorted(owner.left) == ["a", "b", "c"]


async def test_the_reaper_finds_what_a_crash_left(dispatcher, owner, store):
    await store.accept(request("a"))
    await store.accept(request("b"))
    assert await dispatcher.reap() == 2
    await dispatcher.idle()
    assert sorted(owner.started) == ["a", "b"]


async def test_a_thread_without_work_gets_no_owner(dispatcher, owner):
    dispatcher.wake(key("nobody"))
    await dispatcher.idle()
    assert owner.started == []


@pytest.mark.parametrize(
    ("problem", "event"),
    [
        (LeaseLost("gone"), "thread.run_failed"),
        (StoreUnavailable("full"), "thread.run_failed"),
        (KeyError("a fault"), "thread.run_broke"),
    ],
)
async def test_a_fault_in_one_thread_is_logged_and_ends_no_other(dispatcher, owner, problem, event):
    owner.problem = problem
    with capture_logs() as logs:
        await dispatcher.send(request("a"))
        await dispatcher.idle()
    owner.problem = None
    await dispatcher.send(request("b"))
    await dispatcher.idle()
    assert [entry["event"] for entry in logs] == [event]
    assert owner.left == ["b"]


async def test_a_stop_lets_a_run_that_is_nearly_done_finish(dispatcher, owner):
    owner.may_leave.clear()
    await dispatcher.send(request("a"))
    await eventually(lambda: owner.started)
    stopping = asyncio.create_task(dispatcher.stop(MINUTE))
    await asyncio.sleep(0)
    owner.may_leave.set()
    await stopping
    assert owner.left == ["a"]


async def test_a_stop_ends_what_does_not_finish_in_time(dispatcher, owner):
    owner.may_leave.clear()
    await dispatcher.send(request("a"))
    await eventually(lambda: owner.started)
    await dispatcher.stop(NO_TIME)
    assert (owner.left, dispatcher._tasks) == ([], {})


async def test_after_a_stop_nobody_is_woken(dispatcher, owner, store):
    await dispatcher.stop(NO_TIME)
    await dispatcher.send(request("a"))
    assert await dispatcher.reap() == 1
    await dispatcher.idle()
    assert owner.started == []


async def test_a_thread_that_waited_for_a_slot_is_not_begun_during_a_stop(store, owner):
    dispatcher = Dispatcher(store=store, own=owner.own, owner="p1", limit=1)
    owner.may_leave.clear()
    for name in "ab":
        await dispatcher.send(request(name))
    await eventually(lambda: owner.started)
    stopping = asyncio.create_task(dispatcher.stop(MINUTE))
    await asyncio.sleep(0)
    owner.may_leave.set()
    await stopping
    assert (owner.started, len(await store.runnable())) == (["a"], 2)
