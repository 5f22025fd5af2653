"""ModelRegistry: finds the client behind a model's name, and keeps one of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

import aiohttp
from pydantic import SecretStr

from adapters.models import litellm
from adapters.models.demo import DemoModel
from adapters.models.names import DEMO, ModelName, find_key, parse_name
from adapters.models.openai import API_BASE, Endpoint, OpenAIModel, SharedSession
from core.clock import Clock, SystemClock
from core.errors import ModelError
from core.ports.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What the configuration says about models (gateway.md, settings)."""

    client: Literal["auto", "litellm", "direct"] = "auto"
    api_base: str | None = None
    """INTERLOCK_MODEL_API_BASE: a server that speaks the OpenAI protocol."""
    keys: Mapping[str, SecretStr] = field(default_factory=dict)
    """Keys by the names of their variables."""
    demo_pace: timedelta = timedelta(seconds=1.5)
    default: str | None = None
    """The model of agents that name none: what an empty name means."""


class ModelRegistry:
    """All models of a process, made when they are first asked for; they share one HTTP session."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        clock: Clock | None = None,
        session: aiohttp.ClientSession | None = None,
    ) -> None:
        """Take the settings; `session` stays the caller's to close."""
        self._settings = settings
        self._clock = clock or SystemClock()
        self._session = SharedSession(session)
        self._models: dict[str, Model] = {}

    def model(self, name: str) -> Model:
        """Return the model of that name; an empty one means the default.

        Raises:
            ModelError: the name is not understood.
            ModelAuthError: its key is missing; the text names the variables.
        """
        parsed = self._parse(name)
        known = self._models.get(parsed.text)
        if known is None:
            known = self._models[parsed.text] = self._make(parsed)
        return known

    def needs_litellm(self, names: Iterable[str]) -> bool:
        """Return whether any of these models is reached through litellm."""
        return any(self._client(self._parse(name)) == "litellm" for name in names)

    async def prepare(self, names: Iterable[str]) -> None:
        """Import litellm if one of these models needs it, and only then; before ready is said."""
        if self.needs_litellm(names):
            await litellm.prepare()

    async def aclose(self) -> None:
        """Close every connection that the models keep."""
        # Answers still under way end here: the runner has stopped before the models do.
        await self._session.aclose()
        await litellm.close_clients()

    def _parse(self, name: str) -> ModelName:
        """Return the name understood, the default where it is empty."""
        chosen = name.strip() or self._settings.default
        if not chosen:
            raise ModelError("no model is named: set INTERLOCK_MODEL or the agent's own model")
        return parse_name(chosen)

    def _client(self, name: ModelName) -> Literal["demo", "direct", "litellm"]:
        if name.provider == DEMO:
            return "demo"
        # The demo model stands above this choice: it has no server to reach.
        if self._settings.client != "auto":
            return self._settings.client
        direct = name.provider == "openai" or self._settings.api_base is not None
        return "direct" if direct else "litellm"

    def _make(self, name: ModelName) -> Model:
        match self._client(name):
            case "demo":
                return DemoModel(pace=self._settings.demo_pace, clock=self._clock)
            case "direct":
                return self._direct(name)
            case "litellm":
                return self._litellm(name)

    def _direct(self, name: ModelName) -> Model:
        base = self._settings.api_base
        if base is None and name.provider != "openai":
            raise ModelError(
                f"the model {name.text} cannot be asked directly without an address: set"
                " INTERLOCK_MODEL_API_BASE, or INTERLOCK_MODEL_CLIENT=litellm"
            )
        key = find_key(name, self._settings.keys)
        endpoint = Endpoint(name=name, api_base=base or API_BASE, key=key)
        return OpenAIModel(endpoint, session=self._session)

    def _litellm(self, name: ModelName) -> Model:
        key = find_key(name, self._settings.keys)
        target = litellm.LiteLLMTarget(name=name, key=key, api_base=self._settings.api_base)
        return litellm.LiteLLMModel(target)
