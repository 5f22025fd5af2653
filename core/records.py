"""Records: the base of everything that is stored or sent."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Record(BaseModel):
    """A frozen pydantic model: snake_case in Python, camelCase in stored and sent JSON.

    Unknown keys are refused, so that a typing error is heard of where it is made.
    """

    # Frozen, so that what was read in one step cannot be changed by another.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )
