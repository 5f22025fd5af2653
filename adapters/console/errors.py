"""Errors of the console: every refusal as a status and JSON (gateway.md, Bad input)."""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from core.errors import (
    AlreadyDecided,
    Conflict,
    InterlockError,
    InvalidInput,
    NotAllowed,
    StoreUnavailable,
    Unknown,
)

# The first kind that fits decides; each stands for its whole branch of the tree.
STATUSES: tuple[tuple[type[InterlockError], int], ...] = (
    (InvalidInput, 400),
    (NotAllowed, 403),
    (Unknown, 404),
    (Conflict, 409),
    (StoreUnavailable, 503),
)
RETRY_SECONDS = 1
"""What `Retry-After` says when the store cannot take a write."""


class Refused(InterlockError):
    """The request ends here with this status; `code` is the word for programs."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep the status, the word and the headers that go along."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


class Unauthenticated(Refused):
    """No token, no session, or a wrong one."""

    def __init__(self, message: str) -> None:
        """Answer 401 and name the scheme, as HTTP asks."""
        super().__init__(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(Refused):
    """Somebody known, or a page from elsewhere, asks for what it may not have."""

    def __init__(self, message: str, *, code: str = "forbidden") -> None:
        """Answer 403."""
        super().__init__(403, code, message)


def error_response(error: InterlockError) -> web.Response:
    """Return the HTTP answer of an error; what nobody foresaw is a 500 without its text."""
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, Refused) else {}
    if status == 503:
        headers["Retry-After"] = str(RETRY_SECONDS)
    # A 500 may carry a path or a query in its text; a 503 of ours never does.
    body = error_body(error) if status < 500 or status == 503 else internal_body(None)
    return web.json_response(body, status=status, headers=headers)


def status_of(error: InterlockError) -> int:
    """Return the HTTP status of an error of ours."""
    if isinstance(error, Refused):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def error_body(error: InterlockError) -> dict[str, Any]:
    """Return the JSON of an error; a decided plan says by whom, when and what."""
    fields = error.fields if isinstance(error, InvalidInput) else {}
    told: dict[str, Any] = {"code": error.code, "message": str(error), "fields": fields}
    if isinstance(error, AlreadyDecided):
        at = error.at.isoformat() if error.at else None
        told |= {"decidedBy": error.by, "decidedAt": at, "outcome": error.outcome}
    return {"error": told}


def internal_body(error_id: str | None) -> dict[str, Any]:
    """Return the JSON of a fault of ours: an id for the log, never the text."""
    hint = f" (error {error_id})" if error_id else ""
    message = f"Something broke on our side{hint}; the log says what."
    return {"error": {"code": "internal", "message": message, "fields": {}}}
