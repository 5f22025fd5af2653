"""Messages: rows survive their store, and say what they hold."""

import pytest
from pydantic import ValidationError

from core.messages import (
    FilePart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    calls_of,
    text_of,
)
from core.testing import NOON

PARTS = (
    TextPart(text="one"),
    ToolCallPart(tool_call_id="c1", tool_name="add", args={"a": 1}),
    FilePart(data="https://example.org/a.png", media_type="image/png"),
    TextPart(text="two"),
    ToolResultPart(tool_call_id="c1", tool_name="add", result=[None, 0, ""], is_error=True),
)
ROW = Message(id="m1", role="assistant", content=PARTS, created_at=NOON, run_id="r", step=2)


def test_a_row_comes_back_from_its_json_as_it_was():
    assert Message.model_validate_json(ROW.model_dump_json()) == ROW


def test_stored_names_are_those_of_the_http_api():
    stored = ROW.model_dump(mode="json")
    assert {"runId", "createdAt", "content"} <= set(stored)
    assert stored["content"][1] == {
        "type": "tool-call",
        "toolCallId": "c1",
        "toolName": "add",
        "args": {"a": 1},
    }


def test_text_and_calls_are_told_apart():
    assert text_of(ROW) == "one\ntwo"
    assert [call.tool_call_id for call in calls_of(ROW)] == ["c1"]


@pytest.mark.parametrize("wrong", [{"type": "poem"}, {"type": "text"}, {"type": "text", "txt": ""}])
def test_a_part_nobody_knows_is_refused(wrong):
    with pytest.raises(ValidationError):
        Message.model_validate({"id": "m", "role": "tool", "content": [wrong], "createdAt": NOON})
