"""Which client a model's name leads to."""

import subprocess
import sys
from datetime import timedelta

import pytest
from pydantic import SecretStr

from adapters.models.demo import DemoModel
from adapters.models.litellm import LiteLLMModel
from adapters.models.openai import OpenAIModel
from adapters.models.registry import ModelRegistry, ModelSettings
from core.errors import ModelAuthError, ModelError

KEYS = {name: SecretStr("x") for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")}
BASE = "http://127.0.0.1:9/v1"


def registry(**settings):
    return ModelRegistry(ModelSettings(**({"keys": KEYS} | settings)))


@pytest.mark.parametrize(
    ("client", "base", "name", "kind"),
    [
        ("auto", None, "openai/x", OpenAIModel),
        ("auto", None, "anthropic/x", LiteLLMModel),
        ("auto", None, "google/x", LiteLLMModel),
        ("auto", BASE, "anthropic/x", OpenAIModel),
        ("litellm", BASE, "openai/x", LiteLLMModel),
        ("direct", BASE, "anthropic/x", OpenAIModel),
        ("auto", None, "demo", DemoModel),
        ("litellm", None, "demo", DemoModel),
    ],
)
def test_the_client_follows_from_provider_and_settings(client, base, name, kind):
    found = registry(client=client, api_base=base)
    assert isinstance(found.model(name), kind)
    assert found.needs_litellm([name]) is (kind is LiteLLMModel)


def test_one_model_is_made_of_each_name():
    found = registry()
    assert found.model("openai/x") is found.model(" openai/x")
    assert found.model("openai/x") is not found.model("openai/y")


def test_an_empty_name_means_the_default():
    found = registry(default="demo")
    assert found.model("") is found.model("demo")


def test_no_name_and_no_default_says_what_to_set():
    with pytest.raises(ModelError, match="INTERLOCK_MODEL"):
        registry().model("")


def test_a_missing_key_is_heard_of_before_anybody_is_asked():
    with pytest.raises(ModelAuthError, match="GROQ_API_KEY"):
        registry().model("groq/x")


def test_asking_directly_without_an_address_says_what_to_set():
    with pytest.raises(ModelError, match="INTERLOCK_MODEL_API_BASE"):
        registry(client="direct").model("groq/x")


async def test_preparing_for_the_demo_model_costs_nothing():
    found = registry(demo_pace=timedelta(0), default="demo")
    await found.prepare(["demo", "openai/x", ""])
    await found.aclose()


PROGRAM = """
import asyncio, sys
from pydantic import SecretStr
from adapters.models.registry import ModelRegistry, ModelSettings
keys = {"OPENAI_API_KEY": SecretStr("x"), "GROQ_API_KEY": SecretStr("x")}
models = ModelRegistry(ModelSettings(keys=keys))
async def main():
    await models.prepare(["demo", "openai/x"])
    for name in ("demo", "openai/x", "groq/x"):
        models.model(name)
    await models.aclose()
asyncio.run(main())
print("litellm" in sys.modules, "openai" in sys.modules)
"""


def test_a_process_that_needs_no_litellm_never_imports_it():
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True)
    assert done.stdout.split() == [b"False", b"False"]
