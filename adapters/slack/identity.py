"""Identity: who we are in Slack, as `auth.test` told us once."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from core.clock import Clock
from core.errors import DeliveryError, InterlockError

log = structlog.get_logger(__name__)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


class IdentityUnknown(InterlockError):
    """Slack has not told us yet who we are, so no event can be judged; let Slack send it again."""

    code = "slack_identity_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Our team and our own ids in it; what `parse` needs to know itself again."""

    team: str
    user: str
    bot_id: str = ""
    app_id: str = ""
    enterprise: str | None = None

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> "Bot":
        """Read the answer of `auth.test`."""
        return cls(
            team=str(answer["team_id"]),
            user=str(answer["user_id"]),
            bot_id=str(answer.get("bot_id") or ""),
            app_id=str(answer.get("app_id") or ""),
            enterprise=answer.get("enterprise_id"),
        )


class Identity:
    """Learns who we are in the background and answers from memory: no event waits for Slack."""

    def __init__(self, *, ask: Callable[[], Awaitable[Mapping[str, Any]]], clock: Clock) -> None:
        """Take the call that asks Slack (`auth.test`) and the clock that pauses between tries."""
        self._ask = ask
        self._clock = clock
        self.known: Bot | None = None
        self.problem: str | None = "auth.test has not answered yet"
        """Why it is unknown, for `/readyz`; None once it is known."""

    def bot(self) -> Bot:
        """Return who we are.

        Raises:
            IdentityUnknown: `auth.test` has not answered yet.
        """
        if self.known is None:
            raise IdentityUnknown(f"who we are in Slack is unknown: {self.problem}")
        return self.known

    async def learn(self) -> Bot:
        """Ask until Slack answers, with growing pauses; a refused token is asked about again too.

        A token may be put right on Slack's side (reinstalled app) while we run.
        """
        pause = FIRST_PAUSE
        while self.known is None:
            try:
                self.known = Bot.from_answer(await self._ask())
            except (DeliveryError, KeyError) as exc:
                self.problem = str(exc)
                log.warning("slack.identity_unknown", error=str(exc), retry_in=pause)
                await self._clock.sleep(getattr(exc, "retry_after", None) or pause)
                pause = min(pause * 2, LONGEST_PAUSE)
        self.problem = None
        log.info("slack.identity_known", team=self.known.team, user=self.known.user)
        return self.known
