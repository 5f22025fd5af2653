"""Functions as tools: `@tool` reads the schema from type hints, the words from the docstring."""

import inspect
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, get_args, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from core.tools.tool import TOOL_TIMEOUT, Tool, ToolContext

Function = Callable[..., Awaitable[Any]]
_PREFIX = "given_"
"""Keeps parameters called `json` or `copy` apart from what a pydantic model has by those names."""
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    id: str | None = None,
    description: str | None = None,
    idempotent: bool = False,
    timeout: timedelta = TOOL_TIMEOUT,
    to_model: Callable[[Any], Any] | None = None,
) -> Callable[[Function], Tool]: ...


def tool(function: Function | None = None, /, **options: Any) -> Tool | Callable[[Function], Tool]:
    """Make a Tool of an async function.

    Parameters become the input schema; one annotated `ToolContext` gets the call's context
    instead. The first paragraph of the docstring is what the model reads.

    Options: `id` (default: the function's name), `description`, `idempotent`, `timeout`,
    `to_model`.

    Raises:
        TypeError: the function is not async, or a parameter has no type or cannot be given by name.
    """
    if function is not None:
        return _build(function, options)
    return lambda wrapped: _build(wrapped, dict(options))


def _build(function: Function, options: dict[str, Any]) -> Tool:
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"tool {function.__name__} must be an async function")
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    # Found by its type, so that the parameter may have any name.
    context_name = next((name for name, hint in hints.items() if _is_context(hint)), None)
    model = _input_model(function, hints, context_name)
    name = options.pop("id", None) or function.__name__
    description = options.pop("description", None) or _summary(function)
    return Tool(
        id=name,
        description=description,
        parameters=_schema(model),
        execute=_caller(function, context_name),
        validator=TypeAdapter(model),
        **options,
    )


def _input_model(
    function: Function, hints: dict[str, Any], context_name: str | None
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == context_name:
            continue
        if name not in hints:
            raise TypeError(f"parameter {name} of tool {function.__name__} has no type")
        if parameter.kind not in _BY_NAME:
            raise TypeError(f"parameter {name} of tool {function.__name__} has no name to give it")
        required = parameter.default is inspect.Parameter.empty
        fields[f"{_PREFIX}{name}"] = (hints[name], ... if required else parameter.default)
    config = ConfigDict(extra="forbid", alias_generator=_bare_name)
    return create_model(f"{function.__name__}_input", __config__=config, **fields)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("title", None)
    return schema


def _caller(
    function: Function, context_name: str | None
) -> Callable[[Any, ToolContext], Awaitable[Any]]:
    async def call(arguments: Any, context: ToolContext) -> Any:
        fields = type(arguments).model_fields
        values = {_bare_name(name): getattr(arguments, name) for name in fields}
        if context_name is not None:
            values[context_name] = context
        return await function(**values)

    return call


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or ToolContext in get_args(hint)


def _bare_name(field: str) -> str:
    return field.removeprefix(_PREFIX)


def _summary(function: Function) -> str:
    documentation = inspect.getdoc(function) or function.__name__.replace("_", " ")
    return " ".join(documentation.split("\n\n", 1)[0].split())
