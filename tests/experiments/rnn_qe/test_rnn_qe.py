"""RNN-QE's tables: cells on numbers written here, then the shipped numbers and the real data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.errors import FormatError, StaleError
from refless.experiments.rnn_qe.counts import (
    table1,
    table1_markdown,
    table2,
    table2_markdown,
)
from refless.experiments.rnn_qe.outputs import (
    METRICS,
    OWN,
    PREDICTORS,
    SCALE,
    Context,
    Neighbors,
    counts,
    learning_curve,
    outputs,
    own_shares,
    read_outputs,
    to_scale,
)
from refless.experiments.rnn_qe.predictions import (
    PREDICTION_COLUMNS,
    pack,
    read_predictions,
    training_note,
)
from refless.experiments.rnn_qe.tables import (
    Bootstrap,
    Predictor,
    Trained,
    cells,
    compared,
    cross_table,
    markdown_table,
    metric_on_scale,
    table3,
    trained,
    trained_curve,
)
from refless.models.rnn_qe.data import CROSS, cross_validation
from refless.report.published import read_published
from refless.statistics import draw_weights, williams
from tests.models.test_rnn_qe_data import small_texts

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "resources/shipped/rnn_qe"
PUBLISHED = ROOT / "resources/published"
BOOTSTRAP = Bootstrap(200, 1)
TWO = {"bleu": ("bleu.char", 0.08), "rouge": ("rouge_l.stem", 0.06)}
NEIGHBORS = Neighbors(TWO, 5, 0.66, [0.2, 0.5, 0.8], 3)
AT_HAND = [name for name in OWN if not name.startswith("meteor")]


def published(number: int) -> pd.DataFrame:
    keys = ["system"] if number == 1 else ["setup"]
    return read_published(PUBLISHED / f"rnn_qe_table{number}.csv", keys)


# ---- numbers of the outputs ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def numbers() -> pd.DataFrame:
    texts = small_texts()
    generator = np.random.default_rng(0)
    metrics = pd.DataFrame({name: generator.random(500) for name in METRICS.values()})
    metrics["CIDEr"] *= 10
    return outputs(texts, metrics, Context.of(texts, NEIGHBORS), 1)


def test_predictions_are_brought_to_the_scale() -> None:
    raw = np.array([4.3, 4.2, 9.0, -1.0, np.nan])
    assert to_scale(raw).tolist() == [4.5, 4.0, 6.0, 1.0, 4.5]


def test_each_output_is_tested_once_and_own_models_see_other_folds(numbers: pd.DataFrame) -> None:
    assert numbers["fold"].value_counts().between(90, 110).all()
    for name in CROSS:
        assert set(numbers[name]) == {"", "train", "dev", "test"}
    assert {c.split(":")[1] for c in numbers.columns if ":" in c} == set(AT_HAND)
    tested = numbers["cross_domain"] == "test"
    column = numbers["cross_domain_2:bleu_neighbors:dev"]
    assert column[~tested].isna().all()


def test_a_model_never_uses_the_ratings_of_what_it_predicts() -> None:
    """With other ratings in the test part, its predictions stay the same."""
    texts = small_texts()
    context = Context.of(texts, NEIGHBORS)
    split = cross_validation(texts.rated, 1)[2]
    rating = context.rating.copy()
    rating[split.test] = 1.0
    blind = replace(context, rating=rating)
    for (model, _), predict in PREDICTORS.items():
        if model not in AT_HAND:
            continue
        np.testing.assert_array_equal(predict(context, split), predict(blind, split))


def test_the_learning_curve_ends_at_the_whole(numbers: pd.DataFrame) -> None:
    texts = small_texts()
    context = Context.of(texts, NEIGHBORS)
    folds = cross_validation(texts.rated, 1)
    curve = learning_curve(context, {"dev": folds}, [50, 5000], 2, 1)
    assert curve.groupby("size").size().tolist() == [8, 4]
    last = curve[(curve["subset"] == 0) & (curve["size"] > 50)].set_index("model")
    raw = numbers["cross_validation:bleu_neighbors:dev"].to_numpy()
    expected = stats.pearsonr(to_scale(raw), numbers["rating"])[0]
    assert last.loc["bleu_neighbors", "pearson"] == pytest.approx(expected)


# ---- cells ---------------------------------------------------------------------------------------


def test_metrics_are_cut_to_the_half_point_below() -> None:
    values = np.array([0.0, 0.05, 0.19, 0.5, 1.0])
    assert metric_on_scale(values, 1.0).tolist() == [1.0, 1.0, 1.5, 3.5, 6.0]
    assert metric_on_scale(values * 10, 10.0, nearest=True).tolist() == [1.0, 1.0, 2.0, 3.5, 6.0]


def test_a_row_is_the_mean_of_its_seeds() -> None:
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 300)
    seeds = [np.clip(truth + generator.choice([-2, -1, 0, 1], 300), 1, 6) for _ in range(3)]
    row = cells(Predictor("1", "", seeds), truth, draw_weights(300, 500, 0))
    each = [stats.spearmanr(seed, truth)[0] for seed in seeds]
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert row["spearman_sd"] == pytest.approx(np.std(each, ddof=1))
    assert row["spearman_low"] < row["spearman"] < row["spearman_high"]
    assert row["mae_high"] - row["mae_low"] < 0.4
    assert (row["seeds"], row["n"]) == (3, 300)


def test_williams_is_one_sided_and_knows_the_direction() -> None:
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 400)
    good = Predictor("1", "", [np.clip(truth + generator.choice([-1, 0, 1], 400), 1, 6)])
    poor = Predictor("bleu", "floor", [generator.choice(SCALE, 400)])
    test = compared(good, poor, truth)[0]
    r = [stats.pearsonr(p.by_seed[0], truth)[0] for p in (good, poor)]
    r.append(stats.pearsonr(good.by_seed[0], poor.by_seed[0])[0])
    t, p = williams(*r, 400)
    assert test["t"] == pytest.approx(t)
    assert test["p_value"] == pytest.approx(p / 2)
    assert compared(poor, good, truth)[0]["p_value"] == pytest.approx(1 - p / 2)


def predictions(ids: list[str], seeds: int = 5, part: str = "test") -> pd.DataFrame:
    generator = np.random.default_rng(len(ids))
    rows = pd.DataFrame({"id": ids * seeds, "seed": np.repeat(np.arange(seeds), len(ids))})
    rows["prediction"] = generator.choice(SCALE, len(rows))
    fixed = {"experiment": "cross_validation", "setup": 1, "fold": 0, "part": part}
    return rows.assign(**fixed, raw=rows["prediction"])[PREDICTION_COLUMNS]


def test_a_note_says_how_many_outputs_have_references_of_their_own_in_training() -> None:
    table = predictions(["a", "b"])
    some = trained(4, Trained(table, "computed", own_references=0.817), ["a", "b"])
    assert "of 82% of test outputs a human reference is trained on" in some.note
    none = trained(3, Trained(table, "computed", own_references=0.0), ["a", "b"])
    assert (none.note, none.own_references) == ("", 0.0)
    meant = trained(5, Trained(table, "computed", own_references=1.0), ["a", "b"])
    assert meant.note == ""


def test_shares_are_read_from_the_counts(numbers: pd.DataFrame) -> None:
    counted = counts(small_texts(), 1)
    shares = own_shares(counted, "first_part")
    assert len(shares) == 7 * 6
    assert shares["cross_validation", 1] == shares["cross_domain_2", 2] == 0
    for setup in (5, 6):
        assert shares["cross_validation", setup] == pytest.approx(1)
    assert 0 <= counted["cross"]["cross_system_1"]["seen"] <= 1


def test_seeds_that_miss_an_output_do_not_count() -> None:
    table = predictions(["a", "b", "c"])
    whole = trained(1, Trained(table, "computed"), ["a", "b", "c"])
    assert (len(whole.by_seed), whole.note) == (5, "")
    part = trained(1, Trained(table.iloc[:-1], "computed"), ["a", "b", "c"])
    assert len(part.by_seed) == 4
    assert part.note == "4 of 5 seeds have predictions of all outputs"
    none = trained(1, Trained(table, "computed"), ["a", "b", "d"])
    assert none.by_seed == []
    dev = trained(1, Trained(predictions(["a"], part="dev"), "computed"), ["a"])
    assert dev.by_seed == []


# ---- tables --------------------------------------------------------------------------------------


def test_table_3_has_every_row_and_says_what_is_missing(numbers: pd.DataFrame) -> None:
    ids = numbers["id"].tolist()
    setups = {n: Trained(None, note="not run: x") for n in range(1, 7)}
    setups[1] = Trained(predictions(ids), "computed")
    once = Trained(predictions(ids, seeds=1), "shipped")
    others = {("apart", 1): Trained(predictions(ids), "shipped"), ("paper", 1): once}
    missing = {"meteor": "no WordNet"}
    table, tests = table3(
        numbers, setups, others, published(3), "computed", BOOTSTRAP, missing=missing
    )
    rows = table.set_index(["setup", "reading"])
    assert rows.loc[("2", ""), "note"] == "not run: x"
    assert rows.loc[("1", ""), "paper_pearson"] == "0.273"
    assert rows.loc[("1", "apart"), "paper_pearson"] == ""
    assert rows.loc[("1", "apart"), "provenance"] == "shipped"
    assert "both sides" in rows.loc[("1", "apart"), "note"]
    for name in ("meteor_neighbors", "meteor_neighbors_mr"):
        own = rows.loc[name]
        assert own.index.tolist() == ["tau", "dev"]
        assert set(own["note"]) == {"not available: no WordNet"}
        assert own["pearson"].isna().all()
    assert rows.loc[("rouge_neighbors", "dev"), "pearson"] > -1
    assert rows.loc[("1", "paper"), "paper_pearson"] == "0.273"
    assert "the paper's schedule" in rows.loc[("1", "paper"), "note"]
    # against the same seed of set-up 1, not against the mean of all five
    own = tests[(tests["reading"] == "paper") & (tests["against"] == "1")].iloc[0]
    seed = setups[1].table.query("seed == 0")["prediction"].to_numpy()
    expected = stats.pearsonr(seed, numbers["rating"])[0]
    assert own["against_value"] == pytest.approx(expected)
    assert rows.loc[("1", "paper"), "p_better_than_setup_1"] == pytest.approx(own["p_value"])
    assert np.isnan(rows.loc[("1", ""), "p_better_than_setup_1"])
    assert 0 < rows.loc[("1", ""), "p_better_than_metrics"] <= 1
    assert not set(published(3)["setup"]) - set(table["setup"])
    assert set(tests["against"]) == {*METRICS, "1"}
    text = markdown_table(table)
    assert "[0.273]" in text
    assert "not run: x" in text


@pytest.mark.parametrize(("experiment", "number"), [("cross_domain", 4), ("cross_system", 5)])
def test_tables_4_and_5_compare_with_configuration_1(
    numbers: pd.DataFrame, experiment: str, number: int
) -> None:
    ids = numbers.loc[numbers[experiment] == "test", "id"].tolist()
    setups = {(c, n): Trained(None, note="not run: x") for c in (1, 2, 3) for n in range(1, 7)}
    setups[1, 1] = setups[3, 1] = Trained(predictions(ids), "computed")
    table, tests = cross_table(
        experiment, numbers, setups, published(number), "computed", BOOTSTRAP
    )
    rows = table.set_index(["setup", "reading", "configuration"])
    assert rows.loc[("1", "", "3"), "p_better_than_configuration_1"] == 0.5  # the same numbers
    assert np.isnan(rows.loc[("1", "", "1"), "p_better_than_configuration_1"])
    assert (rows.loc[("1", "", "3"), "n"]) == len(ids)
    paper = published(number)
    assert len(paper) == len(
        table[table["paper_mae"] != ""].drop_duplicates(["setup", "configuration"])
    )
    assert set(tests["configuration"]) == {"1", "2", "3"}
    assert "## 3: out-of-set and a little in-set data" in markdown_table(table)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_without_numbers_each_row_says_why(number: int) -> None:
    empty = pd.DataFrame({"id": []})
    if number == 3:
        table, tests = table3(empty, {}, {}, published(3), "", BOOTSTRAP, "no file")
    else:
        name = {4: "cross_domain", 5: "cross_system"}[number]
        table, tests = cross_table(name, empty, {}, published(number), "", BOOTSTRAP, "no file")
    assert len(table) == len(published(number))
    assert set(table["note"]) == {"not available: no file"}
    assert tests.empty
    assert "no file" in markdown_table(table)


def test_tables_1_and_2_count(numbers: pd.DataFrame) -> None:
    counted = counts(small_texts(), 1)
    first = table1(counted, published(1), "computed").set_index("system")
    assert first.loc["total", "total"] == 500
    assert first.loc["total", "sfhot"] == (numbers["dataset"] == "sfhot").sum()
    assert "rated" not in table1_markdown(first.reset_index(), counted).split("\n")[0]
    second = table2(counted, published(2), "computed")
    rows = second.set_index(["synthesise", "setup"])
    assert rows.loc[("all_parts", "2"), "training_instances"] == pytest.approx(6 * 300, abs=1)
    assert rows["training_instances_fewest"].le(rows["training_instances_most"]).all()
    assert "`all_parts`" in table2_markdown(second)
    for table in (table1(None, published(1), "", "gone"), table2(None, published(2), "", "gone")):
        assert set(table["note"]) == {"not available: gone"}
    assert "gone" in table1_markdown(table1(None, published(1), "", "gone"), None)
    assert "gone" in table2_markdown(table2(None, published(2), "", "gone"))


# ---- files ---------------------------------------------------------------------------------------

DATA = {"seed": 2017, "synthesise": "first_part"}
TEXTS = "sum of texts"


def write_predictions(path: Path, **changes: Any) -> None:
    predictions(["nem:0001", "nem:0002"]).to_csv(path, index=False)
    about = {"provenance": "computed", "settings": {"data": DATA}, "texts": TEXTS}
    about["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".json").write_text(json.dumps(about | changes))


def test_packed_predictions_are_the_same_and_say_shipped(tmp_path: Path) -> None:
    path = tmp_path / "setup1.csv"
    write_predictions(path)
    packed = pack(path, tmp_path / "shipped")
    first = packed.read_bytes()
    assert pack(path, tmp_path / "shipped").read_bytes() == first
    table, about = read_predictions(packed, DATA, TEXTS)
    pd.testing.assert_frame_equal(table, read_predictions(path, DATA, TEXTS)[0])
    assert about["provenance"] == "shipped"


def test_predictions_from_other_data_or_other_than_signed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "setup1.csv"
    write_predictions(path)
    with pytest.raises(StaleError, match="other data"):
        read_predictions(path, DATA | {"seed": 1}, TEXTS)
    with pytest.raises(StaleError, match="other rated outputs"):
        read_predictions(path, DATA, "another sum")
    write_predictions(path, sha256="0")
    with pytest.raises(StaleError, match="not the table"):
        read_predictions(path, DATA, TEXTS)
    write_predictions(path, settings={})
    with pytest.raises(FormatError, match="says nothing"):
        read_predictions(path, DATA, TEXTS)
    write_predictions(path, provenance="shipped")
    with pytest.raises(StaleError, match="not computed here"):
        pack(path, tmp_path)
    path.unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        read_predictions(path, DATA, TEXTS)


def test_a_note_says_how_training_differs_from_the_paper() -> None:
    schedule = {"name": "paper", "pretrain": 20, "train": 500, "rate": 1e-4, "batch": 50}
    assert training_note({"settings": {"schedule": schedule}}) == ""
    fast = {"settings": {"schedule": schedule | {"train": 16}, "vectors": True}}
    assert training_note(fast) == (
        "trained otherwise than in the paper: train 16 for 500, pretrained vectors of words"
    )


# ---- shipped numbers -----------------------------------------------------------------------------


def shipped() -> tuple[pd.DataFrame, dict[str, Any]]:
    about = json.loads((SHIPPED / "outputs.json").read_text())
    return read_outputs(SHIPPED / "outputs.csv", about["settings"])


def test_shipped_numbers_have_no_text() -> None:
    table, _ = shipped()
    for name in table.columns:
        if name not in ("id", "dataset", "system", *CROSS):
            assert pd.api.types.is_numeric_dtype(table[name]), name


def test_metrics_come_out_as_published() -> None:
    """All but one of the 16 values, and the constant's MAE, to the printed digit."""
    table, about = shipped()
    setups = {n: Trained(None) for n in range(1, 7)}
    rows, _ = table3(table, setups, {}, published(3), about["provenance"], BOOTSTRAP)
    own = rows[(rows["reading"] == "floor")]
    gaps = [
        abs(row[name] - float(row[f"paper_{name}"]))
        for row in own.to_dict("records")
        for name in ("pearson", "spearman", "mae", "rmse")
    ]
    assert len(gaps) == 16
    assert max(gaps) < 0.0015
    constant = rows[rows["setup"] == "constant"].iloc[0]
    assert round(constant["mae"], 3) == 1.013
    assert constant["rmse"] == pytest.approx(1.233, abs=0.0015)


