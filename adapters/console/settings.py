"""Settings of the console: who may open it, under which names, and who the people are."""

from dataclasses import dataclass

from pydantic import SecretStr

from core.conversation import Person

LOCAL_PREFIX = "console:local:"
"""Start of the id of everybody at this console (gateway.md, Settings)."""


def _person(name: str) -> Person:
    return Person(id=f"{LOCAL_PREFIX}{name.lower()}", name=name, platform="console")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """The console's branch of the settings.

    `hosts` are the exact Host headers that are served, port included (gateway.md, Routes). `token`
    is the bearer token that people must show at the door. `local_token` is one for programs of this
    machine alone: it opens the API and asks for no login. `people` may be picked at once; the first
    is who a new session is.
    """

    token: SecretStr | None = None
    local_token: SecretStr | None = None
    hosts: tuple[str, ...] = ("localhost:8787", "127.0.0.1:8787")
    people: tuple[Person, ...] = (_person("Ada"), _person("Bob"), _person("Carol"))
    dev: bool = False
    resource_id: str = "console:local"
    """Owner of the threads that the page makes."""

    @property
    def bearer_tokens(self) -> tuple[SecretStr, ...]:
        """Return every token that a program may show."""
        return tuple(token for token in (self.token, self.local_token) if token is not None)
