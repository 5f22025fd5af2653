"""What holds for the tests of core: logs with plain tracebacks, as the gateway writes them."""

import structlog

# The default draws each traceback with all its values, which takes seconds on a busy machine.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)
