"""Codec: how a cell of a record looks in a column."""

from datetime import UTC, datetime, timedelta
from enum import Enum

from core.stores.tables import Cell

Stored = str | int | None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode(cell: Cell) -> Stored:
    """Return the value to bind: instants as microseconds since 1970 UTC, enums as their value."""
    if isinstance(cell, datetime):
        return (cell - _EPOCH) // _MICROSECOND
    if isinstance(cell, Enum):
        return str(cell.value)
    return cell
