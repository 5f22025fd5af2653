"""Model names: what `provider/model` means, and which variables may hold its key."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from core.errors import ModelAuthError, ModelError

DEMO = "demo"
"""The offline model; it needs no key."""

_LITELLM_PROVIDERS = {"google": "gemini"}
"""Where seed 002 and litellm call one provider by two names."""

_GOOGLE_KEYS = ("GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY")
_VARIABLES: dict[str, tuple[str, ...]] = {
    "google": _GOOGLE_KEYS,
    "gemini": ("GEMINI_API_KEY", *_GOOGLE_KEYS),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "perplexity": ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
    "together_ai": ("TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY"),
    # These run on one's own machine, or take the cloud's credentials, which litellm finds itself.
    **dict.fromkeys(("bedrock", "hosted_vllm", "llamafile", "lm_studio"), ()),
    **dict.fromkeys(("ollama", "ollama_chat", "sagemaker", "vertex_ai", "vllm"), ()),
}
"""Exceptions to the rule PROVIDER_API_KEY."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A model's name, understood."""

    text: str
    """As it was written, for people."""
    provider: str
    model: str
    """What the provider itself calls the model; it may hold further slashes."""
    litellm: str
    """What litellm calls it."""
    variables: tuple[str, ...]
    """Names of variables that may hold the key, first come first used; empty: none is needed."""


def parse_name(text: str) -> ModelName:
    """Understand `provider/model` as seed 002 or litellm writes it, or `demo`.

    Raises:
        ModelError: it is neither.
    """
    stripped = text.strip()
    if stripped == DEMO:
        return ModelName(text=DEMO, provider=DEMO, model=DEMO, litellm=DEMO, variables=())
    provider, slash, model = stripped.partition("/")
    if not (provider and slash and model) or any(letter.isspace() for letter in stripped):
        raise ModelError(
            f"the model {text!r} is not understood: write provider/model, such as"
            " openai/gpt-5-mini, or demo"
        )
    provider = provider.lower()
    return ModelName(
        text=stripped,
        provider=provider,
        model=model,
        litellm=f"{_LITELLM_PROVIDERS.get(provider, provider)}/{model}",
        variables=key_variables(provider),
    )


def key_variables(provider: str) -> tuple[str, ...]:
    """Return the names of variables that may hold a provider's key, in order (gateway.md)."""
    rule = (f"{provider.upper().replace('-', '_')}_API_KEY",)
    return _VARIABLES.get(provider, rule)


def find_key(name: ModelName, keys: Mapping[str, SecretStr]) -> SecretStr | None:
    """Return the key for a model; None for one that needs none.

    Raises:
        ModelAuthError: none of its variables is set; the text names them.
    """
    for variable in name.variables:
        key = keys.get(variable)
        if key is not None and key.get_secret_value().strip():
            return key
    if not name.variables:
        return None
    raise ModelAuthError(
        f"no key for the model {name.text}: set {' or '.join(name.variables)} in the environment"
        " or in .env"
    )
