"""Errors: one tree, each with a word for programs and a sentence for people."""

import inspect
import re

import pytest

from core import errors
from core.errors import AlreadyDecided, DeliveryError, InterlockError, InvalidInput, ModelError
from core.testing import NOON

TREE = [
    found
    for _, found in inspect.getmembers(errors, inspect.isclass)
    if issubclass(found, Exception)
]


def test_every_error_stands_in_the_one_tree_and_in_its_drawing():
    drawn = set(re.findall(r"\w+", errors.__doc__))
    subclassed = {"ModelAuthError", "ModelRateLimited", "ModelTimeout", "ModelOutputError"}
    assert all(issubclass(found, InterlockError) for found in TREE)
    assert {found.__name__ for found in TREE} - drawn <= subclassed


def test_every_error_has_a_word_of_its_own():
    codes = [found.code for found in TREE]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z_]+", code) for code in codes)


def test_wrong_fields_are_named_and_kept_apart():
    fields = {"a": "missing"}
    problem = InvalidInput("no", fields=fields)
    fields["b"] = "later"
    assert problem.fields == {"a": "missing"}
    assert InvalidInput("no").fields == {}


def test_who_came_too_late_learns_by_whom_and_when():
    problem = AlreadyDecided("decided", by="Ada", at=NOON, outcome="approved")
    assert (problem.by, problem.at, problem.outcome) == ("Ada", NOON, "approved")


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (ModelError("busy", retryable=True, retry_after=3), (True, 3)),
        (ModelError("no"), (False, None)),
    ],
)
def test_a_model_error_says_whether_asking_again_may_help(problem, told):
    assert (problem.retryable, problem.retry_after) == told


def test_a_delivery_error_says_what_the_sender_must_do_next():
    lost = DeliveryError("lost", uncertain=True)
    assert (lost.permanent, lost.uncertain, lost.retry_after) == (False, True, None)
