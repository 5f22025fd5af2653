"""What a server's refusal means to the run loop."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.errors import from_status, from_stream, sentence
from core.errors import ModelAuthError, ModelError, ModelRateLimited

WHERE = "the model openai/x"


def refusal(status, headers=None, **error):
    return from_status(status, json.dumps({"error": error}), where=WHERE, headers=headers)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_final(status):
    error = refusal(status, message="No.")
    assert isinstance(error, ModelAuthError)
    assert not error.retryable


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(400, False), (404, False), (413, False), (408, True), (409, True), (500, True), (529, True)],
)
def test_only_what_may_pass_is_tried_again(status, retryable):
    error = refusal(status, message="No.")
    assert type(error) is ModelError
    assert error.retryable is retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Tue, 01 Dec 2026 00:00:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_seconds(headers, seconds):
    error = refusal(429, headers, message="Slow down.")
    assert isinstance(error, ModelRateLimited)
    assert error.retry_after == seconds


def test_an_empty_purse_is_not_worth_waiting_for():
    assert not refusal(429, message="Pay.", code="insufficient_quota").retryable


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<h1>Bad\n gateway</h1>", "<h1>Bad gateway</h1>"),
        ('{"error": "plain"}', "plain"),
        ('{"detail": 1}', "no reason given"),
        ("[1]", "[1]"),
        (b"\xff\xfe", "�"),
        ("", "no reason given"),
    ],
)
def test_a_body_of_any_form_becomes_a_sentence(body, words):
    assert words in str(from_status(502, body, where=WHERE))


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"type": "server_error"}, ModelError, True),
        ({"code": "rate_limit_exceeded"}, ModelRateLimited, True),
        ({"code": 429}, ModelRateLimited, True),
        ({"code": "503"}, ModelError, True),
        ({"type": "invalid_request_error"}, ModelError, False),
        ({"type": "authentication_error"}, ModelAuthError, False),
        ("overloaded", ModelError, True),
        (["?"], ModelError, True),
    ],
)
def test_an_error_in_a_stream_means_the_same_as_one_before_it(error, kind, retryable):
    found = from_stream(error, where=WHERE)
    assert type(found) is kind
    assert found.retryable is retryable


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefgh12345678",
        "sk-ant-api03-abcdefgh_x",
        "gsk_abcdefgh1234",
        "AIzaSyA1234567890",
        "xai-abcdefgh1234",
        "Bearer abcdefgh.ijk",
        "sk-abcd****************wxyz",
    ],
)
def test_a_key_never_stays_in_a_sentence(key):
    assert sentence(f"the key {key} is wrong") == "the key [key] is wrong"


def test_the_words_about_keys_stay():
    text = "Incorrect API key provided; the task-based key is missing"
    assert sentence(text) == text


@given(st.text(max_size=2000))
def test_a_sentence_is_one_short_line(text):
    line = sentence(text)
    assert len(line) <= 403
    assert "\n" not in line
