"""`python -m tests.loopback.slack --journal FILE`: serve until told to stop."""

from __future__ import annotations

import asyncio

from tests.loopback.process import serve
from tests.loopback.slack.options import Options
from tests.loopback.slack.server import make_app

if __name__ == "__main__":
    asyncio.run(serve(make_app(Options.parse())))
