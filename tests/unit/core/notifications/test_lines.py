"""Text of strangers on one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notifications.lines import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("  a \n\t b  ", "a b"),
        ("a\u202eb\u2066c\u200bd\ufeffe\x00f\x1bg", "abcdefg"),
        ("tag <user name='x'> & \"y\"", "tag <user name='x'> & \"y\""),
        ("👨‍👩‍👧 ok", "👨‍👩‍👧 ok"),
        ("\ud800x", "x"),
        ("x" * 201, "x" * 199 + "…"),
        ("", ""),
    ],
)
def test_only_what_can_be_seen_is_left(text, line):
    assert one_line(text) == line


@given(st.text(), st.integers(1, 300))
def test_a_line_is_one_line_and_never_too_long(text, limit):
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
