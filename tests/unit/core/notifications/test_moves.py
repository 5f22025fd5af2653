"""Which status may follow which."""

from datetime import timedelta

import pytest

from core.errors import InvalidInput
from core.notifications.moves import LEGAL_MOVES, move
from core.notifications.notification import NotificationStatus
from tests.unit.core.notifications.rows import NOW, a_row

LATER = NOW + timedelta(minutes=1)
ALL = [(one, other) for one in NotificationStatus for other in NotificationStatus if one != other]
LEGAL = [(one, other) for one, other in ALL if other in LEGAL_MOVES[one]]
ILLEGAL = [pair for pair in ALL if pair not in LEGAL]
FINAL = {"archived", "dismissed", "discarded", "failed"}


@pytest.mark.parametrize(("before", "after"), LEGAL)
def test_a_legal_move_stamps_its_own_time(before, after):
    moved = move(a_row(status=before), after, LATER)
    stamped = getattr(moved, f"{after}_at", LATER)
    assert (moved.status, moved.updated_at, stamped) == (after, LATER, LATER)


@pytest.mark.parametrize(("before", "after"), ILLEGAL)
def test_an_illegal_move_says_from_where_to_where(before, after):
    with pytest.raises(InvalidInput, match=f"n1 is {before} and cannot become {after}"):
        move(a_row(status=before), after, LATER)


def test_what_is_over_stays_over():
    assert {status.value for status in NotificationStatus if not LEGAL_MOVES[status]} == FINAL


@pytest.mark.parametrize("status", NotificationStatus)
def test_a_second_click_changes_nothing(status):
    row = a_row(status=status)
    assert move(row, status, LATER) is row
