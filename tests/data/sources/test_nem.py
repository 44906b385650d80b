"""NEM: medians, metrics, names, every malformed row."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from scipy.stats import pearsonr

from refless.data.sources import nem
from refless.errors import FormatError

GOOD = {
    "dataset": "SFHOT",
    "system": "WEN",
    "mr": "inform(name='the inn',dogs_allowed='no')",
    "sys_ref": "the inn allows no dogs.",
    "informativeness": "6",
    "naturalness": "4.5",
    "quality": "3.5",
} | {name: str(n / 8) for n, name in enumerate(nem.METRICS)}


def table(*rows, names=(*GOOD, "domain")):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, names, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(GOOD | {"domain": "HOTEL"} | row for row in rows)
    return out.getvalue()


def test_a_row(write):
    rows = [{}, {"dataset": "BAGEL", "system": "Dusek"}, {"dataset": "SFRES", "system": "LOLS"}]
    loaded = nem.load(write(table(*rows))).check()
    assert not loaded.problems
    assert loaded.ratings.empty
    texts = loaded.texts
    assert texts["id"].tolist() == ["nem:0001", "nem:0002", "nem:0003"]
    assert texts["dataset"].tolist() == ["sfhot", "bagel", "sfrest"]
    assert texts["system"].tolist() == ["RNNLG", "TGen", "LOLS"]
    assert texts["quality"].tolist() == [0.5] * 3
    assert texts["n_ratings"].tolist() == [3] * 3
    first = texts.iloc[0]
    assert first["context"] == GOOD["mr"]
    assert first["text"] == "the inn allows no dogs."
    assert first["mr_key"] == "inform(name=the inn;dogsallowed=no)"
    assert first["mr_set"] == "inform(dogsallowed=no;name=the inn)"
    assert first["median_informativeness"] == 6
    assert first["median_naturalness"] == 4.5
    assert first["median_quality"] == 3.5
    assert first[list(nem.METRICS)].tolist() == [n / 8 for n in range(len(nem.METRICS))]


def test_ends_of_the_scale_and_tiny_or_empty_metrics(write):
    tiny = {"quality": "1", "Bleu_4": "6.15E-013", "CIDEr": " ", "NIST": "NA"}
    texts = nem.load(write(table(tiny, {"quality": "6"}, {"quality": "5.5"}))).texts
    assert texts["quality"].tolist() == [0, 1, 0.9]
    assert texts["Bleu_4"][0] == 6.15e-13
    assert math.isnan(texts["CIDEr"][0])
    assert math.isnan(texts["NIST"][0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "E2E"}, "unknown data set 'E2E'"),
        ({"system": "wen"}, "unknown system 'wen'"),
        ({"sys_ref": ""}, "the text is empty"),
        ({"quality": "0.5"}, "quality '0.5' is not 1, 1.5, ... 6"),
        ({"quality": "4.3"}, "quality '4.3' is not 1, 1.5, ... 6"),
        ({"quality": "nan"}, "quality 'nan' is not 1, 1.5, ... 6"),
        ({"naturalness": "inf"}, "naturalness 'inf' is not 1, 1.5, ... 6"),
        ({"METEOR": "x"}, "METEOR 'x' is no number"),
        ({"mr": "hello"}, "this is no meaning representation: 'hello'"),
    ],
)
def test_malformed_rows_keep_their_numbers(write, change, message):
    content = table({"sys_ref": "two\nlines"}, change, {})
    loaded = nem.load(write(content)).check()
    assert [(p.line, p.message) for p in loaded.problems] == [(4, message)]
    assert loaded.texts["id"].tolist() == ["nem:0001", "nem:0003"]


def test_rows_of_another_width(write):
    head, row = table({}).splitlines(keepends=True)
    bad = row.replace("WEN", "?")
    loaded = nem.load(write(head + bad + row.rstrip() + ',"more"\n' + '"few"\n' + row)).check()
    width = len(GOOD) + 1
    assert [(p.line, p.message) for p in loaded.problems] == [
        (2, "unknown system '?'"),
        (3, f"{width + 1} fields where the header has {width}"),
        (4, f"1 fields where the header has {width}"),
    ]
    assert loaded.texts["id"].tolist() == ["nem:0004"]


def test_files_of_another_kind(write):
    whole = table({}, {})
    for content, message in {
        "a,b\n1,2\n": "this is not NEM's file of medians: no column 'dataset'",
        whole.replace('"Bleu_4"', '"Bleu"'): "no column 'Bleu_4'",
        whole.split("\n")[0]: "a header and no rows",
        whole[:-20]: "cut short",
        "": "empty",
    }.items():
        with pytest.raises(FormatError, match=message) as caught:
            nem.load(write(content))
        assert "run again" in caught.value.remedy


@pytest.mark.slow
def test_the_real_medians(mirror):
    loaded = nem.load(mirror("nem/emnlp_data_medians.csv")).check().require_clean()
    texts = loaded.texts
    assert len(texts) == 2460
    assert texts.groupby(["dataset", "system"]).size().to_dict() == {
        ("bagel", "LOLS"): 202,
        ("bagel", "TGen"): 202,
        ("sfhot", "LOLS"): 398,
        ("sfhot", "RNNLG"): 477,
        ("sfrest", "LOLS"): 581,
        ("sfrest", "RNNLG"): 600,
    }
    error = texts["median_quality"] - 4.5
    assert np.abs(error).mean() == pytest.approx(1.013, abs=5e-4)
    assert np.sqrt((error**2).mean()) == pytest.approx(1.232, abs=5e-4)
    for metric, r in {"Bleu_4": 0.075, "METEOR": 0.098, "ROUGE_L": 0.081, "CIDEr": 0.064}.items():
        assert pearsonr(texts[metric], texts["quality"])[0] == pytest.approx(r, abs=5e-4)
    assert texts.duplicated(["context", "text"]).sum() == 90
    assert texts[list(nem.METRICS)].notna().all(axis=None)
