"""Steps on rows that do not fit together: they mend or pass over, and never break the thread."""

import pytest

from core.approvals.suspension import SuspensionState
from core.runs.run import RunStatus
from core.stores.steps import deciding, ending
from core.stores.steps.heads import append, waiting_mail
from core.threads.thread import Lane
from tests.contracts.store_world import KEY, World, opened


@pytest.fixture
async def world(tmp_path) -> World:
    return await opened("memory", tmp_path)


async def test_a_decision_on_a_call_that_is_gone_is_kept(world):
    run = await world.pause()
    await world.transactor.write(lambda tables: tables.calls.remove(run.run_id, "c1"))
    assert (await world.decide("tok_c1")).state is SuspensionState.APPROVED
    assert await world.store.runnable() == [KEY]


async def test_a_run_whose_first_mail_is_gone_can_still_be_ended(world):
    await world.say()
    lease, run = await world.begin()
    (entry,) = await world.mailbox()
    await world.transactor.write(lambda tables: tables.mail.remove("thr", entry.sequence))
    ended = await world.end(lease, run, status=RunStatus.ABORTED)
    assert (ended.status, await world.told()) == (RunStatus.ABORTED, [])


async def test_a_card_that_was_never_posted_is_not_edited(world):
    lease, run = await world.tools("c1")
    await world.suspend(lease, run, "c1")
    await world.decide("tok_c1")
    assert await world.posts() == []


async def test_a_step_that_breaks_half_way_leaves_no_trace(world):
    lease, run = await world.tools("c1")
    before = (await world.head(), await world.rows())

    def breaks(tables):
        head = tables.threads.get("thr")
        tables.threads.put(append(tables, head, [world.composed(run).message]))
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="power"):
        await world.transactor.write(breaks)
    assert (await world.head(), await world.rows()) == before
    await world.settle(lease, run, "c1")


async def test_every_action_of_a_decision_has_its_state(world):
    assert set(deciding._STATES) == {"approved", "rejected", "answered", "expired"}
    assert ending.card_id("tok") == "card_tok"


async def test_mail_is_read_lane_by_lane_in_order(world):
    for own in (True, False, True):
        await world.say("own" if own else "other", own_turn=own)
    head = await world.head()
    queued = await world.transactor.read(lambda tables: waiting_mail(tables, head, Lane.QUEUED))
    assert [entry.sequence for entry in queued] == [3]
