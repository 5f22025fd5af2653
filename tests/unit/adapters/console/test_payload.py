import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.payload import VALUES_MAX, parse_object
from core.errors import InvalidInput

HOSTILE = {
    "not JSON": b"{",
    "not UTF-8": b'{"a": "\xff"}',
    "not an object": b"[1]",
    "a bare text": b'"x"',
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a number that becomes infinite": b'{"a": 1e999}',
    "an integer beyond 64 bits": b'{"a": 9223372036854775808}',
    "an integer of 5000 digits": b'{"a": ' + b"9" * 5_000 + b"}",
    "deep lists": b'{"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "deep objects": b'{"a": ' * 5_000 + b"1" + b"}" * 5_000,
    "NUL in a value": b'{"a": "x\\u0000"}',
    "NUL in a key": b'{"x\\u0000": 1}',
    "NUL deep inside": b'{"a": [{"b": ["\\u0000"]}]}',
    "a lone surrogate": b'{"a": "\\ud800"}',
    "too many values": json.dumps({"a": [0] * VALUES_MAX}).encode(),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_body_is_refused(body):
    with pytest.raises(InvalidInput):
        parse_object(body)


def test_no_body_at_all_is_an_empty_object():
    assert parse_object(b"") == {}


def test_of_a_key_written_twice_the_last_counts():
    assert parse_object(b'{"a": 1, "a": 2}') == {"a": 2}


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
)


@given(
    st.dictionaries(
        st.text(st.characters(codec="ascii", min_codepoint=1)), SCALARS | st.lists(SCALARS)
    )
)
def test_honest_json_comes_through_unchanged(value):
    assert parse_object(json.dumps(value).encode()) == value


@given(st.binary(max_size=300))
def test_any_bytes_give_an_object_or_a_refusal(body):
    with contextlib.suppress(InvalidInput):
        assert isinstance(parse_object(body), dict)
