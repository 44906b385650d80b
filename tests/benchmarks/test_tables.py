"""The recorded benchmarks as tables: that they say what the records say, and refuse others."""

from __future__ import annotations

import copy
import re
import statistics
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from refless.errors import FormatError
from refless.report.benchmarks import PARTS, beside_peers, growth, peer_table, readme
from refless.store.files import read_json

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "resources/benchmarks"


@pytest.fixture
def records() -> dict[str, Any]:
    return {name: read_json(RECORDS / f"{name}.json") for name in PARTS}


def row(table: pd.DataFrame, **chosen: Any) -> Any:
    for column, value in chosen.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_every_ratio_of_the_records_is_a_row(records: dict[str, Any]) -> None:
    table = beside_peers(records)
    counts = table["part"].value_counts()
    ratios = sum(len(one["ratios"]) for one in records["kernels"]["peers"])
    assert counts["kernels"] == ratios + 2 + len(records["kernels"]["left_out"])  # two floors
    assert counts["ΔBLEU"] == len(records["delta_bleu"]["rows"])
    assert counts["RNN-QE"] == len(records["rnn_qe"]["ratio"])
    assert table[["processor", "load_before", "date"]].notna().all(axis=None)
    assert set(table["provenance"]) <= {"shipped", ""}


def test_numbers_are_those_of_the_record(records: dict[str, Any]) -> None:
    table = beside_peers(records)
    one = records["kernels"]["peers"][0]
    ratio = next(r for r in one["ratios"] if (r["what"], r["threads"]) == ("kernel", 1))
    peer = 1e6 * statistics.median(one["peers"][0]["seconds"])
    found = row(table, what=f"{one['kernel']}, matrix", threads=1, peer=ratio["peer"])
    assert found["times_as_fast"] == pytest.approx(ratio["median"], rel=0.005)
    assert found["times_as_fast_low"] == pytest.approx(ratio["least"], rel=0.005)
    assert found["times_as_fast_high"] == pytest.approx(ratio["most"], rel=0.005)
    assert found["peer_microseconds"] == pytest.approx(peer, rel=0.005)
    floor = table[table["peer"].str.contains("one at a time") & (table["part"] == "kernels")]
    median = records["kernels"]["floor"]["ours_to_scalar"]["median"]
    assert floor["times_as_fast"].item() == pytest.approx(1 / median, rel=0.005)
    rates = records["rnn_qe"]["instances_per_second"]
    best = max(rate["clock"] for name, rate in rates.items() if name.startswith("torch"))
    trained = table[table["part"] == "RNN-QE"]
    assert trained["peer_microseconds"].unique() == pytest.approx([1e6 / best], rel=0.005)


def test_a_ratio_below_nought_is_lost_in_noise(records: dict[str, Any]) -> None:
    records["kernels"]["peers"][0]["ratios"][0]["least"] = -1.0
    records["kernels"]["left_out"] = {"bleu.word": "no peer is installed"}
    table = beside_peers(records)
    assert table.loc[0, ["times_as_fast", "times_as_fast_low"]].isna().all()
    assert table.loc[0, "note"][-1] == "the ratio is lost in noise"
    left = row(table, what="bleu.word")
    assert left["note"] == ["left out: no peer is installed"]
    assert left["provenance"] == ""


def test_growth_is_that_of_the_record(records: dict[str, Any]) -> None:
    table = growth(records["kernels"])
    first = records["kernels"]["growth"][0]
    seconds = statistics.median(first["seconds"])
    assert len(table) == len(records["kernels"]["growth"])
    assert table.loc[0, "seconds"] == pytest.approx(seconds, rel=0.005)
    pair = 1e9 * seconds / first["n"] ** 2
    assert table.loc[0, "nanoseconds_a_pair"] == pytest.approx(pair, rel=0.005)
    assert table.loc[0, "texts"] == first["n"]


@pytest.mark.parametrize(
    ("name", "key"),
    [("kernels", "peers"), ("delta_bleu", "scores"), ("rnn_qe", "ratio"), ("rnn_qe", "machine")],
)
def test_a_record_that_lacks_something_is_named(
    records: dict[str, Any], name: str, key: str
) -> None:
    broken = copy.deepcopy(records)
    del broken[name][key]
    with pytest.raises(FormatError, match=key) as error:
        beside_peers(broken)
    assert f"{name}.json" in str(error.value)


def test_for_reading_every_peer_is_a_line(records: dict[str, Any]) -> None:
    def rows() -> list[str]:
        table = peer_table(records)
        assert table.count("Recorded on") == len(records)
        return [line for line in table.splitlines() if line.startswith("|")][2:]

    lines = rows()
    assert len(lines) == beside_peers(records)["peer"].notna().sum()
    assert lines[0].startswith("| bleu.char, matrix | nltk | 1 |")
    records["kernels"]["peers"][0]["ratios"][0]["least"] = -1.0
    assert rows()[0].endswith("| lost in noise |")
    records["kernels"]["left_out"] = {"bleu.word": "no peer is installed"}
    assert "`bleu.word` was left out: no peer is installed." in readme(records["kernels"])


def test_the_page_of_speed_quotes_the_records(records: dict[str, Any]) -> None:
    text = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    assert readme(records["kernels"]) in text
    assert peer_table({"delta_bleu": records["delta_bleu"]}) in text
    assert re.search(r"/(work|home|root|tmp)\b", str(records)) is None
