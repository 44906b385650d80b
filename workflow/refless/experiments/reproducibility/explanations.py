"""Why a published number and ours differ, cell by cell: a cause that was tested, or that none is
known. What each word means is in ``report/names.yaml``.

Stage: table. In: a row of a finished table and how its cells agree. Out: a word of `CAUSES`, or the
words for why a row has no numbers.
"""

from collections.abc import Mapping
from typing import Any

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE
from refless.models.rnn_qe.names import SCHEDULES, SHORT

UNKNOWN_FOLDS = "unknown_folds"
UNEVEN_FOLDS = "uneven_folds"
OTHER_DATA = "other_data"
SCHEDULE = "schedule"
SCHEDULE_UNTRIED = "schedule_untried"
MAY_BE_CHANCE = "may_be_chance"
NOT_KNOWN = "not_known"
CAUSES = (
    UNKNOWN_FOLDS,
    UNEVEN_FOLDS,
    OTHER_DATA,
    SCHEDULE,
    SCHEDULE_UNTRIED,
    MAY_BE_CHANCE,
    NOT_KNOWN,
)


def explanation(row: Mapping[Any, Any], agreement: str, short: str = "", within: str = "") -> str:
    """Return the word for why a cell of a row is not equal to the published one; empty where it is.

    agreement : of the cell
    short : of a network by the paper's schedule: how the same cell agrees by the short one
    within : ``yes`` or ``no``: whether random divisions give the published number

    A row whose table gives an ``explanation`` keeps that. Networks learn from other folds and
    seeds, so a difference inside the interval may be chance. Nothing is drawn for other rows, so
    there the cause of a difference inside the interval is not known.

    >>> explanation({"schedule": "paper"}, "inside", short="outside")
    'schedule'
    >>> explanation({"schedule": ""}, "inside", within="yes")
    'unknown_folds'
    """
    if agreement == EQUAL:
        return ""
    if agreement == ABSENT:
        return str(row.get("reason", ""))
    if row.get("explanation"):
        return str(row["explanation"])
    schedule = row.get("schedule", "")
    if schedule not in SCHEDULES:
        return UNKNOWN_FOLDS if within == "yes" else NOT_KNOWN
    if agreement == INSIDE:
        return SCHEDULE if short == OUTSIDE else MAY_BE_CHANCE
    return SCHEDULE_UNTRIED if schedule == SHORT else NOT_KNOWN
