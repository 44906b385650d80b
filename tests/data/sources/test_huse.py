"""HUSE's Mechanical Turk batches: units, order, labels, every malformed row."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from refless.data.sources import huse
from refless.errors import FormatError

TASK = "huse_summarization"


def batch(rows, n_items=2, kinds=("IDX", "CTX", "TYPE", "OUT", "LOGP"), tail=("Approve",)):
    """A batch file. A row is (assignment, worker, items).

    An item is (idx, ctx, type, out, logp, label). As in real exports the Answer columns come in
    string order, and the empty last columns are in the header only.
    """
    names = ["HITId", "AssignmentId", "WorkerId"]
    names += [f"Input.{kind}{k}" for k in range(n_items) for kind in kinds]
    names += sorted(f"Answer.{k}" for k in range(n_items))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*names, *tail])
    for assignment, worker, items in rows:
        value = {"HITId": "hit", "AssignmentId": assignment, "WorkerId": worker}
        for k, item in enumerate(items):
            idx, ctx, kind, text, logp, label = item
            parts = {"IDX": idx, "CTX": ctx, "TYPE": kind, "OUT": text, "LOGP": logp}
            value |= {f"Input.{name}{k}": part for name, part in parts.items()}
            value[f"Answer.{k}"] = label
        writer.writerow([value[name] for name in names])
    return out.getvalue()


A = ("0", "a report", "SUM", "first one", "-4.5", "Typical")
B = ("1", "b report", "SUM", "shared one", "-2.25", "Rare")
B_HUMAN = ("1", "b report", "HUMAN_SUM", "shared one", "-2.25", "Very Typical")
C_HUMAN = ("0", "a report", "HUMAN_SUM", "third, one", "-9", "Invalid")
ROWS = [
    ("as1", "zoe", [A, B]),
    ("as2", "ann", [B_HUMAN, C_HUMAN]),
    ("as3", "zoe", [(*B_HUMAN[:5], "Average"), (*C_HUMAN[:5], "Specific")]),
]


def test_pairs_share_a_row_and_its_labels(write):
    loaded = huse.load(write(batch(ROWS)), TASK).check()
    assert not loaded.problems
    texts = loaded.texts
    assert texts["id"].tolist() == [f"{TASK}:0001", f"{TASK}:0002", f"{TASK}:0004"]
    assert texts["text"].tolist() == ["first one", "shared one", "third, one"]
    assert texts["context"].tolist() == ["a report", "b report", "a report"]
    assert texts["n_ratings"].tolist() == [1, 3, 2]
    assert texts["quality"].tolist() == [4 / 5, np.mean([1 / 5, 5 / 5, 3 / 5]), (0 + 2) / 5 / 2]
    assert texts["system"].tolist() == ["sum", "sum+human", "human"]
    assert texts["type"].tolist() == ["SUM", "SUM+HUMAN_SUM", "HUMAN_SUM"]
    assert texts["logp"].tolist() == [-4.5, -2.25, -9.0]
    assert texts["item"][1] == f"{TASK}:0002+{TASK}:0003"
    ratings = loaded.ratings
    assert ratings["id"].str[-1].tolist() == ["1", "2", "2", "4", "2", "4"]
    assert ratings["item"].str[-1].tolist() == ["1", "2", "3", "4", "3", "4"]
    assert ratings["rater"].tolist() == ["r001", "r001", "r002", "r002", "r001", "r001"]
    assert ratings["label"].tolist() == [4, 1, 5, 0, 3, 2]
    assert ratings["rating"].tolist() == [0.8, 0.2, 1.0, 0.0, 0.6, 0.4]


def test_items_stand_alone(write):
    texts = huse.load(write(batch(ROWS)), TASK, unit="item").check().texts
    assert texts["id"].str[-1].tolist() == ["1", "2", "3", "4"]
    assert texts["item"].tolist() == texts["id"].tolist()
    assert texts["n_ratings"].tolist() == [1, 1, 2, 2]
    assert texts["system"].tolist() == ["sum", "sum", "human", "human"]
    # one place in different tasks
    twins = [("0", "c", "SUM", "x", "-1", "Rare"), ("0", "d", "SUM", "x", "-1", "2")]
    texts = huse.load(write(batch([("as1", "w", twins)])), TASK, unit="item").texts
    assert texts["context"].tolist() == ["c", "d"]


def test_the_quality_is_the_mean_in_the_order_of_the_file(write):
    labels = [1, 2, 5, 3, 3, 4, 0, 5, 1, 2]
    item = ("0", "c", "SUM", "x", "-1")
    rows = [(f"as{n}", f"w{n}", [(*item, str(label))]) for n, label in enumerate(labels)]
    loaded = huse.load(write(batch(rows, n_items=1)), TASK)
    assert loaded.texts["quality"][0] == np.mean([label / 5 for label in labels])
    assert loaded.ratings["label"].tolist() == labels


def test_answers_are_found_by_name_with_more_than_ten_items(write):
    items = [(str(k), "c", "SUM", f"text {k}", "-1", str(k % 6)) for k in range(12)]
    content = batch([("as1", "w", items)], n_items=12)
    head = content.split("\r\n")[0].split(",")
    assert head.index("Answer.10") < head.index("Answer.2")  # the trap is there
    texts = huse.load(write(content), TASK).check().texts
    assert texts["text"].tolist() == [f"text {k}" for k in range(12)]
    assert texts["quality"].tolist() == [k % 6 / 5 for k in range(12)]


def test_labels(write):
    names = ["Invalid", "Rare", "Specific", "Average", "Typical", "Very Typical"]
    written = [*names, " very  TYPICAL ", "average", "0", " 5 "]
    rows = [(f"as{k}", "w", [(*A[:5], label)]) for k, label in enumerate(written)]
    loaded = huse.load(write(batch(rows, n_items=1)), TASK)
    assert not loaded.problems
    assert loaded.ratings["label"].tolist() == [0, 1, 2, 3, 4, 5, 5, 3, 0, 5]


def test_labels_that_are_none(write):
    written = ["", "6", "-1", "3.0", "Typicall", "nan", "5\0"]
    rows = [(f"as{k}", f"w{k}", [(*A[:5], label), B]) for k, label in enumerate(written)]
    loaded = huse.load(write(batch(rows)), TASK).check()
    assert [(p.line, p.message) for p in loaded.problems] == [
        (line, f"item 0: label {label!r}") for line, label in enumerate(written, start=2)
    ]
    # A text without usable label stays, unrated; ids and raters are what they would be without.
    assert loaded.texts["id"].tolist() == [f"{TASK}:0001", f"{TASK}:0002"]
    assert loaded.texts["n_ratings"].tolist() == [0, len(written)]
    assert math.isnan(loaded.texts["quality"][0])
    assert loaded.ratings["rater"].tolist() == [f"r00{k + 1}" for k in range(len(written))]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (("0", "c", "SUM", " ", "-1", "Rare"), "the text is empty"),
        (("0", "c", " ", "x", "-1", "Rare"), "the item has no type"),
        (("0", "c", "SUM", "x", "minus one", "Rare"), "LOGP 'minus one' is no number"),
        (("0", "c", "SUM", "x", "nan", "Rare"), "LOGP 'nan' is no number"),
        ((*A[:4], "-4.6", "Rare"), "LOGP '-4.6' differs from -4.5, this item's first"),
    ],
)
def test_malformed_items_are_problems_of_their_line(write, item, message):
    rows = [("as1", "w", [A, B]), ("as2", "v", [B, item]), ("as3", "v", [A, B])]
    loaded = huse.load(write(batch(rows)), TASK).check()
    assert [(p.line, p.message) for p in loaded.problems] == [(3, f"item 1: {message}")]
    assert len(loaded.ratings) == 5


def test_logp_may_be_infinite_or_empty_and_words_for_missing_are_texts(write):
    items = [("0", "NA", "SUM", "nan", "-inf", "1"), ("0", "", "SUM", " a\x07 ", " ", "1")]
    loaded = huse.load(write(batch([(n, "w", items) for n in ("as1", "as2")])), TASK)
    assert not loaded.problems
    texts = loaded.texts
    assert texts[["context", "text"]].to_numpy().tolist() == [["NA", "nan"], ["", " a\x07 "]]
    assert texts["n_ratings"].tolist() == [2, 2]
    assert texts["logp"][0] == -math.inf
    assert math.isnan(texts["logp"][1])


def test_malformed_rows_and_true_lines_after_quoted_line_feeds(write):
    long = ("0", "a report\r\nof three\r\nlines", "SUM", "x\ny", "-1", "Rare")
    rows = [
        ("as1", "w", [long, A]),  # lines 2 to 5
        ("as1", "v", [long, A]),  # lines 6 to 9: the assignment again
        ("as3", " ", [A, A]),  # line 10: no worker
    ]
    content = batch(rows) + "too,short\r\n" + "x," * 40 + "\r\n"
    loaded = huse.load(write(content), TASK).check()
    assert [(p.line, p.message) for p in loaded.problems] == [
        (6, "assignment 'as1' stands on line 2 already"),
        (10, "the assignment has no WorkerId"),
        (11, "2 fields where the header has 16"),
        (12, "41 fields where the header has 16"),
    ]
    assert loaded.texts["text"].tolist() == ["x\ny", "first one"]
    assert loaded.ratings["rater"].tolist() == ["r001", "r001"]
    assert loaded.texts["context"][0] == "a report\r\nof three\r\nlines"


@pytest.mark.parametrize(
    ("kind", "system"),
    [
        ("LOGP_0.7.txt", "reddit_0.7"),
        ("HUMAN_REDDIT1.0", "human"),
        (" LM ", "lm"),
        ("HUMAN_LM", "human"),
    ],
)
def test_types_of_the_other_batches(write, kind, system):
    rows = [("as1", "w", [("0", "c", kind, "x", "-1", "Rare")])]
    texts = huse.load(write(batch(rows, n_items=1)), "other").check().texts
    assert texts[["id", "type", "system"]].to_numpy().tolist() == [
        ["other:0001", kind.strip(), system]
    ]


def test_contexts_may_be_lacking_only_if_that_is_said(write):
    rows = [("as1", "w", [A, B])]
    path = write(batch(rows, kinds=("TYPE", "OUT", "LOGP")))
    assert huse.load(path, "huse_generation", contexts=False).texts["context"].tolist() == ["", ""]
    with pytest.raises(FormatError, match=r"not a HUSE batch: no column Input.CTX0"):
        huse.load(path, TASK)


def test_types_choose_items_and_leave_ids_alone(write):
    path = write(batch(ROWS))
    loaded = huse.load(path, TASK, types={"HUMAN_SUM"}).check()
    assert loaded.texts["id"].str[-1].tolist() == ["3", "4"]
    assert loaded.texts["n_ratings"].tolist() == [2, 2]
    assert loaded.ratings["rater"].tolist() == ["r002", "r002", "r001", "r001"]
    with pytest.raises(FormatError, match="no item has type 'LM'") as caught:
        huse.load(path, TASK, types=["SUM", "LM"])
    assert "HUMAN_SUM, SUM" in caught.value.remedy


def test_files_that_are_no_batch(write):
    content = batch(ROWS)
    cases = {
        "a,b\n1,2\n": "this is not a Mechanical Turk batch: no column 'WorkerId'",
        "WorkerId,x\nw,1\n": r"not a HUSE batch: no column Input.TYPE0",
        content.replace("Answer.1", "Answer.2"): r"not a HUSE batch: no column",
        content.replace("Input.OUT1", "Output1"): r"no column Input.OUT1",
        content.split("\r\n")[0] + "\r\n": "no assignments",
        content[:-40]: "stops after 1[0-9] of this record's 16 fields",
        content + '"x': "never closed",
        content.replace("HITId", "WorkerId"): "'WorkerId' stands twice",
    }
    for broken, message in cases.items():
        with pytest.raises(FormatError, match=message) as caught:
            huse.load(write(broken), TASK)
        assert caught.value.path is not None
        assert caught.value.line != 2
        assert "run again" in caught.value.remedy
    with pytest.raises(FormatError, match="unknown unit 'word'"):
        huse.load(write(content), TASK, unit="word")


def annotators(loaded):
    """MSE and rho of each annotator on the texts that this annotator saw."""
    quality = loaded.texts.set_index("id")["quality"]
    mse, rho = [], []
    for _, seen in loaded.ratings.groupby("rater", sort=False):
        own, mean = seen["rating"].to_numpy(), quality[seen["id"]].to_numpy()
        mse.append(np.mean((own - mean) ** 2))
        rho.append(spearmanr(own, mean).statistic if len(set(own)) > 1 else 0.0)
    return np.array(mse), np.array(rho)


@pytest.mark.slow
def test_the_summarization_batch_gives_the_published_human_rows(mirror):
    path = mirror("huse/summarization_raw_outputs.csv")
    loaded = huse.load(path, TASK).check().require_clean()
    texts = loaded.texts
    assert len(texts) == 199
    assert sorted(texts["n_ratings"].value_counts().items()) == [(20, 198), (40, 1)]
    assert texts.loc[texts["n_ratings"] == 40, "type"].tolist() == ["SUM+HUMAN_SUM"]
    assert len(loaded.ratings) == 4000
    assert loaded.ratings["rater"].nunique() == 93
    assert loaded.ratings["rater"].iloc[0] == "r001"
    mse, rho = annotators(loaded)
    assert mse.mean() == pytest.approx(0.0802, abs=5e-5)
    assert mse.min() == pytest.approx(0.0200, abs=5e-5)
    assert rho.mean() == pytest.approx(0.40499, abs=5e-6)
    assert rho.max() == pytest.approx(0.92055, abs=5e-6)
    # The same with exact means: the rounding noise is what gives the published digits.
    exact = loaded.ratings.groupby("id")["label"].sum() / texts.set_index("id")["n_ratings"]
    texts["quality"] = exact.reindex(texts["id"]).to_numpy() / 5
    _, rho = annotators(loaded)
    assert rho.mean() == pytest.approx(0.4061, abs=5e-5)
    assert rho.max() == pytest.approx(0.9233, abs=5e-5)
    items = huse.load(path, TASK, unit="item").require_clean().texts
    assert len(items) == 200
    assert items["n_ratings"].eq(20).all()
    assert items["system"].value_counts().to_dict() == {"sum": 100, "human": 100}
    assert items["logp"].notna().all()
    twin = items.duplicated(["context", "text"])
    assert texts["id"].tolist() == items.loc[~twin, "id"].tolist()
