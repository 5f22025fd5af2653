"""Memory: how much of a thread's history an agent is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What an agent remembers of its thread.

    `last_turns` counts turns of people, not rows, so that tool results are never cut off from
    their calls (signals.md 5.19).
    """

    # Some days of talk in a channel; a budget in tokens comes with compaction.
    last_turns: int = 40
