"""Settings of the webhook sources: their secrets, and which sources are therefore mounted."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, SecretStr

from core.errors import InvalidConfig

SHORTEST_SECRET = 16
SOURCES = ("github",)
"""Sources that can be mounted; the next ones are added here, each with its field below."""


class WebhookSettings(BaseModel):
    """One list of secrets per source; more than one while a secret is being changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    github: tuple[SecretStr, ...] = ()

    def secrets(self, source: str) -> tuple[SecretStr, ...]:
        """Return the active secrets of a source."""
        return self.github if source == "github" else ()

    @property
    def mounted(self) -> tuple[str, ...]:
        """Return the sources that have a secret."""
        return tuple(source for source in SOURCES if self.secrets(source))

    def check(self, topics: Iterable[str] = ()) -> None:
        """Refuse a start that would leave a source unsafe or deaf (reliability.md T1).

        Raises:
            InvalidConfig: a secret is under 16 characters, or a subscribed topic's source has none.
        """
        for source in self.mounted:
            self._check_length(source)
        for topic in topics:
            source = topic.partition(":")[0]
            if source not in SOURCES:
                # Nothing would ever arrive for it, and nobody would notice.
                raise InvalidConfig(
                    f"the subscription {topic} names {source!r}, which is no source; known: "
                    f"{', '.join(SOURCES)}"
                )
            if source not in self.mounted:
                raise InvalidConfig(
                    f"the subscription {topic} needs {variable(source)}, which is not set"
                )

    def _check_length(self, source: str) -> None:
        if any(len(one.get_secret_value()) < SHORTEST_SECRET for one in self.secrets(source)):
            raise InvalidConfig(
                f"{variable(source)} is shorter than {SHORTEST_SECRET} characters; make a new "
                "secret, for instance with `openssl rand -hex 32`"
            )


def variable(source: str) -> str:
    """Return the name of the environment variable that holds a source's secret."""
    return f"{source.upper()}_WEBHOOK_SECRET"
