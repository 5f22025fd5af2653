"""Storage: a signal comes back from its row as it went in (signals.md C7 to C10)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messages import FilePart, Message, TextPart
from core.signals.render import render_signal
from core.signals.signal import Signal, create_signal
from core.signals.storage import from_row, signal_chunk, to_row

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


def make(**spec: Any) -> Signal:
    fields = {"type": "user", "contents": "hi", **spec}
    return create_signal(fields, now=NOW, new_id=lambda: "s1")


def test_a_row_has_the_signals_id_tag_and_envelope() -> None:
    """C7."""
    signal = make(attributes={"name": "Ada"}, metadata={"ts": "1"})
    row = to_row(signal, run_id="run_1", step=2, turn=1)
    assert (row.id, row.role, row.type, row.run_id, row.step, row.turn) == (
        "s1",
        "signal",
        "user",
        "run_1",
        2,
        1,
    )
    assert row.content == (TextPart(text="hi"),)
    assert row.metadata["signal"] == {
        "id": "s1",
        "type": "user",
        "tagName": "user",
        "createdAt": NOW.isoformat(),
        "attributes": {"name": "Ada"},
        "metadata": {"ts": "1"},
    }


def test_no_parts_are_stored_as_one_empty_text() -> None:
    """C8."""
    assert to_row(make(contents=[])).content == (TextPart(text=""),)


def test_one_plain_text_part_comes_back_as_a_string() -> None:
    """C8."""
    assert from_row(to_row(make(contents=["hi"]))).contents == "hi"


def test_parts_with_options_or_files_come_back_as_parts() -> None:
    parts = [{"type": "text", "text": "a", "providerOptions": {"x": 1}}]
    assert from_row(to_row(make(contents=parts))).contents == (
        TextPart(text="a", provider_options={"x": 1}),
    )
    file = {"type": "file", "data": "aGk=", "mediaType": "text/plain", "filename": "a.txt"}
    assert from_row(to_row(make(contents=[file]))).contents == (
        FilePart(data="aGk=", media_type="text/plain", filename="a.txt"),
    )


@pytest.mark.parametrize(
    ("row_type", "metadata", "kind", "tag"),
    [
        ("system-reminder", {}, "reactive", "system-reminder"),
        ("notification-summary", {}, "notification", "notification-summary"),
        ("user-message", {}, "user", "user"),
        ("something", {"signal": "not an envelope"}, "user", "user"),
        ("vip", {"signal": {"type": "reactive"}}, "reactive", "system-reminder"),
    ],
)
def test_a_row_without_an_envelope_is_read_by_its_type(
    row_type: str, metadata: dict[str, Any], kind: str, tag: str
) -> None:
    """C9."""
    row = Message(
        id="old",
        role="signal",
        type=row_type,
        content=(TextPart(text="x"),),
        metadata=metadata,
        created_at=NOW,
    )
    signal = from_row(row)
    assert (signal.id, signal.type, signal.tag_name, signal.contents) == ("old", kind, tag, "x")


@given(
    kind=st.sampled_from(["user", "reactive", "notification"]),
    contents=st.text(max_size=20) | st.lists(st.text(max_size=8), min_size=2, max_size=3),
    attributes=st.dictionaries(st.from_regex(r"\A[a-z]{1,5}\Z"), JSON, max_size=3),
    metadata=st.dictionaries(st.text(max_size=4), JSON, max_size=3),
    transient=st.booleans(),
)
def test_what_goes_in_comes_back(
    kind: str, contents: Any, attributes: Any, metadata: Any, transient: bool
) -> None:
    """C7, B31: the caller's metadata round-trips unchanged."""
    signal = make(
        type=kind,
        contents=contents,
        attributes=attributes,
        metadata=metadata,
        transient=transient,
    )
    row = Message.model_validate_json(to_row(signal).model_dump_json())
    assert from_row(row) == signal


