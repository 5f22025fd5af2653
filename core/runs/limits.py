"""Limits: how much a run may do before it stops or asks."""

from dataclasses import dataclass, field
from datetime import timedelta

from core.ports.model import Deadlines, OutputCaps

DEFAULT_MAX_STEPS = 5
"""Model steps of a bare agent (agent.md 1.2); agents from TOML get 30."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of every run in this process.

    `steps` caps a run over its whole life (`run_limit`). `model_attempts` is how often one step
    asks the model while it fails in a way that may pass; no pause between is longer than
    `longest_backoff`, whatever the provider asks for. `suspension` is how long a pause waits
    for people.
    """

    steps: int = 100
    model_attempts: int = 4
    tool_concurrency: int = 10
    first_backoff: timedelta = timedelta(seconds=1)
    longest_backoff: timedelta = timedelta(minutes=1)
    suspension: timedelta = timedelta(days=7)
    history_rows: int = 600
    deadlines: Deadlines = field(default_factory=Deadlines)
    caps: OutputCaps = field(default_factory=OutputCaps)
