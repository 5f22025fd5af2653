"""Blocks: what Slack refuses in the blocks of a message or a view, with its own words.

Lengths and counts are those of channels.md 2.1; slack_sdk's validators give a second opinion on
the shape. An unknown type, which the SDK drops silently, is an error here as it is at Slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block as SdkBlock

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MARKDOWN_TOTAL = 13_200
TABLE_CHARACTERS = 10_000

Block = dict[str, Any]
Check = Callable[[Block, str], Iterator[str]]

_KNOWN = frozenset(
    [
        "actions",
        "alert",
        "call",
        "card",
        "carousel",
        "container",
        "context",
        "context_actions",
        "divider",
        "file",
        "header",
        "image",
        "input",
        "markdown",
        "plan",
        "rich_text",
        "section",
        "table",
        "task_card",
        "video",
    ]
)
_MESSAGE_ONLY = frozenset(["markdown", "table", "context_actions", "task_card", "plan"])
_ELEMENTS = frozenset(
    [
        "button",
        "checkboxes",
        "channels_select",
        "conversations_select",
        "datepicker",
        "datetimepicker",
        "email_text_input",
        "external_select",
        "feedback_buttons",
        "file_input",
        "icon_button",
        "image",
        "multi_channels_select",
        "multi_conversations_select",
        "multi_external_select",
        "multi_static_select",
        "multi_users_select",
        "number_input",
        "overflow",
        "plain_text_input",
        "radio_buttons",
        "rich_text_input",
        "static_select",
        "timepicker",
        "url_text_input",
        "users_select",
        "workflow_button",
    ]
)


def check_message_blocks(blocks: object) -> list[str]:
    """Return what is wrong with a message's blocks; nothing means Slack takes them."""
    return _check(blocks, "/blocks", most=MESSAGE_BLOCKS)


def check_view_blocks(blocks: object) -> list[str]:
    """Return what is wrong with a view's blocks."""
    errors = _check(blocks, "/view/blocks", most=VIEW_BLOCKS)
    for index, block in enumerate(_dicts(blocks)):
        if block.get("type") in _MESSAGE_ONLY:
            errors.append(_error("unsupported type for a view", f"/view/blocks/{index}/type"))
    return errors


def markdown_characters(blocks: Iterable[Block]) -> int:
    """Return how much markdown the blocks carry together (the ceiling of a whole message)."""
    return sum(len(str(block.get("text"))) for block in blocks if block.get("type") == "markdown")


def interactive_elements(blocks: Iterable[Block]) -> Iterator[tuple[Block, Block]]:
    """Yield every element with an action_id together with the block it is in."""
    for block in blocks:
        for element in _elements(block):
            if "action_id" in element:
                yield block, element


def with_block_ids(blocks: Iterable[Block], *, prefix: str) -> list[Block]:
    """Return copies in which every block has an id, as Slack stores them."""
    return [
        {**block, "block_id": block.get("block_id") or f"{prefix}{index}"}
        for index, block in enumerate(blocks)
    ]


def _check(blocks: object, pointer: str, *, most: int) -> list[str]:
    if not isinstance(blocks, list):
        return [_error("must be an array", pointer)]
    if len(blocks) > most:
        return [_error(f"no more than {most} items allowed", pointer)]
    errors: list[str] = []
    for index, block in enumerate(blocks):
        errors.extend(_check_block(block, f"{pointer}/{index}"))
    errors.extend(_duplicates(_dicts(blocks), pointer))
    return errors


def _check_block(block: object, pointer: str) -> Iterator[str]:
    if not isinstance(block, dict):
        yield _error("must be an object", pointer)
        return
    kind = str(block.get("type"))
    if kind not in _KNOWN:
        yield _error(f"unsupported type: {kind}", f"{pointer}/type")
        return
    yield from _longest(block, "block_id", 255, pointer)
    own = list(_CHECKS.get(kind, _no_check)(block, pointer))
    for place, element in _placed_elements(block, pointer):
        own.extend(_check_element(element, place))
    yield from own or _sdk_opinion(block, pointer)


