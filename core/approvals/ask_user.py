"""`ask_user`: an agent asks people a question and waits for the answer (agent.md Q1, Q2)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.errors import InvalidInput
from core.tools.function import tool
from core.tools.tool import ToolContext

SelectionMode = Literal["single_select", "multi_select"]


class Option(BaseModel):
    """One answer that is offered."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(min_length=1)
    description: str | None = None


@tool(idempotent=True)
async def ask_user(
    question: Annotated[str, Field(min_length=1)],
    context: ToolContext,
    options: list[Option] | None = None,
    selectionMode: SelectionMode | None = None,  # noqa: N803 - the name the model is given
) -> Any:
    """Ask the people here a question and wait for their answer, free text or one of the options."""
    if selectionMode is not None and not options:
        raise ValueError("selectionMode needs options to select from")
    mode = selectionMode or ("single_select" if options else None)
    if context.resumed:
        return {"answer": read_answer(context.resume_data)}
    offered = [option.model_dump(exclude_none=True) for option in options or ()]
    if not context.can_suspend:
        return _in_words(question, [option["label"] for option in offered], mode)
    payload = {"question": question, "options": offered, "selectionMode": mode}
    await context.suspend(payload, kind="question")
    return None


def read_answer(data: Any) -> str:
    """Return an answer as one text; several selections are joined by comma and space (Q2).

    Raises:
        InvalidInput: it is neither a text nor a list of texts; the question keeps waiting.
    """
    if isinstance(data, str):
        return data
    if isinstance(data, Sequence) and data and all(isinstance(item, str) for item in data):
        return ", ".join(data)
    raise InvalidInput(
        "the answer must be a text or a list of texts", fields={"data": "neither text nor texts"}
    )


def _in_words(question: str, labels: list[str], mode: SelectionMode | None) -> str:
    choices = f" Options ({mode}): {', '.join(labels)}." if labels else ""
    return (
        f"Nobody can be asked here, there is no run to pause. The question was: {question}{choices}"
    )
