"""Published cells beside ours: digits that were printed, intervals, gaps."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pandas as pd
import pytest

from refless.errors import FormatError
from refless.report.published import (
    EQUAL,
    INSIDE,
    MISSING,
    OUTSIDE,
    beside_published,
    compare,
    number,
    read_published,
    with_interval,
)
from refless.store.files import list_sums

PUBLISHED = Path(__file__).parents[2] / "resources/published"
NAN = float("nan")


@pytest.mark.parametrize(
    ("ours", "printed", "low", "high", "verdict"),
    [
        (0.3254, "0.325", 0.2, 0.4, EQUAL),
        (0.3246, "0.325", 0.2, 0.4, EQUAL),
        # at a half, either way of rounding is theirs
        (0.3255, "0.325", 0.2, 0.4, EQUAL),
        (0.3245, "0.325", 0.2, 0.4, EQUAL),
        (0.0205, "0.02", 0.0, 0.1, EQUAL),
        (0.32551, "0.325", 0.2, 0.4, INSIDE),
        (0.32449, "0.325", 0.2, 0.4, INSIDE),
        (0.32551, "0.325", 0.3252, 0.4, OUTSIDE),
        (0.2, "0.325", 0.1, 0.3, OUTSIDE),
        # the ends belong to the interval
        (0.2, "0.325", 0.1, 0.325, INSIDE),
        (0.4, "0.325", 0.325, 0.5, INSIDE),
        # without an interval, what is not equal lies outside
        (0.2, "0.325", NAN, NAN, OUTSIDE),
        (0.325, "0.325", NAN, NAN, EQUAL),
        # more printed digits are a stricter test
        (0.9949, "0.99", 0.98, 1.0, EQUAL),
        (0.9949, "0.990", 0.98, 1.0, INSIDE),
        (1.0, "1.00", 1.0, 1.0, EQUAL),
        (0.9951, "1.00", NAN, NAN, EQUAL),
        # negative values and whole numbers
        (-0.1284, "-0.128", -0.5, 0.2, EQUAL),
        (-0.1285, "-0.128", -0.5, 0.2, EQUAL),
        (0.1284, "-0.128", -0.5, 0.2, INSIDE),
        (0.1284, "-0.128", 0.0, 0.2, OUTSIDE),
        (1, "1", NAN, NAN, EQUAL),
        (0, "1", NAN, NAN, OUTSIDE),
        (39.4, "39", NAN, NAN, EQUAL),
        # nothing to compare
        (NAN, "0.325", NAN, NAN, MISSING),
        (0.3, "", 0.2, 0.4, MISSING),
        (0.3, "n/a", 0.2, 0.4, MISSING),
        (0.3, "nan", 0.2, 0.4, MISSING),
        (0.3, "inf", 0.2, 0.4, MISSING),
    ],
)
def test_compare(ours: float, printed: str, low: float, high: float, verdict: str) -> None:
    assert compare(ours, printed, low, high) == verdict


def cells(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(rows)


PAPER = pd.DataFrame(
    [
        {"model": "bleu", "task": "summarization", "mse": "0.0213", "spearman": "0.325"},
        {"model": "rouge", "task": "summarization", "mse": "0.0226", "spearman": ""},
    ]
)
KEYS, COLUMNS = ["model", "task"], ["mse", "spearman"]


@pytest.mark.parametrize(
    ("mse", "spearman", "verdict"),
    [
        (0.02132, 0.3251, EQUAL),
        (0.02132, 0.3300, INSIDE),
        (0.0300, 0.3251, OUTSIDE),
        (0.0300, 0.3300, OUTSIDE),
        (0.02132, NAN, MISSING),
        (0.0300, NAN, OUTSIDE),
    ],
)
def test_a_rows_agreement_is_that_of_its_weakest_cell(
    mse: float, spearman: float, verdict: str
) -> None:
    ours = {"model": "bleu", "task": "summarization", "mse": mse, "spearman": spearman}
    ours |= {"mse_low": 0.029, "mse_high": 0.031, "spearman_low": 0.2, "spearman_high": 0.4}
    found = beside_published(cells(ours), PAPER, KEYS, COLUMNS)
    assert found["agreement"].tolist() == [verdict]
    assert found["paper_mse"].tolist() == ["0.0213"]
    assert found["paper_spearman"].tolist() == ["0.325"]


def test_rows_keep_their_order_and_columns_and_may_lack_either_side() -> None:
    ours = cells(
        {"model": "ours", "task": "summarization", "mse": 0.02, "spearman": 0.3, "extra": 1},
        # the paper printed no rho for this one
        {"model": "rouge", "task": "summarization", "mse": 0.0226, "spearman": 0.7, "extra": 2},
        {"model": "bleu", "task": "summarization", "mse": NAN, "spearman": NAN, "extra": 3},
    )
    found = beside_published(ours, PAPER, KEYS, COLUMNS)
    assert found["model"].tolist() == ["ours", "rouge", "bleu"]
    assert found["extra"].tolist() == [1, 2, 3]
    assert found["agreement"].tolist() == ["", EQUAL, MISSING]
    assert found["paper_mse"].tolist() == ["", "0.0226", "0.0213"]
    assert found["paper_spearman"].tolist() == ["", "", "0.325"]


def test_a_key_that_is_a_number_finds_its_row() -> None:
    paper = pd.DataFrame([{"set": "4", "rho": "-0.128"}])
    found = beside_published(cells({"set": 4, "rho": -0.1279}), paper, ["set"], ["rho"])
    assert found["agreement"].tolist() == [EQUAL]


def test_cells_that_all_miss_a_column_are_not_available() -> None:
    ours = cells({"model": "bleu", "task": "summarization", "note": "no data"})
    found = beside_published(ours, PAPER, KEYS, COLUMNS)
    assert found["agreement"].tolist() == [MISSING]
    assert found["paper_spearman"].tolist() == ["0.325"]


# ---- the real tables --------------------------------------------------------------------------


def test_published_values_stay_as_they_were_printed() -> None:
    table = read_published(PUBLISHED / "bleu_neighbors_table1.csv", ["model", "task"])
    row = table[(table["model"] == "bleu") & (table["task"] == "dialogue")].iloc[0]
    # 0.470 and not 0.47: the digits say how exact the paper is
    assert row[["mse", "spearman", "coverage"]].tolist() == ["0.0164", "0.470", "0.76"]
    assert not table.duplicated(["model", "task"]).any()


PROSE = ("conditions",)
CELLS = [path for path in sorted(PUBLISHED.glob("*.csv")) if path.stem not in PROSE]


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"", "cannot be read"),
        (b"model,mse\nbleu,1\n", "task.*missing"),
    ],
)
def test_a_table_without_its_keys_is_named(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    list_sums(tmp_path, ".csv")
    with pytest.raises(FormatError, match=message) as caught:
        read_published(path, ["model", "task"])
    assert caught.value.path == str(path)


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A published value that comes with refless is edited",
    "refused",
    "`SHA256SUMS` beside it says which it was; the remedy says how to renew that, if it is meant",
)
def test_a_published_value_that_was_edited_is_refused(tmp_path: Path) -> None:
    for path in (*PUBLISHED.glob("*.csv"), PUBLISHED / "SHA256SUMS"):
        shutil.copy(path, tmp_path)
    path = tmp_path / "bleu_neighbors_table1.csv"
    read_published(path, [])
    raw = path.read_bytes()
    for place in range(len(raw)):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(FormatError) as caught:
            read_published(path, [])
    assert f"git -C {tmp_path} checkout" in caught.value.remedy
    path.write_bytes(raw)
    (tmp_path / "SHA256SUMS").unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        read_published(path, [])


# ---- for reading ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.3254, 3, "0.325"),
        (0.02, 4, "0.0200"),
        (-0.128, 2, "-0.13"),
        (1, 3, "1.000"),
        (NAN, 3, "–"),
        (None, 3, "–"),
        ("", 3, "–"),
    ],
)
def test_number(value: object, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.19, 0.447, "0.325 (0.190, 0.447)"),
        (NAN, NAN, "0.325"),
        (None, None, "0.325"),
        # an interval of no width says nothing
        (0.325, 0.325, "0.325"),
        (-0.1, 0.4, "0.325 (-0.100, 0.400)"),
    ],
)
def test_with_interval(low: float | None, high: float | None, shown: str) -> None:
    row = {"spearman": 0.3251, "spearman_low": low, "spearman_high": high}
    assert with_interval(row, "spearman") == shown
    assert with_interval(row | {"spearman": NAN}, "spearman") == "–"
    assert with_interval({"spearman": 0.3251}, "spearman") == "0.325"


def test_equal_is_what_rounding_to_the_printed_digits_says() -> None:
    """Away from the halves, the verdict is that of Python's own formatting."""
    for printed in ("0.3", "0.33", "0.333", "0.3330"):
        digits = len(printed) - 2
        for step in range(-40, 41):
            ours = float(printed) + step * 10.0**-digits / 16.3
            same = f"{ours:.{digits}f}" == printed
            assert (compare(ours, printed, NAN, NAN) == EQUAL) == same
            assert not math.isclose(abs(step) / 16.3, 0.5, abs_tol=1e-6)
