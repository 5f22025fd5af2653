"""Identity: who we are in Slack, as `auth.test` told us once."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import structlog

from core.clock import Clock
from core.errors import DeliveryError, InterlockError
from core.facts import FactStore

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

    def __init__(
        self,
        *,
        ask: Callable[[], Awaitable[Mapping[str, Any]]],
        clock: Clock,
        facts: FactStore | None = None,
        name: str = "slack",
    ) -> None:
        """Take the call that asks Slack (`auth.test`) and the clock that pauses between tries.

        With `facts`, what was learned is known again after a restart, under `name`: a click right
        after one must not fail, since Slack does not send clicks again.
        """
        self._ask = ask
        self._clock = clock
        self._facts = facts
        self._name = name
        self._fresh = False
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

    async def recall(self) -> None:
        """Know again what an earlier process learned, if any did."""
        remembered = await self._facts.fact(self._name) if self._facts else None
        if remembered is not None:
            self.known = Bot(**remembered)

    async def learn(self) -> Bot:
        """Ask until Slack answers, with growing pauses; a refused token is asked about again too.

        A token may be put right on Slack's side (reinstalled app) while we run.
        """
        pause = FIRST_PAUSE
        while not self._fresh or self.known is None:
            try:
                self.known = Bot.from_answer(await self._ask())
                self._fresh = True
            # An answer without a team id is as good as none.
            except (DeliveryError, KeyError) as exc:
                self.problem = str(exc)
                log.warning("slack.identity_unknown", error=str(exc), retry_in=pause)
                # A 429 names its own pause; inside it every call would be refused.
                await self._clock.sleep(getattr(exc, "retry_after", None) or pause)
                pause = min(pause * 2, LONGEST_PAUSE)
        self.problem = None
        if self._facts is not None:
            await self._facts.learn(self._name, asdict(self.known))
        log.info("slack.identity_known", team=self.known.team, user=self.known.user)
        return self.known
