"""What every store promises about threads, their conversations and their histories."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import Unknown
from core.ids import thread_key
from core.runs.run import CallState, Document
from core.threads.store import ThreadFilter
from tests.contracts.store_world import ELSEWHERE, KEY, PLACE, World

OTHER = thread_key("res", "other")
STRANGER = thread_key("thief", "thr")


async def test_the_first_to_ask_decides_whose_conversation_it_is(world: World):
    first = await world.store.bind(PLACE, KEY, "ada")
    second = await world.store.bind(PLACE, OTHER, "bob")
    assert first == second
    assert (second.key, second.address) == (KEY, PLACE.key)


async def test_many_who_bind_one_conversation_get_one_thread(world: World):
    keys = [thread_key("res", f"t{number}") for number in range(8)]
    bound = await asyncio.gather(*(world.store.bind(PLACE, key, "ada") for key in keys))
    assert len({one.thread_id for one in bound}) == 1
    assert len(await world.store.threads(ThreadFilter())) == 1


async def test_an_unbound_conversation_has_no_thread(world: World):
    assert await world.store.binding(PLACE.key) is None


async def test_a_conversation_cannot_be_bound_to_a_strangers_thread(world: World):
    await world.say()
    with pytest.raises(Unknown):
        await world.store.bind(PLACE, STRANGER, "ada")
    assert await world.store.binding(PLACE.key) is None


async def test_a_thread_lists_its_conversations_from_the_oldest(world: World):
    await world.store.bind(ELSEWHERE, KEY, "ada")
    await world.clock.advance(timedelta(seconds=1))
    await world.store.bind(PLACE, KEY, "ada")
    roots = [one.conversation.root for one in await world.store.bindings("thr")]
    assert roots == ["2", "1"]


async def test_binding_does_not_change_a_thread_that_is_there(world: World):
    await world.say()
    await world.store.bind(PLACE, KEY, "bob")
    assert (await world.head()).agent_id == "ada"


async def test_a_thread_can_be_made_with_a_title_before_anybody_speaks(world: World):
    made = await world.store.save_thread(KEY, {"title": "Deploys"}, "ada")
    assert (made.title, made.agent_id, made.state) == ("Deploys", "ada", "idle")
    assert await world.head() == made


async def test_metadata_is_merged_by_key(world: World):
    await world.store.save_thread(KEY, {"metadata": {"a": 1, "b": 1}}, "ada")
    await world.store.save_thread(KEY, {"metadata": {"b": 2, "c": 3}}, "ada")
    saved = await world.store.save_thread(KEY, {"title": "T", "metadata": None}, "ada")
    assert saved.metadata == {"a": 1, "b": 2, "c": 3}


async def test_saving_a_thread_leaves_its_work_alone(world: World):
    await world.say()
    await world.store.save_thread(KEY, {"agent_id": "bob"}, "ada")
    head = await world.head()
    assert (head.agent_id, head.mail, head.state) == ("bob", 1, "reserved")


@pytest.mark.parametrize("field", ["epoch", "mail", "resource_id", "colour"])
async def test_nobody_sets_what_only_the_store_may(world: World, field):
    with pytest.raises(ValueError, match=field):
        await world.store.save_thread(KEY, {field: 1}, "ada")


async def test_a_stranger_cannot_rename_a_thread(world: World):
    await world.say()
    with pytest.raises(Unknown):
        await world.store.save_thread(STRANGER, {"title": "mine now"}, "ada")


async def test_threads_are_listed_from_the_last_used(world: World):
    for name, resource, agent in [("t1", "r1", "ada"), ("t2", "r2", "bob"), ("t3", "r1", "bob")]:
        await world.say(key=thread_key(resource, name), agent_id=agent)
        await world.clock.advance(timedelta(seconds=1))

    async def listed(**wanted):
        return [one.thread_id for one in await world.store.threads(ThreadFilter(**wanted))]

    assert await listed() == ["t3", "t2", "t1"]
    assert await listed(resource_id="r1") == ["t3", "t1"]
    assert await listed(agent_id="bob") == ["t3", "t2"]
    assert await listed(resource_id="r1", agent_id="bob") == ["t3"]
    assert await listed(limit=2) == ["t3", "t2"]


async def test_a_history_is_read_from_any_row_on(world: World):
    await told_five(world)
    rows = await world.rows()
    after = await world.store.history(KEY, after=rows[1].sequence, limit=2)
    assert after == rows[2:4]
    assert await world.store.history(KEY, after=rows[-1].sequence) == []


async def test_the_newest_rows_come_in_their_order(world: World):
    await told_five(world)
    assert await world.store.newest(KEY, 2) == (await world.rows())[-2:]
    assert await world.store.newest(KEY, 99) == await world.rows()


@pytest.mark.parametrize("key", [STRANGER, thread_key("res", "nobody")])
async def test_nothing_of_a_thread_is_shown_under_a_wrong_key(world: World, key):
    await world.say()
    store = world.store
    for asked in (
        store.thread(key),
        store.history(key),
        store.newest(key, 5),
        store.document(key, "plan.md"),
        store.documents(key),
        store.request_abort(key),
    ):
        with pytest.raises(Unknown):
            await asked


async def test_texts_that_a_tool_wrote_are_found_by_path_and_kind(world: World):
    lease, run = await world.tools("c1")
    plan, note = document(world, "plan.md", "plan"), document(world, "a.md", "note")
    await world.settle(lease, run, "c1", documents=(plan, note))
    assert await world.store.document(KEY, "plan.md") == plan
    assert await world.store.document(KEY, "none.md") is None
    assert await world.store.documents(KEY, kind="note") == [note]
    assert len(await world.store.documents(KEY)) == 2


async def test_a_text_written_again_replaces_the_one_before(world: World):
    lease, run = await world.tools("c1", "c2")
    first, second = document(world, "plan.md", "plan"), document(world, "plan.md", "plan", "new")
    await world.settle(lease, run, "c1", documents=(first,))
    await world.settle(lease, run, "c2", state=CallState.DONE, documents=(second,))
    assert await world.store.documents(KEY) == [second]


async def test_what_the_house_learned_is_there_the_next_time(world: World):
    assert await world.store.fact("slack:T1") is None
    await world.store.learn("slack:T1", {"bot": "U1"})
    await world.store.learn("slack:T1", {"bot": "U2"})
    assert await world.store.fact("slack:T1") == {"bot": "U2"}


async def told_five(world: World) -> None:
    lease, run = await world.tools("c1", text="let me see")
    await world.settle(lease, run, "c1")
    run = await world.close(lease, run)
    run = await world.answer(lease, run, "done")
    assert len(await world.rows()) == 4
    await world.say("more")
    await world.drain(lease, run)


def document(world: World, path: str, kind: str, content: str = "text") -> Document:
    return Document(
        thread_id="thr",
        path=path,
        kind=kind,
        content=content,
        tool_call_id="c1",
        created_at=world.clock.now(),
    )