def _check_section(block: Block, pointer: str) -> Iterator[str]:
    if "text" not in block and not block.get("fields"):
        yield _error("missing required field: text", pointer)
    yield from _check_text(block.get("text"), 3000, f"{pointer}/text")
    fields = _list(block.get("fields"))
    if len(fields) > 10:
        yield _error("no more than 10 items allowed", f"{pointer}/fields")
    for index, field in enumerate(fields):
        yield from _check_text(field, 2000, f"{pointer}/fields/{index}")


def _check_header(block: Block, pointer: str) -> Iterator[str]:
    yield from _check_required_text(block, "text", 150, pointer)
    if _kind_of(block.get("text")) == "mrkdwn":
        yield _error("must be plain_text", f"{pointer}/text/type")


def _check_actions(block: Block, pointer: str) -> Iterator[str]:
    yield from _check_elements(block, 25, pointer)
    for index, element in enumerate(_dicts(block.get("elements"))):
        if "action_id" not in element:
            yield _error("missing required field: action_id", f"{pointer}/elements/{index}")


def _check_context(block: Block, pointer: str) -> Iterator[str]:
    yield from _check_elements(block, 10, pointer)
    for index, element in enumerate(_dicts(block.get("elements"))):
        if element.get("type") in ("mrkdwn", "plain_text"):
            yield from _check_text(element, 3000, f"{pointer}/elements/{index}")


def _check_context_actions(block: Block, pointer: str) -> Iterator[str]:
    yield from _check_elements(block, 5, pointer)


def _check_markdown(block: Block, pointer: str) -> Iterator[str]:
    if not isinstance(block.get("text"), str) or not block["text"]:
        yield _error("missing required field: text", pointer)
    yield from _longest(block, "text", 12_000, pointer)


def _check_image(block: Block, pointer: str) -> Iterator[str]:
    if "alt_text" not in block:
        yield _error("missing required field: alt_text", pointer)
    yield from _longest(block, "alt_text", 2000, pointer)
    yield from _longest(block, "image_url", 3000, pointer)


def _check_input(block: Block, pointer: str) -> Iterator[str]:
    yield from _check_required_text(block, "label", 2000, pointer)
    yield from _check_text(block.get("hint"), 2000, f"{pointer}/hint")
    if not isinstance(block.get("element"), dict):
        yield _error("missing required field: element", pointer)


def _check_table(block: Block, pointer: str) -> Iterator[str]:
    rows = [_list(row) for row in _list(block.get("rows"))]
    if not 1 <= len(rows) <= 100:
        yield _error("must have between 1 and 100 rows", f"{pointer}/rows")
    if any(len(row) > 20 for row in rows):
        yield _error("no more than 20 columns allowed", f"{pointer}/rows")
    texts = [str(cell.get("text", "-")) for row in rows for cell in _dicts(row)]
    if any(not text for text in texts):
        yield _error("must be more than 0 characters", f"{pointer}/rows")
    if sum(map(len, texts)) > TABLE_CHARACTERS:
        yield _error(f"no more than {TABLE_CHARACTERS} characters allowed", f"{pointer}/rows")


def _no_check(_block: Block, _pointer: str) -> Iterator[str]:
    return iter(())


_CHECKS: dict[str, Check] = {
    "actions": _check_actions,
    "context": _check_context,
    "context_actions": _check_context_actions,
    "header": _check_header,
    "image": _check_image,
    "input": _check_input,
    "markdown": _check_markdown,
    "section": _check_section,
    "table": _check_table,
}


def _check_element(element: Block, pointer: str) -> Iterator[str]:
    kind = element.get("type")
    if kind in ("mrkdwn", "plain_text"):
        return
    if kind not in _ELEMENTS:
        yield _error(f"unsupported type: {kind}", f"{pointer}/type")
    yield from _longest(element, "action_id", 255, pointer)
    if element.get("action_id") == "":
        yield _error("must be more than 0 characters", f"{pointer}/action_id")
    yield from _check_text(element.get("placeholder"), 150, f"{pointer}/placeholder")
    yield from _check_confirm(element.get("confirm"), f"{pointer}/confirm")
    if kind == "button":
        yield from _check_button(element, pointer)
    if "options" in element:
        yield from _check_options(element, pointer)


