"""Redaction: what looks like a secret goes, what only resembles one stays (PB-040, PB-089)."""

import pytest

from core.redaction import redact_text


@pytest.mark.parametrize(
    "secret",
    [
        "xoxb-123456789012-abcdefghijkl",
        "xapp-1-A0001-123456",
        "ghp_0123456789abcdefghij",
        "github_pat_0123456789abcdefghij",
        "sk-loopback-0123456789",
        "AIzaSyA0123456789abcdefghij",
        "MTAxNTY4NjQ3MjE5Mjc2OTk4.GxYzAb.0123456789abcdefghijklmnopqrs",
        "https://hooks.slack.com/services/T1/B1/abc",
        "https://hooks.slack-gov.com/services/T1/B1/abc",
        "https://canary.discord.com/api/webhooks/1/abc",
    ],
)
def test_a_secret_is_taken_out_by_its_shape(secret: str) -> None:
    shown = redact_text(f"refused: {secret} is wrong")
    assert shown == "refused: [secret] is wrong"


@pytest.mark.parametrize(
    "text", ["task-management-board-2026", "risk-assessment-for-q3", "a sk- b", "https://slack.com"]
)
def test_plain_words_stay(text: str) -> None:
    assert redact_text(text) == text
