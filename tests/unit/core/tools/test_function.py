"""`@tool`: a function's hints become the schema, its docstring the words."""

from datetime import timedelta
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from core import ToolContext, tool
from core.tools.execution import execute


class Point(BaseModel):
    x: int
    y: int = 0


@tool
async def draw(
    points: list[Point],
    color: Annotated[Literal["red", "blue"], Field(description="The pen")] = "red",
    *,
    closed: bool = False,
) -> str:
    """Draw a line
    through points.

    Not told to the model.
    """
    return f"{color} {[(point.x, point.y) for point in points]} {closed}"


async def given(made, arguments, **context):
    outcome = await execute(made, arguments, ToolContext(**context))
    assert not outcome.is_error, outcome.result
    return outcome.result


def test_the_first_paragraph_is_what_the_model_reads():
    assert (draw.id, draw.description) == ("draw", "Draw a line through points.")


def test_the_schema_comes_from_the_hints():
    properties = draw.parameters["properties"]
    assert set(properties) == {"points", "color", "closed"}
    assert draw.parameters["required"] == ["points"]
    assert properties["color"]["description"] == "The pen"
    assert properties["color"]["enum"] == ["red", "blue"]
    assert draw.parameters["additionalProperties"] is False
    assert "title" not in draw.parameters


async def test_arguments_arrive_as_their_types():
    assert await given(draw, {"points": [{"x": "1"}]}) == "red [(1, 0)] False"


@pytest.mark.parametrize("name", ["json", "copy", "schema", "model_config", "model_dump", "_x"])
async def test_a_parameter_may_be_called_anything(name):
    scope: dict = {"tool": tool}
    exec(f"@tool\nasync def give({name}: str) -> str:\n    return {name}", scope)  # noqa: S102 the name is the parameter of this test
    made = scope["give"]
    assert list(made.parameters["properties"]) == [name]
    assert await given(made, {name: "x"}) == "x"


async def test_the_call_is_handed_in_by_type_under_any_name():
    @tool
    async def look(me: ToolContext) -> str:
        return me.agent_id

    @tool
    async def peek(me: ToolContext | None = None) -> str:
        return me.agent_id

    for made in (look, peek):
        assert made.parameters["properties"] == {}
        assert await given(made, {}, agent_id="helper") == "helper"


def test_without_a_docstring_the_name_must_do():
    @tool
    async def send_mail() -> None: ...

    assert send_mail.description == "send mail"


def test_options_say_what_the_function_cannot():
    @tool(id="mail", description="Post it.", idempotent=True, timeout=timedelta(seconds=3))
    async def send_mail() -> None:
        """Hidden."""

    assert (send_mail.id, send_mail.description) == ("mail", "Post it.")
    assert (send_mail.idempotent, send_mail.timeout) == (True, timedelta(seconds=3))
    assert send_mail.spec("other").name == "other"


def test_one_decorator_may_serve_several_functions():
    quick = tool(timeout=timedelta(seconds=1), description="Quick.")

    @quick
    async def one() -> None: ...

    @quick
    async def two() -> None: ...

    assert [(made.id, made.description) for made in (one, two)] == [
        ("one", "Quick."),
        ("two", "Quick."),
    ]


def _plain(a: int) -> int:
    return a


async def _untyped(a) -> None: ...


async def _starred(*numbers: int) -> None: ...


async def _keywords(**numbers: int) -> None: ...


async def _positional(a: int, /) -> None: ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (_plain, "must be an async function"),
        (_untyped, "parameter a of tool _untyped has no type"),
        (_starred, "has no name to give it"),
        (_keywords, "has no name to give it"),
        (_positional, "has no name to give it"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_where_it_is_made(function, problem):
    with pytest.raises(TypeError, match=problem):
        tool(function)
