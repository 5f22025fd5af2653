"""Ids: no two things share one."""

import re

from hypothesis import given
from hypothesis import strategies as st

from core.ids import escape_part, new_id, thread_key

PARTS = st.lists(st.text("ab:/%-25A3F", max_size=6), min_size=1, max_size=4)


def test_a_key_reads_as_owner_and_thread():
    assert str(thread_key("res", "thr")) == "res/thr"


def test_keys_are_compared_by_both_parts():
    assert thread_key("a", "b") == thread_key("a", "b")
    assert len({thread_key("a", "b"), thread_key("b", "a"), thread_key("a", "b")}) == 2
    assert min(thread_key("b", "a"), thread_key("a", "b")) == thread_key("a", "b")


def test_a_new_id_says_what_it_names_and_cannot_be_guessed():
    made = {new_id("run") for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"run_[0-9a-f]{32}", one) for one in made)


def test_what_joins_parts_is_escaped_and_nothing_else():
    assert escape_part("a:b/c%d-Ü.1") == "a%3Ab%2Fc%25d-Ü.1"


@given(first=PARTS, second=PARTS)
def test_no_two_lists_of_parts_meet_in_one_text(first, second):
    joined = [":".join(map(escape_part, parts)) for parts in (first, second)]
    assert (joined[0] == joined[1]) is (first == second)
