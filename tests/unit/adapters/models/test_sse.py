"""Server-sent events, cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.sse import EventParser
from core.errors import ModelOutputError

STREAM = (
    b": keep-alive\n\ndata: one\n\nevent: x\nid: 7\ndata: two\r\n\r\n"
    b"data:three\ndata: lines\n\n\n\ndata: \xe6\x97\xa5\n\n"
)
EVENTS = [b"one", b"two", b"three\nlines", "日".encode()]


def events_of(blocks, **limits):
    parser = EventParser(**limits)
    found = [event for block in blocks for event in parser.feed(block)]
    return found + list(parser.end())


def test_comments_and_other_fields_are_no_events():
    assert events_of([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_where_the_network_cuts_changes_nothing(cuts):
    edges = [0, *cuts, len(STREAM)]
    blocks = [STREAM[start:end] for start, end in pairwise(edges)]
    assert events_of(blocks) == EVENTS


def test_a_last_event_without_its_end_is_not_lost():
    assert events_of([b"data: one\n\ndata: two"]) == [b"one", b"two"]


@pytest.mark.parametrize(
    "blocks",
    [[b"data: " + b"x" * 200], [b"x" * 40] * 5, [b"data: " + b"x" * 40 + b"\n"] * 5],
    ids=["a long line", "a line that never ends", "an event of many lines"],
)
def test_what_is_too_long_is_refused_before_it_fills_the_memory(blocks):
    with pytest.raises(ModelOutputError, match="more than 100 bytes"):
        events_of(blocks, max_line=100)


@given(st.binary(max_size=400))
def test_no_bytes_at_all_break_it(data):
    events_of([data])
