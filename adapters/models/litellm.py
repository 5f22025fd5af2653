"""LiteLLMModel: every other provider, through litellm's library and never its proxy.

litellm takes seconds of CPU and 200 MB to import, so it is imported by `prepare`, in a thread, and
only where an agent's model needs it.
"""

import asyncio
import functools
import json
import logging
import os
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from adapters.models.answer import Chunk
from adapters.models.errors import from_status, sentence
from adapters.models.following import follow
from adapters.models.names import ModelName
from adapters.models.prompt import render_request
from core.errors import ModelError, ModelOutputError, ModelTimeout
from core.ports.model import ModelEvent, ModelRequest

_GRACE = 5.0
"""Seconds by which litellm's own timeout is longer than ours, so that ours is the one that acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLLMTarget:
    """Which model, with which key, and where if not at its provider's own address."""

    name: ModelName
    key: SecretStr | None = None
    api_base: str | None = None


class LiteLLMModel:
    """A model of any provider that litellm knows. It tries once, like its sibling."""

    def __init__(self, target: LiteLLMTarget) -> None:
        """Take what to ask; nothing is imported yet."""
        self._target = target

    async def prepare(self) -> None:
        """Import litellm now, in a thread, and not while somebody waits for an answer."""
        await prepare()

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask once; see the port."""
        return follow(self._chunks(request), request)

    async def _chunks(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        litellm = await prepare()
        try:
            async with aclosing(await litellm.acompletion(**self._arguments(request))) as answer:
                async for chunk in answer:
                    yield chunk.model_dump(exclude_none=True, warnings=False)
        # litellm raises errors of four libraries and plain ones, in no common tree: all of them
        # mean that the model did not answer.
        except Exception as exc:
            raise translate(exc, where=f"the model {self._target.name.text}") from exc

    def _arguments(self, request: ModelRequest) -> dict[str, Any]:
        target = self._target
        body = render_request(request, model=target.name.litellm, provider=target.name.provider)
        return {
            **body,
            "api_key": target.key.get_secret_value() if target.key is not None else None,
            "api_base": target.api_base,
            "timeout": request.deadlines.total.total_seconds() + _GRACE,
            "num_retries": 0,
            "max_retries": 0,
            # A setting that one provider of a fallback chain lacks must not fail the whole chain.
            "drop_params": True,
        }


async def prepare() -> Any:
    """Return the library, importing it in a thread if this is its first use."""
    if _load.cache_info().currsize:
        return _load()
    return await asyncio.to_thread(_load)


async def close_clients() -> None:
    """Close the connections that litellm keeps; does nothing where it was never imported."""
    if _load.cache_info().currsize:
        await _load().close_litellm_async_clients()


def translate(error: Exception, *, where: str) -> ModelError:
    """Return the error of our tree for whatever litellm raised; texts are without keys."""
    if isinstance(error, ModelError):
        return error
    if any(isinstance(cause, json.JSONDecodeError) for cause in _causes(error)):
        return ModelOutputError(f"{where} sent JSON that cannot be read", retryable=True)
    if type(error).__name__ == "Timeout":
        return ModelTimeout(f"{where} took too long: {sentence(_words(error))}", retryable=True)
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return ModelError(f"{where} failed: {sentence(_words(error))}", retryable=False)
    return from_status(status, _words(error), where=where, headers=_headers(error))


@functools.cache
def _load() -> Any:
    # Else it downloads a price list at import (testing.md).
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with warnings.catch_warnings():
        # What litellm's own dependencies have outgrown is not ours to mend, nor how its types use
        # pydantic.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", r".*`ReadOnly` qualifier", UserWarning)
        import litellm

        library: Any = litellm
        _silence(library)
        _rehearse(library)
    return library


def _rehearse(litellm: Any) -> None:
    """Answer one made-up question: the first call imports more, half a second of it.

    No server is asked; the answer is the one given here.
    """
    question = [{"role": "user", "content": "ready?"}]
    answer = litellm.completion(
        model="openai/rehearsal", messages=question, mock_response="yes", stream=True, api_key="-"
    )
    for _ in answer:
        pass


def _silence(litellm: Any) -> None:
    """Switch off its prints, its logs, its telemetry and its callbacks."""
    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.disable_streaming_logging = True
    litellm.num_retries = 0
    # How long an answer may be is said by our caps; a row of equal dashes is no fault.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    # Prompts with calls in their past but without tools now are legal here; Anthropic wants a
    # placeholder then, which this lets litellm put in.
    litellm.modify_params = True
    for callbacks in ("callbacks", "input_callback", "success_callback", "failure_callback"):
        setattr(litellm, callbacks, [])
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what led to it; litellm keeps the first one in three places."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        original = getattr(cause, "original_exception", None)
        waiting += [cause.__cause__, cause.__context__]
        waiting += [original] if isinstance(original, BaseException) else []


def _words(error: Exception) -> str:
    """Return the provider's own words without the wrappings that litellm puts before them."""
    text = str(getattr(error, "message", error)).split(" Original exception:")[0]
    return text.rpartition("Exception - ")[2] if "Exception - " in text else text


def _headers(error: Exception) -> dict[str, str]:
    response = getattr(error, "response", None)
    found = getattr(response, "headers", None) or {}
    more = getattr(error, "litellm_response_headers", None) or {}
    return {str(name).lower(): str(value) for name, value in {**more, **found}.items()}
