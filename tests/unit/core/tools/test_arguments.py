"""Arguments: forgiving what models often get wrong, and clear about the rest."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from core import tool
from core.tools.arguments import BadArguments, json_safe, parse_arguments, validate_arguments
from core.tools.tool import Tool


class Place(BaseModel):
    city: str


@tool
async def travel(
    stops: list[str],
    to: Place | None = None,
    labels: dict[str, int] | None = None,
    note: str | None = None,
    either: str | list[str] = "",
) -> None:
    """Travel."""


def read(arguments):
    model = validate_arguments(travel, arguments)
    return model.model_dump(by_alias=True, exclude_unset=True)


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_no_arguments_are_an_empty_object(text):
    assert parse_arguments(text) == {}


@pytest.mark.parametrize("text", ["{", "nope", '{"a": NaN}', '{"a": 1} x', '{"a": "\\ud800"}'])
def test_text_that_is_no_json_is_refused_with_what_was_received(text):
    with pytest.raises(BadArguments) as caught:
        parse_arguments(text + " " * 300)
    assert caught.value.result["error"] is True
    assert len(caught.value.result["received"]) == 200


@pytest.mark.parametrize(
    ("given_as", "read_as"),
    [
        ({"stops": '["a", "b"]'}, {"stops": ["a", "b"]}),
        ({"stops": [], "to": '{"city": "Kyoto"}'}, {"stops": [], "to": {"city": "Kyoto"}}),
        ({"stops": [], "labels": '{"a": 1}'}, {"stops": [], "labels": {"a": 1}}),
        ({"stops": [], "note": "[1]"}, {"stops": [], "note": "[1]"}),
        ({"stops": [], "either": "[1]"}, {"stops": [], "either": "[1]"}),
        ({"stops": [], "note": None}, {"stops": []}),
        ({"stops": [], "resumeData": 1, "_background": 1}, {"stops": []}),
        ({"stops": [], "suspendedToolRunId": "x"}, {"stops": []}),
    ],
)
def test_common_slips_are_forgiven(given_as, read_as):
    assert read(given_as) == read_as


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (None, {"stops"}),
        ({"stops": None}, {"stops"}),
        ({"stops": "[a"}, {"stops"}),
        ({"stops": [1, "b"]}, {"stops.0"}),
        ({"stops": [], "to": {"town": 1}}, {"to.city"}),
        ({"stops": [], "more": 1}, {"more"}),
        ([1], {"input"}),
        ("text", {"input"}),
    ],
)
def test_every_wrong_path_is_named(arguments, fields):
    with pytest.raises(BadArguments) as caught:
        validate_arguments(travel, arguments)
    result = caught.value.result
    assert set(result["validationErrors"]["fields"]) == fields
    assert result["error"] is True
    json.dumps(result)


def test_what_the_model_sent_is_echoed_cut_short():
    with pytest.raises(BadArguments) as caught:
        validate_arguments(travel, {"stops": "x" * 900})
    assert len(caught.value.result["received"]) == 200


def test_a_tool_made_by_hand_gets_its_arguments_as_they_are():
    async def execute(arguments, context):
        return arguments

    made = Tool(id="raw", description="", parameters={"type": "object"}, execute=execute)
    assert validate_arguments(made, {"a": 1}) == {"a": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


@settings(max_examples=50)
@given(JSON)
def test_whatever_a_tool_returns_can_be_stored(value):
    json.dumps(json_safe(value), allow_nan=False).encode()
