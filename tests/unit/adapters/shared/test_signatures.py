"""Signatures: the digest senders compute, and its comparison."""

import pytest

from adapters.shared.signatures import hmac_sha256_hex, same_digest


def test_the_digest_is_that_of_slacks_published_example() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
        b"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    assert (
        hmac_sha256_hex(b"8f742231b10e8888abcd99yyyzzz85a5", b"v0:1531420618:" + body)
        == "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("ab12", "ab12", True),
        ("ab12", "ab13", False),
        ("ab12", "ab1", False),
        ("ab12", "ｂé\ud800", False),
    ],
    ids=["equal", "different", "shorter", "not ascii"],
)
def test_digests_are_compared_whatever_a_stranger_sends(a: str, b: str, same: bool) -> None:
    assert same_digest(a, b) is same
