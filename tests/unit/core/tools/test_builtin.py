"""The built-in tools: the clock, plans and notes."""

import pytest

from core.ids import thread_key
from core.testing import NOON
from core.tools.builtin import clock, write_note, write_plan
from core.tools.execution import execute
from core.tools.tool import Folders, ToolContext, WrittenDocument


async def used(made, arguments, **context):
    made_context = ToolContext(**context)
    return await execute(made, arguments, made_context)


async def test_the_clock_tells_the_time_of_the_call():
    assert (await used(clock, {}, now=NOON)).result == {"now": "2026-03-02T12:00:00+00:00"}


async def test_without_a_time_the_clock_says_so():
    outcome = await used(clock, {})
    assert outcome.is_error
    assert "no clock" in outcome.result["message"]


async def test_a_plan_is_kept_under_both_names_and_mirrored(tmp_path):
    outcome = await used(
        write_plan,
        {"path": "dark", "content": "# Dark\n"},
        folders=Folders(root=tmp_path),
        thread=thread_key("team", "slack:T1/C1"),
    )
    told = outcome.result["path"]
    assert told == ".interlock/plans/slack_T1_C1--dark.md"
    assert (tmp_path / told).read_text() == "# Dark\n"
    assert outcome.documents == (
        WrittenDocument(path=told, kind="plan", content="# Dark\n"),
        WrittenDocument(path="dark.md", kind="plan", content="# Dark\n"),
    )


async def test_a_plan_folder_may_lie_anywhere(tmp_path):
    folders = Folders(root=tmp_path, plans=tmp_path)
    arguments = {"path": "a.md", "content": "x"}
    outcome = await used(write_plan, arguments, folders=folders)
    assert outcome.result == {"path": str(tmp_path / "run--a.md")}
    assert (tmp_path / "run--a.md").read_text() == "x"


async def test_a_plan_is_kept_even_where_its_file_cannot_be(tmp_path):
    (tmp_path / ".interlock").write_text("in the way")
    outcome = await used(
        write_plan, {"path": "a.md", "content": "x"}, folders=Folders(root=tmp_path)
    )
    assert outcome.result == {"path": ".interlock/plans/run--a.md"}
    assert len(outcome.documents) == 2


async def test_a_long_name_in_any_script_is_kept(tmp_path):
    outcome = await used(
        write_plan, {"path": "計" * 97 + ".md", "content": "x"}, folders=Folders(root=tmp_path)
    )
    assert not outcome.is_error


async def test_a_note_is_found_again_by_its_name():
    outcome = await used(write_note, {"name": "Outcome of item 1", "content": "fine"})
    assert outcome.result == {"name": "Outcome of item 1"}
    assert outcome.documents[0].path == "notes/Outcome of item 1"


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "a\\b", ".hidden", "..", " x", "a\nb", "a\0b", "", "x" * 101]
)
@pytest.mark.parametrize("made", [write_plan, write_note], ids=lambda made: made.id)
async def test_only_bare_names_are_taken(made, name, tmp_path):
    key = "path" if made is write_plan else "name"
    arguments = {key: name, "content": "x"}
    outcome = await used(made, arguments, folders=Folders(root=tmp_path))
    assert outcome.is_error
    assert list(tmp_path.iterdir()) == []


async def test_nothing_can_be_paused_outside_a_run():
    with pytest.raises(RuntimeError, match="outside a run"):
        await ToolContext(tool_call_id="call_1").suspend("x")
