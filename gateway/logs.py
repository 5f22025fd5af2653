"""Logs: events as lines, secrets taken out by their shape before anything is written."""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from core.redaction import redact_text


def configure_logs(*, pretty: bool, level: str = "INFO") -> None:
    """Send events to standard error, a JSON line each, or text for a person (`pretty`)."""
    renderer: Any = structlog.processors.JSONRenderer()
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
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
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="%(name)s: %(message)s")


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Take secrets out of every value by their shape (PB-040, PB-089)."""
    return {name: _clean(value) for name, value in event.items()}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: _clean(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value
