"""What holds for every test: a clean environment, loopback only, and a few real things."""

import ipaddress
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.support import RedisServer, running_redis, unused_port

FOREIGN_PREFIXES = (
    "ALERTMANAGER_",
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "BUILDKITE_",
    "CIRCLECI_",
    "COHERE_",
    "DEEPSEEK_",
    "DISCORD_",
    "GEMINI_",
    "GITHUB_",
    "GITLAB_",
    "GOOGLE_",
    "GROQ_",
    "INTERLOCK_",
    "LITELLM_",
    "MISTRAL_",
    "OPENAI_",
    "OPENROUTER_",
    "SENTRY_",
    "SLACK_",
    "XAI_",
)
PROXIES = ("all_proxy", "http_proxy", "https_proxy")


def _clean_environment() -> None:
    """A developer's keys are neither used by a test nor seen by its child processes."""
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) or name.lower() in PROXIES:
            del os.environ[name]
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"


class NetworkForbiddenError(RuntimeError):
    """Not an OSError on purpose: nothing may take it for a bad connection and go on."""


def _forbid_network(event: str, arguments: tuple[Any, ...]) -> None:
    # An audit hook sees every socket of this process, whoever opened it, and changes none.
    if event == "socket.getaddrinfo":
        _demand_loopback(arguments[0])
    elif event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        address = arguments[1]
        if isinstance(address, tuple):
            _demand_loopback(address[0])


def _demand_loopback(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if not name or name == "localhost" or name.endswith(".localhost") or _is_local(name):
        return
    msg = f"a test reached for {name}: serve the real thing on loopback instead"
    raise NetworkForbiddenError(msg)


def _is_local(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


_clean_environment()
sys.addaudithook(_forbid_network)
settings.register_profile("house", deadline=None)  # two busy cores say nothing about an example
settings.load_profile("house")


@pytest.fixture
def free_port() -> int:
    return unused_port()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Starts with the first test that asks for it; one per worker process."""
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server
