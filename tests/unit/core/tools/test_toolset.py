"""Toolsets: the names that a model sees, and the tool behind each."""

import pytest

from core import submit_plan, tool
from core.errors import InvalidConfig
from core.runtime import BUILTIN_TOOLS
from core.tools.toolset import Toolset, build_toolset


@tool
async def look() -> None:
    """Look."""


@tool(id="look")
async def another() -> None:
    """Look elsewhere."""


def names(given):
    return [spec.name for spec in build_toolset(given, BUILTIN_TOOLS).specs()]


def test_a_list_goes_by_the_tools_own_ids():
    assert names([look, "clock"]) == ["look", "clock"]


def test_a_map_goes_by_its_keys():
    assert names({"peek": look}) == ["peek"]


@pytest.mark.parametrize("given", [submit_plan, "submit_plan"])
def test_a_built_in_tool_goes_by_its_own_id_whatever_the_key(given):
    assert names({"submitPlanTool": given}) == ["submit_plan"]


def test_a_call_is_matched_by_key_first_and_then_by_id():
    toolset = Toolset({"peek": look, "look": another})
    assert toolset.find("look") is another
    assert Toolset({"peek": look}).find("look") is look
    assert toolset.find("fly") is None


def test_what_is_not_there_is_answered_with_what_is():
    assert Toolset({"b": look, "a": look}).unknown("c")["message"].endswith("Available: a, b.")
    assert Toolset({}).unknown("c")["message"].endswith("Available: none.")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["fly"], "no built-in tool 'fly'; known: ask_user, clock"),
        ([look, another], "two tools are called 'look'"),
        ({"look around": look}, "cannot be offered"),
        ({"": look}, "cannot be offered"),
        ({"x" * 65: look}, "cannot be offered"),
    ],
)
def test_tools_that_cannot_be_offered_are_refused(given, problem):
    with pytest.raises(InvalidConfig, match=problem):
        build_toolset(given, BUILTIN_TOOLS)


def test_the_same_tool_twice_is_one():
    assert names(["clock", "clock"]) == ["clock"]