@pytest.mark.parametrize(
    ("kind", "chunk_type"),
    [("user", "data-user-message"), ("reactive", "data-signal"), ("state", "data-signal")],
)
def test_people_and_events_are_echoed_by_different_chunks(kind: str, chunk_type: str) -> None:
    """C10."""
    found, payload = signal_chunk(make(type=kind, attributes={"name": "Ada"}))
    assert found == chunk_type
    assert payload["tagName"] == make(type=kind).tag_name
    assert payload["attributes"] == {"name": "Ada"}
    assert "metadata" not in payload


def old_row(envelope: Any, *parts: Any, row_type: str = "user") -> Message:
    return Message(
        id="old",
        role="signal",
        type=row_type,
        content=parts or (TextPart(text="stored"),),
        metadata={"signal": envelope},
        created_at=NOW,
    )


@pytest.mark.parametrize(
    ("contents", "read"),
    [
        ("text", "text"),
        (["a", "b"], (TextPart(text="a"), TextPart(text="b"))),
        (["only"], "only"),
        ({"role": "user", "content": "said"}, "said"),
        ({"role": "user", "content": [{"type": "text", "text": "said"}]}, "said"),
        (
            [{"type": "image", "image": "https://example.org/a.png"}],
            (FilePart(data="https://example.org/a.png", media_type="image/*"),),
        ),
        (
            [{"type": "file", "data": "aGk=", "mimeType": "text/plain"}],
            (FilePart(data="aGk=", media_type="text/plain"),),
        ),
        ({"unreadable": True}, "stored"),
        (7, "stored"),
        ([{"type": "sound"}], "stored"),
        (None, "stored"),
    ],
)
def test_contents_of_older_shapes_are_still_read(contents: Any, read: Any) -> None:
    """C9; what cannot be read gives way to the stored parts."""
    assert from_row(old_row({"type": "user", "contents": contents})).contents == read


JUNK = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.integers())
FIELDS = ("id", "type", "tagName", "createdAt", "acceptedAt", "attributes", "metadata", "contents")


@given(envelope=JUNK | st.dictionaries(st.sampled_from((*FIELDS, "transient")), JUNK))
def test_a_broken_envelope_is_read_all_the_same(envelope: Any) -> None:
    """C9: one bad row must not take its thread down; it can be rendered too."""
    signal = from_row(old_row(envelope))
    assert signal.created_at.tzinfo is not None
    assert render_signal(signal).role == "user"


def test_times_come_from_the_row_and_never_from_the_clock() -> None:
    """B23: a reload keeps the order."""
    assert from_row(old_row({"type": "user"})).created_at == NOW
    assert from_row(old_row({"createdAt": "no date"})).created_at == NOW
    assert from_row(old_row({"createdAt": "2026-03-02T13:00:00"})).created_at > NOW


def test_the_envelope_does_not_leak_into_the_callers_metadata() -> None:
    """B31: however often it goes through the store."""
    signal = make(metadata={"signal": {"mine": True}})
    for _ in range(3):
        signal = from_row(to_row(signal))
    assert signal.metadata == {"signal": {"mine": True}}


def test_a_row_shares_nothing_with_its_signal() -> None:
    signal = make(metadata={"list": []})
    row, (_, payload) = to_row(signal), signal_chunk(signal)
    again = from_row(row)
    for other in (row.metadata["signal"]["metadata"], payload["metadata"], again.metadata):
        other["list"].append("changed")
    assert signal.metadata == {"list": []}


def test_an_echo_carries_all_that_was_given_and_no_more() -> None:
    """C10."""
    full = {"acceptedAt": NOW, "metadata": {"a": None}, "transient": True}
    _, payload = signal_chunk(make(contents=["a"], providerOptions={"x": {"y": 1}}, **full))
    assert payload == {
        "id": "s1",
        "type": "user",
        "tagName": "user",
        "contents": [{"type": "text", "text": "a"}],
        "createdAt": "2026-03-02T12:00:00Z",
        "acceptedAt": "2026-03-02T12:00:00Z",
        "metadata": {"a": None},
        "providerOptions": {"x": {"y": 1}},
        "transient": True,
    }
    assert set(signal_chunk(make())[1]) == {"id", "type", "tagName", "contents", "createdAt"}
