"""Splitting: limits kept, nothing lost, code and characters whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shared.splitting import byte_size, cut, graphemes, split_markdown, utf16_size

LINES = st.lists(
    st.sampled_from(
        [
            "",
            "a word",
            "```py",
            "```",
            "~~~",
            "| a | b |",
            "| - | - |",
            "x" * 90,
            "é" * 33,
            "```" + "y" * 300,
            "`" * 300,
            "|" + "z" * 300,
            "😀" * 90,
        ]
    )
    | st.text(max_size=60),
    max_size=40,
).map("\n".join)
PROSE = st.text(alphabet="abc é&;\n", max_size=400)


@given(LINES, st.integers(60, 200))
def test_no_piece_is_longer_than_the_limit_and_none_is_blank(text, limit):
    for piece in split_markdown(text, limit, size=utf16_size):
        assert utf16_size(piece) <= limit
        assert piece.strip()


@given(PROSE, st.integers(20, 80))
def test_prose_comes_back_whole_but_for_the_gaps_at_the_cuts(text, limit):
    assert "".join("".join(split_markdown(text, limit)).split()) == "".join(text.split())


def test_a_short_text_stays_one_piece():
    assert split_markdown("hello\n\nworld", 100) == ["hello\n\nworld"]
    assert split_markdown("  \n ", 100) == []


def test_code_that_is_cut_is_closed_and_opened_again_with_its_language():
    code = "\n".join(f"line {number}" for number in range(300))
    pieces = split_markdown(f"Look:\n```python\n{code}\n```\nDone.", 400)
    assert len(pieces) > 3
    for piece in pieces:
        assert len(re.findall(r"^```", piece, re.MULTILINE)) % 2 == 0
    assert all(piece.startswith("```python\n") for piece in pieces[1:])
    lines = [line for piece in pieces for line in piece.split("\n") if line.startswith("line")]
    assert lines == code.split("\n")


def test_a_table_that_is_cut_repeats_its_header():
    rows = "\n".join(f"| {number} | row |" for number in range(60))
    pieces = split_markdown(f"| n | what |\n| --- | --- |\n{rows}", 200)
    assert len(pieces) > 2
    assert all(piece.startswith("| n | what |\n| --- | --- |\n| ") for piece in pieces)


def test_a_cut_prefers_the_end_of_a_paragraph():
    first, second = "one " * 20, "two " * 5
    assert split_markdown(f"{first}\n\n{second}", 90) == [first, second]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("e\u0301a", ["e\u0301", "a"]),
        ("👩‍👩‍👧x", ["👩‍👩‍👧", "x"]),
        ("👍🏽👍", ["👍🏽", "👍"]),
        ("🇩🇪🇯🇵", ["🇩🇪", "🇯🇵"]),
        ("a&lt;b&amp;", ["a", "&lt;", "b", "&amp;"]),
    ],
    ids=["accent", "family", "skin tone", "flags", "entities"],
)
def test_what_a_reader_sees_as_one_character_stays_one(text, seen):
    assert list(graphemes(text)) == seen


@given(st.text(max_size=80), st.integers(5, 40))
def test_a_text_that_is_cut_fits_and_says_so(text, limit):
    short = cut(text, limit, size=byte_size)
    assert byte_size(short) <= limit
    assert short == text or short.endswith("…")


def test_an_entity_is_never_cut_in_two():
    assert cut("ab&amp;&amp;", 8) == "ab&amp;…"
