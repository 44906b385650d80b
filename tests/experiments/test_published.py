"""Published cells beside ours: digits that were printed, intervals, gaps."""

from pathlib import Path

import pandas as pd
import pytest

from refless.errors import FormatError
from refless.experiments.published import (
    EQUAL,
    INSIDE,
    MISSING,
    OUTSIDE,
    beside_published,
    compare,
    read_published,
)
from tests.conftest import ROOT

PUBLISHED = ROOT / "resources/published"
NAN = float("nan")


@pytest.mark.parametrize(
    ("ours", "printed", "low", "high", "verdict"),
    [
        (0.3254, "0.325", 0.2, 0.4, EQUAL),
        # at a half, either way of rounding is theirs
        (0.3255, "0.325", 0.2, 0.4, EQUAL),
        (0.3245, "0.325", 0.2, 0.4, EQUAL),
        (0.32551, "0.325", 0.2, 0.4, INSIDE),
        (0.32551, "0.325", 0.3252, 0.4, OUTSIDE),
        (0.2, "0.325", 0.1, 0.3, OUTSIDE),
        # the ends belong to the interval
        (0.2, "0.325", 0.1, 0.325, INSIDE),
        # without an interval, what is not equal lies outside
        (0.2, "0.325", NAN, NAN, OUTSIDE),
        (0.325, "0.325", NAN, NAN, EQUAL),
        # more printed digits are stricter
        (0.9949, "0.99", 0.98, 1.0, EQUAL),
        (0.9949, "0.990", 0.98, 1.0, INSIDE),
        # negative values and whole numbers
        (-0.1285, "-0.128", -0.5, 0.2, EQUAL),
        (39.4, "39", NAN, NAN, EQUAL),
        # nothing to compare
        (NAN, "0.325", NAN, NAN, MISSING),
        (0.3, "", 0.2, 0.4, MISSING),
        (0.3, "inf", 0.2, 0.4, MISSING),
    ],
)
def test_compare(ours: float, printed: str, low: float, high: float, verdict: str) -> None:
    assert compare(ours, printed, low, high) == verdict


def test_rows_keep_their_order_and_may_lack_either_side() -> None:
    paper = pd.DataFrame({"model": ["bleu", "rouge"], "spearman": ["0.325", ""]})
    ours = pd.DataFrame({"model": ["ours", "rouge", "bleu"], "spearman": [0.3, 0.7, NAN]})
    found = beside_published(ours, paper, ["model"], ["spearman"])
    assert found["model"].tolist() == ["ours", "rouge", "bleu"]
    assert found["paper_spearman"].tolist() == ["", "", "0.325"]


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.csv")), ids=lambda path: path.stem)
def test_every_published_table_can_be_compared_with(path: Path) -> None:
    keys = {"model", "task", "source_task", "target_task", "train_topic"}
    keys |= {"metric", "references", "system", "setup", "configuration"}
    table = read_published(path, [])
    own = [column for column in table if column in keys]
    assert own
    assert not table.duplicated(own).any()
    for column in set(table) - keys:
        for printed in table[column]:
            # a slip of the pen would silently turn a cell into one that cannot be compared
            assert printed == "" or compare(0.5, printed, NAN, NAN) != MISSING, column


@pytest.mark.parametrize("content", [None, b"", b"model,mse\nbleu,1\n"])
def test_a_table_without_its_keys_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_published(path, ["model", "task"])
    assert caught.value.path == str(path)
