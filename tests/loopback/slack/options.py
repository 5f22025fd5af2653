"""Options: how one loopback Slack is started, and the command line they travel on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The start options; `target`, `delivery`, `time_scale` and `post_rate` may change later."""

    journal: str
    bot_token: str = "xoxb-loopback-0001"
    app_token: str = "xapp-loopback-0001"
    signing_secret: str = "loopback-signing-secret-0001"
    target: str = ""
    """Where events are posted, for example http://127.0.0.1:8787/slack/events."""
    delivery: str = "auto"
    """`http`, `socket`, or `auto`: HTTP when there is a target, sockets otherwise."""
    time_scale: float = 1.0
    """What a minute of the retry table is multiplied with; 0.01 makes it 0.6 s."""
    post_rate: float = 0.0
    """Posts a second and channel, with a burst of four; 0 is no limit."""
    answer_seconds: float = 3.0
    """How long the app may take for its answer; never scaled."""
    trigger_seconds: float = 3.0
    """How long a trigger_id opens a view."""
    ping_seconds: float = 10.0
    """How often an open socket is pinged."""
    epoch: int = 1_700_000_000
    """The second of the first message ts of every channel."""

    def arguments(self) -> list[str]:
        """Return the command line that gives these options to the child."""
        return [f"--{name.replace('_', '-')}={value}" for name, value in asdict(self).items()]

    @classmethod
    def parse(cls, arguments: Sequence[str] | None = None) -> Options:
        """Read the options from a command line, the process's own when none is given."""
        parser = argparse.ArgumentParser(prog="python -m tests.loopback.slack")
        parser.add_argument("--journal", required=True)
        for field in fields(cls):
            if field.name != "journal":
                flag = f"--{field.name.replace('_', '-')}"
                parser.add_argument(flag, type=type(field.default), default=field.default)
        return cls(**vars(parser.parse_args(arguments)))