def test_shipped_counts_are_the_published_ones() -> None:
    _, about = shipped()
    table = table1(about["counts"], published(1), "shipped")
    assert set(table["agreement"]) == {"equal"}


def test_other_settings_are_refused_but_not_another_synthesis() -> None:
    about = json.loads((SHIPPED / "outputs.json").read_text())
    settings = about["settings"]
    other = settings | {"data": settings["data"] | {"synthesise": "all_parts"}}
    read_outputs(SHIPPED / "outputs.csv", other)
    for changed in (
        settings | {"data": settings["data"] | {"seed": 1}},
        settings | {"neighbors": settings["neighbors"] | {"tau": 0.5}},
    ):
        with pytest.raises(StaleError, match="other settings"):
            read_outputs(SHIPPED / "outputs.csv", changed)


def test_a_curve_counts_the_folds_of_a_subset_together() -> None:
    outputs = pd.DataFrame({"id": list("abcdef"), "rating": [1.0, 2, 3, 4, 5, 6]})
    rows = [
        (fold, "test", name, value)
        for fold, name, value in zip(
            [0, 1, 2, 3, 4, 4], "abcdef", [1.0, 2, 3, 4, 5, 6], strict=True
        )
    ]
    rows += [(fold + 5, part, name, 7 - value) for fold, part, name, value in rows]
    rows += [(0, "dev", "b", 6.0)]
    table = pd.DataFrame(rows, columns=["fold", "part", "id", "prediction"])
    found = trained_curve(outputs, {50: table})
    assert found[["model", "size", "subset"]].to_numpy().tolist() == [
        ["rnn_qe", 50, 0],
        ["rnn_qe", 50, 1],
    ]
    assert found["pearson"].tolist() == pytest.approx([1, -1])
    assert found["mae"].tolist() == [0, 3]
    assert trained_curve(outputs, {}).empty
