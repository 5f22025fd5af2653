"""Logs: events as lines, secrets taken out by their shape before anything is written."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from typing_extensions import override

from core.redaction import HIDDEN, redact_text

_CREDENTIALS = re.compile(r"://[^\s/?#@]*@")
_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"})
"""Headers that are secrets whatever they look like."""


def configure_logs(*, pretty: bool, level: str = "INFO") -> None:
    """Send events to standard error, a JSON line each, or text for a person (`pretty`)."""
    renderer: Any = structlog.processors.JSONRenderer()
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # Libraries speak through the standard logger: errors are worth a line, chatter is not.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR)


class RedactingFormatter(logging.Formatter):
    """Writes what libraries log, tracebacks included, without the secrets in it."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Take secrets out of every value by their shape (PB-040, PB-089)."""
    return {redacted(name): _clean(value, name) for name, value in event.items()}


def redacted(text: str) -> str:
    """Return a text without known token shapes and without the credentials of URLs."""
    return _CREDENTIALS.sub(f"://{HIDDEN}@", redact_text(text))


def bare_url(url: str) -> str:
    """Return an address without credentials and query, fit for a status page (T21)."""
    return _CREDENTIALS.sub("://", url).partition("?")[0]


def _clean(value: Any, name: str = "") -> Any:
    if name.lower() in _HEADERS:
        return HIDDEN
    if isinstance(value, Mapping):
        return {redacted(str(inner)): _clean(item, str(inner)) for inner, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    # Whatever else a renderer would show by its repr: an error, bytes, a record.
    return redacted(value if isinstance(value, str) else repr(value))
