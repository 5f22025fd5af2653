"""The litellm client: its errors in our tree, and its silence."""

import logging

import pytest

from adapters.models.litellm import LiteLLMModel, LiteLLMTarget, close_clients, prepare, translate
from adapters.models.names import parse_name
from core.errors import (
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimited,
    ModelTimeout,
)

WHERE = "the model groq/x"


@pytest.fixture
async def litellm():
    yield await prepare()
    await close_clients()


class Refused(Exception):
    """A vendor's error with a status, as most of them are."""

    def __init__(self, status, message="GroqException - No.", headers=None):
        super().__init__(message)
        self.status_code = status
        self.message = message
        self.litellm_response_headers = headers


def test_an_error_of_our_own_passes_through():
    error = ModelOutputError("too long")
    assert translate(error, where=WHERE) is error


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ModelAuthError), (403, ModelAuthError), (429, ModelRateLimited), (500, ModelError)],
)
def test_a_status_means_what_it_means_everywhere(status, kind):
    assert type(translate(Refused(status), where=WHERE)) is kind


def test_the_providers_own_words_are_told_without_wrappings():
    message = 'litellm.BadRequestError: GroqException - {"error": {"message": "Too many tools."}}'
    assert str(translate(Refused(400, message), where=WHERE)) == (
        f"{WHERE} answered 400: Too many tools."
    )


def test_how_long_to_wait_is_found_where_litellm_hides_it():
    error = translate(Refused(429, headers={"Retry-After": "4"}), where=WHERE)
    assert error.retry_after == 4


def test_an_error_of_no_kind_is_final():
    error = translate(ValueError("strange"), where=WHERE)
    assert type(error) is ModelError
    assert not error.retryable


def test_an_error_that_caused_itself_ends_all_the_same():
    error = ValueError("circle")
    error.original_exception = error
    assert "circle" in str(translate(error, where=WHERE))


async def test_every_error_that_litellm_names_has_a_place_in_our_tree(litellm):
    found = {}
    for name, kind in vars(litellm.exceptions).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            error = kind.__new__(kind)
            error.message = "No."
            found[name] = translate(error, where=WHERE)
    assert len(found) > 20
    assert all(isinstance(error, ModelError) for error in found.values())
    assert isinstance(found["Timeout"], ModelTimeout)


async def test_it_keeps_quiet(litellm, capfd):
    assert litellm.suppress_debug_info
    assert litellm.callbacks == litellm.success_callback == litellm.failure_callback == []
    logging.getLogger("LiteLLM").error("noise")
    assert capfd.readouterr() == ("", "")


async def test_it_is_imported_once(litellm):
    model = LiteLLMModel(LiteLLMTarget(name=parse_name("groq/x")))
    await model.prepare()
    assert await prepare() is litellm
