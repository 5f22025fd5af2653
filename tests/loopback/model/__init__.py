"""A model server on loopback: speaks the OpenAI protocol, says what a test scripted."""

from tests.loopback.model.client import LoopbackModel, running_model
from tests.loopback.model.script import Call, Rule, Say

__all__ = ["Call", "LoopbackModel", "Rule", "Say", "running_model"]