def _check_button(button: Block, pointer: str) -> Iterator[str]:
    yield from _check_required_text(button, "text", 75, pointer)
    yield from _longest(button, "value", 2000, pointer)
    yield from _longest(button, "url", 3000, pointer)
    if button.get("style", "primary") not in ("primary", "danger"):
        yield _error("must be a valid enum value", f"{pointer}/style")


def _check_options(element: Block, pointer: str) -> Iterator[str]:
    options = _dicts(element["options"])
    small = element.get("type") in ("radio_buttons", "checkboxes")
    most = 10 if small else 5 if element.get("type") == "overflow" else 100
    if not 1 <= len(options) <= most:
        yield _error(f"must have between 1 and {most} items", f"{pointer}/options")
    for index, option in enumerate(options):
        place = f"{pointer}/options/{index}"
        yield from _check_required_text(option, "text", 75, place)
        yield from _check_text(option.get("description"), 75, f"{place}/description")
        yield from _longest(option, "value", 150, place)


def _check_confirm(confirm: object, pointer: str) -> Iterator[str]:
    if not isinstance(confirm, dict):
        return
    for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        yield from _check_text(confirm.get(name), most, f"{pointer}/{name}")


def _check_elements(block: Block, most: int, pointer: str) -> Iterator[str]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        yield _error("must provide at least one element", f"{pointer}/elements")
    elif len(elements) > most:
        yield _error(f"no more than {most} items allowed", f"{pointer}/elements")


def _check_required_text(owner: Block, name: str, most: int, pointer: str) -> Iterator[str]:
    if name not in owner:
        yield _error(f"missing required field: {name}", pointer)
        return
    yield from _check_text(owner[name], most, f"{pointer}/{name}")


def _check_text(text: object, most: int, pointer: str) -> Iterator[str]:
    if text is None:
        return
    if _kind_of(text) not in ("mrkdwn", "plain_text"):
        yield _error("must be a text object", pointer)
        return
    assert isinstance(text, dict)
    if not text.get("text"):
        yield _error("must be more than 0 characters", f"{pointer}/text")
    yield from _longest(text, "text", most, pointer)


def _longest(owner: Block, name: str, most: int, pointer: str) -> Iterator[str]:
    if len(str(owner.get(name, ""))) > most:
        yield _error(f"must be less than {most + 1} characters", f"{pointer}/{name}")


def _duplicates(blocks: list[Block], pointer: str) -> Iterator[str]:
    action_ids = [element["action_id"] for _, element in interactive_elements(blocks)]
    block_ids = [block["block_id"] for block in blocks if block.get("block_id")]
    for name, ids in (("action_id", action_ids), ("block_id", block_ids)):
        for identifier in sorted({each for each in ids if ids.count(each) > 1}):
            yield _error(f'`{name}` "{identifier}" already exists for another element', pointer)


def _sdk_opinion(block: Block, pointer: str) -> Iterator[str]:
    try:
        parsed = SdkBlock.parse(block)
        if parsed is not None:
            parsed.to_dict()
    except (SlackObjectFormationError, TypeError, AttributeError) as error:
        yield _error(str(error), pointer)


def _elements(block: Block) -> list[Block]:
    return [element for _, element in _placed_elements(block, "")]


def _placed_elements(block: Block, pointer: str) -> Iterator[tuple[str, Block]]:
    if block.get("type") in ("actions", "context", "context_actions"):
        for index, element in enumerate(_dicts(block.get("elements"))):
            yield f"{pointer}/elements/{index}", element
    for name in ("accessory", "element"):
        if isinstance(block.get(name), dict):
            yield f"{pointer}/{name}", block[name]


def _dicts(values: object) -> list[Block]:
    return [value for value in _list(values) if isinstance(value, dict)]


def _list(values: object) -> list[Any]:
    return values if isinstance(values, list) else []


def _kind_of(text: object) -> str:
    return str(text.get("type")) if isinstance(text, dict) else ""


def _error(message: str, pointer: str) -> str:
    return f"[ERROR] {message} [json-pointer:{pointer}]"
