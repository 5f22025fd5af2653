"""Chaos: kills the gateway at random while people write, and counts what stands in the channel.

`python -m tests.scenarios.chaos --seed 1 --kills 20 --messages 120` prints one line of JSON and
fails if a message was answered twice or not at all. It takes minutes, so it is not in the suite.
"""

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.loopback.model.client import LoopbackModel
from tests.loopback.model.script import Call, Rule, Say
from tests.loopback.slack.client import LoopbackSlack
from tests.scenarios.gateway import GatewayProcess
from tests.support import eventually

QUESTION = "<@U0BOT> what time is it?"
RULES = [Rule(when="what time", say=[Say(calls=[Call(name="clock")]), Say(text="It is noon.")])]


@dataclass
class Count:
    """What a run of chaos came to."""

    seed: int
    kills: int = 0
    messages: list[str] = field(default_factory=list)
    events: dict[str, list[str]] = field(default_factory=dict)

    def report(self, slack: LoopbackSlack) -> dict[str, object]:
        """Compare what was asked with what stands in the channel."""
        answers = Counter(
            post["thread_ts"] for post in slack.posts() if "It is noon." in str(post["text"])
        )
        silent = [ts for ts in self.messages if answers[ts] == 0]
        taken = {entry["event_id"] for entry in slack.deliveries(ok=True)}
        heard = {ts for ts, ids in self.events.items() if taken & set(ids)}
        return {
            "seed": self.seed,
            "kills": self.kills,
            "messages": len(self.messages),
            "lost": [ts for ts in silent if ts in heard],
            # Slack gave up while the gateway was down: nothing was acknowledged.
            "never_taken": [ts for ts in silent if ts not in heard],
            "doubled": [ts for ts in self.messages if answers[ts] > 1],
        }


async def rage(seed: int, kills: int, messages: int) -> dict[str, object]:
    """Write and kill at random, then let it rest and count."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        async with (
            LoopbackModel(folder, rules=RULES) as model,
            LoopbackSlack(folder, time_scale=0.2) as slack,
        ):
            environment = {**slack.environment(), **model.environment()}
            gateway = GatewayProcess(folder, environment=environment)
            await slack.set_target(f"{gateway.url}/slack/events")
            return await _rage(gateway, slack, Count(seed=seed), (chance, kills, messages))


async def _rage(
    gateway: GatewayProcess,
    slack: LoopbackSlack,
    count: Count,
    plan: tuple[random.Random, int, int],
) -> dict[str, object]:
    chance, kills, messages = plan
    await gateway.start()
    writing = asyncio.create_task(_write(slack, count, chance, messages), name="people")
    while count.kills < kills and not writing.done():
        await asyncio.sleep(chance.uniform(0.1, 2.5))
        await gateway.kill()
        count.kills += 1
        await gateway.start()
    await writing
    with contextlib.suppress(AssertionError):
        await eventually(lambda: not _silent(count.report(slack)), within=90)
    # A double would come with the retries that are still under way.
    await asyncio.sleep(15)
    await gateway.stop()
    return count.report(slack)


def _silent(report: dict[str, object]) -> bool:
    return bool(report["lost"] or report["never_taken"])


async def _write(slack: LoopbackSlack, count: Count, chance: random.Random, messages: int) -> None:
    for _ in range(messages):
        said = await slack.say("U0001", "C0001", QUESTION, wait=False)
        count.messages.append(said["ts"])
        count.events[said["ts"]] = said["event_ids"]
        await asyncio.sleep(chance.uniform(0.05, 0.6))


def main() -> int:
    """Run once; exit code 1 when something was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--messages", type=int, default=120)
    parsed = parser.parse_args()
    report = asyncio.run(rage(parsed.seed, parsed.kills, parsed.messages))
    sys.stdout.write(json.dumps(report) + "\n")
    return 1 if report["lost"] or report["doubled"] else 0


if __name__ == "__main__":
    sys.exit(main())
