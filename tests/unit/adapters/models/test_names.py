"""Model names and the variables that hold their keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from adapters.models.names import find_key, parse_name
from core.errors import ModelAuthError, ModelError

GOOGLE = ("GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY")


@pytest.mark.parametrize(
    ("text", "provider", "model", "litellm", "variables"),
    [
        ("openai/gpt-5.6-sol", "openai", "gpt-5.6-sol", "openai/gpt-5.6-sol", ("OPENAI_API_KEY",)),
        (
            "anthropic/claude-sonnet-4-6",
            "anthropic",
            "claude-sonnet-4-6",
            "anthropic/claude-sonnet-4-6",
            ("ANTHROPIC_API_KEY",),
        ),
        ("google/gemini-2.5-pro", "google", "gemini-2.5-pro", "gemini/gemini-2.5-pro", GOOGLE),
        (
            "gemini/gemini-2.5-pro",
            "gemini",
            "gemini-2.5-pro",
            "gemini/gemini-2.5-pro",
            ("GEMINI_API_KEY", *GOOGLE),
        ),
        ("groq/llama", "groq", "llama", "groq/llama", ("GROQ_API_KEY",)),
        (
            "openrouter/anthropic/claude",
            "openrouter",
            "anthropic/claude",
            "openrouter/anthropic/claude",
            ("OPENROUTER_API_KEY",),
        ),
        ("nvidia-nim/x", "nvidia-nim", "x", "nvidia-nim/x", ("NVIDIA_NIM_API_KEY",)),
        ("ollama/llama3", "ollama", "llama3", "ollama/llama3", ()),
        ("bedrock/claude", "bedrock", "claude", "bedrock/claude", ()),
        ("OpenAI/gpt-5", "openai", "gpt-5", "openai/gpt-5", ("OPENAI_API_KEY",)),
        (" demo ", "demo", "demo", "demo", ()),
    ],
)
def test_a_name_is_understood(text, provider, model, litellm, variables):
    name = parse_name(text)
    assert (name.provider, name.model, name.litellm, name.variables) == (
        provider,
        model,
        litellm,
        variables,
    )


@pytest.mark.parametrize("text", ["", "gpt-5", "openai/", "/gpt-5", "openai/gpt 5", "open ai/x"])
def test_what_is_no_name_is_answered_with_an_example(text):
    with pytest.raises(ModelError, match="openai/gpt-5-mini"):
        parse_name(text)


@given(
    st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True),
    st.from_regex(r"\S{1,40}", fullmatch=True),
)
def test_whatever_follows_the_first_slash_is_the_models_own_name(provider, model):
    assert parse_name(f"{provider}/{model}").model == model


def test_the_first_variable_that_is_set_is_used():
    keys = {"GOOGLE_API_KEY": SecretStr("first"), GOOGLE[1]: SecretStr("second")}
    assert find_key(parse_name("google/x"), keys).get_secret_value() == "first"
    del keys["GOOGLE_API_KEY"]
    assert find_key(parse_name("google/x"), keys).get_secret_value() == "second"


def test_a_missing_key_names_every_variable_that_would_do():
    with pytest.raises(ModelAuthError, match=" or ".join(GOOGLE)):
        find_key(parse_name("google/x"), {"OPENAI_API_KEY": SecretStr("x")})


def test_a_blank_key_is_a_missing_one():
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        find_key(parse_name("openai/x"), {"OPENAI_API_KEY": SecretStr("  ")})


def test_a_model_of_ones_own_machine_needs_no_key():
    assert find_key(parse_name("ollama/llama3"), {}) is None
