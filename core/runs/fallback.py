"""Fallbacks: several models behind one, tried in order while nothing has been shown."""

from collections.abc import AsyncGenerator, Sequence

import structlog

from core.errors import ModelError
from core.ports.model import Model, ModelEvent, ModelRequest

log = structlog.get_logger(__name__)


class FallbackModel:
    """A chain of models: the next one is asked when the one before fails (agent.md 1.1, L17)."""

    def __init__(self, models: Sequence[Model]) -> None:
        """Keep the models in the order in which they are tried; at least one."""
        self._models = tuple(models)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the first model that answers.

        Once something was shown the failure stands: a second voice must not go on in mid-sentence.

        Raises:
            ModelError: what the last model raised.
        """
        for number, model in enumerate(self._models, start=1):
            shown = False
            try:
                async for event in model.stream(request):
                    shown = True
                    yield event
            except ModelError as exc:
                if shown or number == len(self._models):
                    raise
                log.warning("model.fallback", failed=number, error=str(exc), code=exc.code)
            else:
                return
