"""Errors: what went wrong between us and Slack's Web API, in the words of our own tree."""

from collections.abc import Mapping

import aiohttp

from core.errors import DeliveryError

PERMANENT = frozenset(
    [
        "account_inactive",
        "cant_update_message",
        "cannot_reply_to_message",
        "channel_not_found",
        "edit_window_closed",
        "invalid_auth",
        "invalid_blocks",
        "invalid_thread_ts",
        "is_archived",
        "message_not_found",
        "missing_scope",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_permission",
        "no_text",
        "not_allowed_token_type",
        "not_authed",
        "not_in_channel",
        "restricted_action",
        "thread_not_found",
        "token_expired",
        "token_revoked",
        "user_not_found",
        "user_not_in_channel",
    ]
)
"""Codes that no later attempt changes (reliability.md, stage 6)."""
LIMITED = frozenset(["ratelimited", "rate_limited", "message_limit_exceeded"])
DEFAULT_WAIT = 30.0
"""Seconds to wait when a 429 names none."""


def translate(method: str, problem: Exception) -> DeliveryError:
    """Return what the sender must know of an error that a call of `method` ended with.

    What broke before the request could leave may be sent again; after that it may have been
    accepted, so it is `uncertain`.
    """
    from slack_sdk.errors import SlackApiError

    if isinstance(problem, SlackApiError):
        return _refused(method, problem)
    # No connection, so not a byte of the message has left.
    if isinstance(problem, aiohttp.ClientConnectorError | aiohttp.InvalidURL):
        return DeliveryError(f"{method}: Slack cannot be reached ({problem})")
    if isinstance(problem, TimeoutError):
        return DeliveryError(f"{method}: no answer from Slack in time", uncertain=True)
    name = type(problem).__name__
    return DeliveryError(f"{method}: the connection to Slack broke ({name})", uncertain=True)


def error_code(problem: Exception) -> str:
    """Return the code in Slack's answer, or an empty text."""
    answer = getattr(getattr(problem, "response", None), "data", None)
    return str(answer.get("error") or "") if isinstance(answer, dict) else ""


def _refused(method: str, problem: Exception) -> DeliveryError:
    response = getattr(problem, "response", None)
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    code = error_code(problem)
    # A 429 did nothing, so it is never uncertain.
    if status == 429 or code in LIMITED:
        wait = _retry_after(getattr(response, "headers", None) or {})
        return DeliveryError(f"{method}: Slack asks to wait {wait:g} s", retry_after=wait)
    if code in PERMANENT:
        return DeliveryError(f"{method}: Slack refused it: {code}{_why(response)}", permanent=True)
    # A server error may come after the message was stored.
    if status >= 500 or not code:
        return DeliveryError(f"{method}: Slack answered status {status}", uncertain=True)
    return DeliveryError(f"{method}: Slack refused it: {code}")


def _retry_after(headers: Mapping[str, object]) -> float:
    found = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    value = found[0] if isinstance(found, list) and found else found
    try:
        return max(float(str(value)), 0.0)
    except ValueError:
        return DEFAULT_WAIT


def _why(response: object) -> str:
    """Return Slack's hints, which name the place of a refused block and never its text."""
    data = getattr(response, "data", None)
    metadata = data.get("response_metadata") if isinstance(data, dict) else None
    hints = metadata.get("messages") if isinstance(metadata, dict) else None
    return f" ({'; '.join(map(str, hints[:3]))})" if hints else ""
