"""Errors of model servers, put into our own tree once, with no key in any text. Pure.

Both clients come here, so that a refusal means the same to the run loop whichever of them asked.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from core.errors import ModelAuthError, ModelError, ModelRateLimited

_SENTENCE = 400
_KEYS = re.compile(
    r"\bBearer\s+\S{8,}|\bAIza[-_A-Za-z0-9]{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][-_.A-Za-z0-9*]{8,}"
)
_STATUS_OF = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "requests": 429,
    "tokens": 429,
    "invalid_request_error": 400,
    "not_found_error": 404,
}
"""The words by which servers say in a stream what a status says before it."""


def from_status(
    status: int, body: str | bytes, *, where: str, headers: Mapping[str, str] | None = None
) -> ModelError:
    """Return the error for an HTTP answer that is none of success.

    `where` names the model for people. 401 and 403 are about the key, 429 asks us to wait, 5xx
    may be tried again, and any other is our own fault and final.
    """
    error = _error_object(body)
    text = f"{where} answered {status}: {sentence(error.get('message') or 'no reason given')}"
    return classify(status, text, code=error.get("code"), retry_after=_seconds(headers or {}))


def from_stream(error: Any, *, where: str) -> ModelError:
    """Return the error for an error object that came in the middle of a stream."""
    fields = error if isinstance(error, Mapping) else {"message": error}
    words = (fields.get("code"), fields.get("status"), fields.get("type"))
    status = next((known for known in map(_status, words) if known is not None), 500)
    text = f"{where} broke off its answer: {sentence(fields.get('message') or 'no reason given')}"
    return classify(status, text, code=fields.get("code"))


def classify(
    status: int, text: str, *, code: object = None, retry_after: float | None = None
) -> ModelError:
    """Return the error of our tree that stands for an HTTP status."""
    if status in (401, 403):
        return ModelAuthError(text)
    if status == 429:
        # An empty purse is reported like a crowd; waiting does not fill it.
        patient = code != "insufficient_quota"
        return ModelRateLimited(text, retryable=patient, retry_after=retry_after)
    retryable = status >= 500 or status in (408, 409, 425)
    # A time to wait makes sense only where asking again does.
    return ModelError(text, retryable=retryable, retry_after=retry_after if retryable else None)


def sentence(text: object) -> str:
    """Return a provider's own words on one line, short, and without anything like a key."""
    line = " ".join(str(text).split())
    redacted = _KEYS.sub("[key]", line)
    return redacted if len(redacted) <= _SENTENCE else f"{redacted[:_SENTENCE]}..."


def _status(word: object) -> int | None:
    if isinstance(word, int):
        return word
    text = str(word)
    return int(text) if text.isdecimal() and len(text) == 3 else _STATUS_OF.get(text)


def _error_object(body: str | bytes) -> Mapping[str, Any]:
    """Return the error object of a body; a proxy's page or a bare text becomes its message."""
    try:
        data = json.loads(body)
    except ValueError:
        return {"message": body.decode(errors="replace") if isinstance(body, bytes) else body}
    error = data.get("error") if isinstance(data, dict) else data
    return error if isinstance(error, dict) else {"message": error}


# A date instead of seconds is left alone: the run loop's own backoff is as good a guess.
def _seconds(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None
