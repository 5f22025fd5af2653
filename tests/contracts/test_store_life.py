"""A store's whole life at random: two owners, people who write, decide and stop, and time."""

import asyncio
from collections import Counter
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from core.errors import AlreadyDecided, LeaseLost
from core.runs.run import LEGAL_MOVES, CallState, Phase, Run, RunStatus
from core.runs.store import RunFilter
from core.stores.memory_tables import MemoryTransactor
from core.stores.table_store import TableStore
from core.stores.tables import Query
from core.testing import FakeClock
from core.threads.lease import Lease
from core.threads.thread import ThreadState
from tests.contracts.store_world import KEY, TTL, World

OWNERS = ("p1", "p2")
CALLS = st.integers(0, 2)
FATES = st.lists(st.sampled_from(["done", "suspended"]), min_size=2, max_size=2)
ENDS = (RunStatus.DONE, RunStatus.FAILED, RunStatus.ABORTED)


class StoreLife(RuleBasedStateMachine):
    """Drives one thread; what it was told is compared with what the store shows."""

    def __init__(self) -> None:
        super().__init__()
        clock, transactor = FakeClock(), MemoryTransactor()
        self.world = World(TableStore(transactor, clock=clock), clock, transactor)
        self.loop = asyncio.new_event_loop()
        self.leases: dict[str, Lease] = {}
        self.owner: str | None = None
        self.kept: list[str] = []
        self.calls = 0
        self.tokens: list[str] = []

    def teardown(self) -> None:
        self.loop.close()

    def do(self, work):
        return self.loop.run_until_complete(work)

    def attempt(self, owner, work):
        """Do an owner's work; refused if, and only if, somebody else has the fence."""
        try:
            done = self.do(work)
        except LeaseLost:
            assert owner != self.owner
            return None
        assert owner == self.owner, f"{owner} wrote although {self.owner} has the thread"
        return done

    @property
    def head(self):
        return self.do(self.world.head())

    def running(self) -> Run | None:
        found = self.do(self.world.store.runs(RunFilter(status=RunStatus.RUNNING)))
        return found[0] if found else None

    # People

    @initialize()
    def begin(self):
        self.say("ada", False, "user")

    @rule(
        agent=st.sampled_from(["ada", "bob"]),
        own=st.booleans(),
        kind=st.sampled_from(["user", "user", "notification"]),
    )
    def say(self, agent, own, kind):
        accepted = self.do(self.world.say("x", agent_id=agent, own_turn=own, kind=kind))
        self.kept.append(accepted.signal.id)

    @precondition(lambda self: self.tokens)
    @rule(which=st.integers(0, 3))
    def decide(self, which):
        token = self.tokens[-1 - which % len(self.tokens)]
        before = self.do(self.world.store.suspension(token))
        try:
            self.do(self.world.decide(token))
        except AlreadyDecided:
            assert before.state != "waiting" or before.expires_at <= self.world.clock.now()
        else:
            assert before.state == "waiting"

    @rule()
    def stop(self):
        before = self.head
        stopped = self.do(self.world.store.request_abort(KEY))
        assert (stopped is None) is (before.state is ThreadState.IDLE)
        assert stopped is None or stopped.ended is (before.state is ThreadState.SUSPENDED)

    @rule(seconds=st.sampled_from([1, 7, 7, 86_400]))
    def wait(self, seconds):
        self.do(self.world.clock.advance(timedelta(seconds=seconds)))
        self.do(self.world.store.expire())

    # Owners

    @rule(owner=st.sampled_from(OWNERS))
    def acquire(self, owner):
        free = self.head.lease_until <= self.world.clock.now()
        lease = self.do(self.world.store.acquire(KEY, owner, TTL))
        assert lease is None or free
        if lease is not None:
            self.leases[owner], self.owner = lease, owner
        elif self.head.owner is None:
            self.owner = None

    @rule(owner=st.sampled_from(OWNERS), phases=st.integers(0, 4), calls=CALLS, fates=FATES)
    def serve(self, owner, phases, calls, fates):
        self.acquire(owner)
        self.next(owner)
        for _ in range(phases):
            self.step(owner, calls, fates)

    @precondition(lambda self: self.leases)
    @rule(owner=st.sampled_from(OWNERS))
    def next(self, owner):
        if owner in self.leases:
            self.attempt(owner, self.world.work(self.leases[owner]))

    @precondition(lambda self: self.leases)
    @rule(owner=st.sampled_from(OWNERS))
    def release(self, owner):
        if owner not in self.leases:
            return
        ready = self.head.ready
        released = self.attempt(owner, self.world.store.release_if_drained(self.leases[owner]))
        if released is not None:
            assert released is not ready
            self.owner = None if released else self.owner

    @precondition(lambda self: self.leases)
    @rule(owner=st.sampled_from(OWNERS), calls=CALLS, fates=FATES)
    def step(self, owner, calls, fates):
        """Take the run, if there is one, one phase further."""
        run = self.running()
        if owner not in self.leases or run is None:
            return
        lease = self.leases[owner]
        if run.phase is Phase.INPUT:
            self.attempt(owner, self.world.store.renew(lease, TTL))
            if owner == self.owner:
                self.attempt(owner, self.world.drain(lease, run))
        elif run.phase is Phase.MODEL:
            names = [f"c{self.calls + number}" for number in range(calls)]
            self.calls += calls
            self.attempt(owner, self.world.answer(lease, run, "text", names))
        else:
            self.use_tools(owner, run, fates)

    def use_tools(self, owner, run, fates):
        lease = self.leases[owner]
        calls = self.do(self.world.store.calls(run.run_id, run.step))
        for call, fate in zip(calls, fates, strict=False):
            name = call.tool_call_id
            if call.state is CallState.INTENT and fate == "suspended":
                if self.attempt(owner, self.world.suspend(lease, run, name)):
                    self.tokens.append(f"tok_{name}")
            elif call.state in (CallState.INTENT, CallState.RESUMED):
                self.attempt(owner, self.world.settle(lease, run, name))
        closed = self.attempt(owner, self.world.close(lease, run))
        if closed is not None and closed.status is RunStatus.SUSPENDED:
            self.owner = None

    @precondition(lambda self: self.leases)
    @rule(owner=st.sampled_from(OWNERS), status=st.sampled_from(ENDS))
    def end(self, owner, status):
        run = self.running()
        if owner in self.leases and run is not None:
            self.attempt(owner, self.world.end(self.leases[owner], run, status=status))

    # What always holds

    @invariant()
    def the_count_of_mail_is_the_mail_that_waits(self):
        lanes = Counter(entry.lane.value for entry in self.do(self.world.mailbox()))
        assert self.head.mail == lanes["pending"] + lanes["queued"]
        assert self.head.resumes == lanes["resume"]

    @invariant()
    def every_signal_is_in_exactly_one_place(self):
        waiting = [one.signal.id for one in self.do(self.world.mailbox()) if one.signal]
        told = [row.message.id for row in self.rows() if row.message.role == "signal"]
        assert sorted(waiting + told) == sorted(self.kept)

    @invariant()
    def one_run_at_most_goes_on_and_the_head_names_it(self):
        runs = self.do(self.world.store.runs(RunFilter(limit=10_000)))
        open_runs = [run for run in runs if LEGAL_MOVES[run.status]]
        head = self.head
        going = head.state in (ThreadState.RUNNING, ThreadState.SUSPENDED)
        assert [run.run_id for run in open_runs] == ([head.run_id] if going else [])
        assert all(run.status.value == head.state.value for run in open_runs)

    @invariant()
    def sequences_rise_and_are_used_once(self):
        history = [row.sequence for row in self.rows()]
        posts = [post.sequence for post in self.do(self.world.posts())]
        used = history + posts + [entry.sequence for entry in self.do(self.world.mailbox())]
        assert history == sorted(history)
        assert len(set(used)) == len(used)
        assert max(used, default=0) <= self.head.sequence

    @invariant()
    def every_call_of_an_ended_run_has_its_one_result(self):
        results = Counter(
            row.message.content[0].tool_call_id for row in self.rows() if row.message.role == "tool"
        )
        open_run = self.head.run_id
        calls = self.do(self.world.transactor.read(lambda tables: tables.calls.find(Query())))
        for call in calls:
            assert results[call.tool_call_id] <= 1
            if call.run_id != open_run:
                assert call.settled
                assert results[call.tool_call_id] == 1

    @invariant()
    def nothing_waits_for_people_in_an_ended_run(self):
        waiting = self.do(
            self.world.transactor.read(
                lambda tables: tables.suspensions.find(Query(equals={"state": "waiting"}))
            )
        )
        assert {one.run_id for one in waiting} <= {self.head.run_id}

    def rows(self):
        return self.do(self.world.store.history(KEY))


StoreLife.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


class TestAThreadKeepsItsPromisesWhateverHappens(StoreLife.TestCase):
    """Found by pytest under this name."""
