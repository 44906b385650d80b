"""RNN-QE's tables: cells, and tables on numbers written here, then the published metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.experiments.rnn_qe.counts import count_notes, table1, table2
from refless.experiments.rnn_qe.data_size import TABLE_COLUMNS, all_curves, draw, trained_curve
from refless.experiments.rnn_qe.outputs import (
    BASELINES,
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
    to_scale,
)
from refless.experiments.rnn_qe.stored import PREDICTION_COLUMNS, gather
from refless.experiments.rnn_qe.tables import (
    CORRELATIONS,
    Measured,
    Predictor,
    Sample,
    compared,
    ensemble,
    finding,
    measured,
    metric_on_scale,
    table,
    trained,
)
from refless.models.rnn_qe.data import apart, cross_validation, experiments
from refless.models.rnn_qe.names import CROSS
from refless.report.catalogue import catalogue
from refless.report.published import read_published
from refless.report.tables import join_reasons
from refless.statistics import draw_weights, pearson_between_and_within, williams
from refless.store.signed import Signed
from tests.models.rnn_qe.test_data import SETTINGS, small_texts

PUBLISHED = Path(__file__).parents[3] / "resources/published"
BOOTSTRAP = {"draws": 200, "seed": 1}
TWO = {"bleu": ("bleu.char", 0.08), "rouge": ("rouge_l.stem", 0.06)}
KERNELS = {"bleu": "bleu.char", "rouge": "rouge_l.stem", "meteor": "meteor.nltk35"}
NEIGHBORS = Neighbors(TWO, 5, 0.66, [0.2, 0.5, 0.8], 3)
AT_HAND = [name for name in OWN if not name.startswith("meteor")]
NUMBERS = {"cross_validation": 3, "cross_domain": 4, "cross_system": 5}


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
    splits = experiments(texts.rated, SETTINGS)
    return outputs(texts, metrics, Context.of(texts, NEIGHBORS), splits)


def small_counts() -> dict[str, Any]:
    texts = small_texts()
    return counts(texts, SETTINGS.seed, experiments(texts.rated, SETTINGS))


def test_each_output_is_tested_once_and_own_models_see_other_folds(numbers: pd.DataFrame) -> None:
    assert numbers["fold"].value_counts().between(90, 110).all()
    for name in CROSS:
        assert set(numbers[name]) == {"", "train", "dev", "test"}
    own = {c.split(":")[1] for c in numbers.columns if ":" in c}
    assert own == {*AT_HAND, *BASELINES, "seen"}
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
    there = {*AT_HAND, *BASELINES}
    for predict in (own for (model, _), own in PREDICTORS.items() if model in there):
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


def test_predictions_are_rounded_and_metrics_cut_to_half_points() -> None:
    raw = np.array([4.3, 4.2, 9.0, -1.0, np.nan])
    assert to_scale(raw).tolist() == [4.5, 4.0, 6.0, 1.0, 4.5]
    values = np.array([0.0, 0.05, 0.19, 0.5, 1.0])
    assert metric_on_scale(values, 1.0).tolist() == [1.0, 1.0, 1.5, 3.5, 6.0]
    assert metric_on_scale(values * 10, 10.0, nearest=True).tolist() == [1.0, 1.0, 2.0, 3.5, 6.0]


def test_a_look_up_is_the_mean_training_rating_of_the_same_output(numbers: pd.DataFrame) -> None:
    texts = small_texts()
    rated = texts.rated
    for column, folds in (
        ("", cross_validation(rated, SETTINGS.seed)),
        ("apart", cross_validation(apart(rated), SETTINGS.seed)),
    ):
        found = numbers[f"cross_validation:lookup:{column}"].to_numpy()
        for split in folds:
            known: dict[str, list[float]] = {}
            for row in split.train:
                known.setdefault(rated["words"][row], []).append(numbers["rating"][row])
            for row in split.test:
                same = known.get(rated["words"][row])
                assert found[row] == pytest.approx(
                    np.nan if same is None else np.mean(same), nan_ok=True, abs=1e-4
                )


def test_what_stands_in_training_is_counted_anew(numbers: pd.DataFrame) -> None:
    rated = small_texts().rated
    pairs = list(zip(rated["mr"], rated["words"], strict=True))
    for split in cross_validation(rated, SETTINGS.seed):
        trained_on = {pairs[row] for row in split.train}
        expected = [int(pairs[row] in trained_on) for row in split.test]
        assert numbers["cross_validation:seen"][split.test].tolist() == expected
    assert small_counts()["seen"] == numbers["cross_validation:seen"].mean()
    assert 1 < numbers["mr_number"].nunique() == rated["mr"].nunique() < rated["mr_key"].nunique()


def sample(truth: np.ndarray, seen: np.ndarray | None = None, cluster: int = 1) -> Sample:
    """Each ``cluster`` outputs in succession are of one MR."""
    n = len(truth)
    mr = np.arange(n) // cluster
    tested = pd.DataFrame({"mr_number": mr, "system": mr % 3, "rating": truth})
    return Sample.of(tested, np.zeros(n) if seen is None else seen, {"draws": 500, "seed": 0})


def test_a_correlation_that_hangs_on_a_handful_of_mrs_has_no_interval() -> None:
    """Draws that miss them have no correlation, and those that do not would exclude 0."""
    truth = np.random.default_rng(0).choice(SCALE, 300)
    others = np.ones(300)
    for number, few in ((1, True), (19, True), (20, False)):
        values = others.copy()
        values[np.arange(number) * 3] = 6  # an MR has three outputs
        own = measured(Predictor("1", "", [values]), sample(truth, cluster=3))
        assert own.too_few == few
        assert np.isnan(own.row["pearson_low"]) == few
        assert not np.isnan([own.row["pearson"], own.row["mae_low"]]).any()
        rival = measured(Predictor("2", "", [truth]), sample(truth, cluster=3))
        (test, _) = compared(own, rival, truth)
        assert np.isnan([test[k] for k in ("p_clusters", "difference_low", "p_value")]).all() == few
        assert not np.isnan(test["difference"])
    # of one seed, many draws have none
    some = [np.where(np.arange(300) < 9, 6.0, 1.0), truth]
    assert measured(Predictor("1", "", some), sample(truth, cluster=3)).too_few
    seen = np.arange(300) < 30  # of 10 MRs
    row = measured(Predictor("1", "", [truth]), sample(truth, seen, cluster=3)).row
    assert np.isnan(row["pearson_seen_low"])
    assert not np.isnan(row["pearson_unseen_low"])


def test_a_row_is_the_mean_of_its_seeds() -> None:
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 300)
    seeds = [np.clip(truth + generator.choice([-2, -1, 0, 1], 300), 1, 6) for _ in range(3)]
    seen = generator.random(300) < 0.4
    row = measured(Predictor("1", "", seeds), sample(truth, seen)).row
    each = [stats.spearmanr(seed, truth)[0] for seed in seeds]
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert row["spearman_sd"] == pytest.approx(np.std(each, ddof=1))
    assert row["spearman_low"] < row["spearman"] < row["spearman_high"]
    assert row["mae_high"] - row["mae_low"] < 0.4
    assert (row["seeds"], row["n"], row["n_seen"]) == (3, 300, seen.sum())
    for part, own in (("seen", seen), ("unseen", ~seen)):
        each = [stats.pearsonr(seed[own], truth[own])[0] for seed in seeds]
        assert row[f"pearson_{part}"] == pytest.approx(np.mean(each))
        each = [stats.spearmanr(seed[own], truth[own])[0] for seed in seeds]
        assert row[f"spearman_{part}"] == pytest.approx(np.mean(each))
    apart = [
        pearson_between_and_within(seed, truth, np.arange(300) % 3, np.ones((1, 300)))
        for seed in seeds
    ]
    assert [row["between_share"], row["pearson_within"]] == pytest.approx(
        np.mean(apart, axis=0)[:, 0]
    )
    assert row["between_share_low"] < row["between_share"] < row["between_share_high"]
    assert "pearson_unseen" not in measured(Predictor("1", "", seeds), sample(truth)).row
    alone = replace(sample(truth), system=np.zeros(300, np.int64))
    assert "between_share" not in measured(Predictor("1", "", seeds), alone).row


def test_outputs_of_one_mr_are_drawn_together() -> None:
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 60)
    values = np.clip(truth + generator.choice([-1, 0, 1], 60), 1, 6)
    one = Predictor("1", "", [values])
    few = measured(one, sample(truth, cluster=3))
    draws = draw_weights(20, 500, 0)
    for k in range(5):
        rows = [3 * mr + i for mr in range(20) for _ in range(draws[k, mr]) for i in range(3)]
        expected = stats.pearsonr(values[rows], truth[rows])[0]
        assert few.draws["pearson"][0, k] == pytest.approx(expected)
    # copies of an output tell nothing new: the interval stays, where each for itself shrinks it
    thrice = Predictor("1", "", [np.repeat(values, 3)])
    together, apart_ = (
        measured(thrice, sample(np.repeat(truth, 3), cluster=n)).row for n in (3, 1)
    )
    once = measured(one, sample(truth)).row
    assert together["pearson_low"] == pytest.approx(once["pearson_low"])
    assert apart_["pearson_low"] > once["pearson_low"] + 0.01


def test_seeds_predict_together_as_the_mean_of_what_each_predicts() -> None:
    raw = [np.array([4.0, 2.0]), np.array([4.4, 6.9]), np.array([4.9, 6.9])]
    one = Predictor("1", "", [np.round(2 * own) / 2 for own in raw], raw)
    found = ensemble(one)[0]
    assert found.reading == "ensemble"
    assert found.by_seed[0].tolist() == [4.5, 5.5]
    assert ensemble(replace(one, reading="apart"))[0].reading == "apart_ensemble"
    assert ensemble(replace(one, raw=raw[:1])) == []


def test_williams_is_two_sided_unless_the_claim_is_that_one_is_better() -> None:
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 400)
    values = np.clip(truth + generator.choice([-3, -2, 0, 2, 3], 400), 1, 6)
    good, poor = (
        measured(Predictor(*given), sample(truth))
        for given in (("1", "", [values]), ("bleu", "floor", [generator.choice(SCALE, 400)]))
    )
    tests = compared(good, poor, truth)
    assert [test["statistic"] for test in tests] == CORRELATIONS
    r = [stats.pearsonr(one.predictor.by_seed[0], truth)[0] for one in (good, poor)]
    r.append(stats.pearsonr(values, poor.predictor.by_seed[0])[0])
    t, p = williams(*r, 400)
    assert tests[0]["t"] == pytest.approx(t)
    assert (tests[0]["p_value"], tests[0]["alternative"]) == (pytest.approx(p), "two-sided")
    assert compared(good, poor, truth, greater=True)[0]["p_value"] == pytest.approx(p / 2)
    assert compared(poor, good, truth, greater=True)[0]["p_value"] == pytest.approx(1 - p / 2)
    gap = good.draws["pearson"][0] - poor.draws["pearson"][0]
    assert tests[0]["difference_low"] == pytest.approx(np.quantile(gap, 0.025))
    assert isinstance(good, Measured)


def test_p_is_from_leaving_out_one_mr_at_a_time() -> None:
    """The jackknife's standard error, written out: it hangs on no draws."""
    generator = np.random.default_rng(3)
    truth = generator.choice(SCALE, 120)
    both = [np.clip(truth + generator.choice([-3, -2, 2, 3], 120), 1, 6) for _ in range(2)]
    drawn = sample(truth, cluster=3)
    test = compared(*(measured(Predictor("1", "", [own]), drawn) for own in both), truth)[0]

    def gap(rows: np.ndarray) -> float:
        one, other = (stats.pearsonr(own[rows], truth[rows])[0] for own in both)
        return float(one - other)

    mrs = len(np.unique(drawn.mr))
    left = np.array([gap(np.flatnonzero(drawn.mr != mr)) for mr in range(mrs)])
    error = np.sqrt((mrs - 1) / mrs * ((left - left.mean()) ** 2).sum())
    z = test["difference"] / error
    assert mrs == 40
    assert 0.001 < test["p_clusters"] < 0.999
    squares = (left - left.mean()) ** 2
    freedom = squares.sum() ** 2 / (squares**2).sum() - 1
    assert test["p_clusters"] == pytest.approx(2 * stats.t.sf(abs(z), freedom))
    assert test["least_detectable"] > (1.96 + 0.8416) * error


def test_seeds_that_differ_make_p_larger() -> None:
    generator = np.random.default_rng(4)
    truth = generator.choice(SCALE, 200)
    near, far = (np.clip(truth + generator.choice(by, 200), 1, 6) for by in ([-1, 1], [-3, 3]))
    other = [np.clip(truth + generator.choice([-2, 2], 200), 1, 6) for _ in range(3)]
    drawn = sample(truth, cluster=4)

    def p(*seeds: np.ndarray) -> float:
        one = measured(Predictor("4", "", list(seeds)), drawn)
        return float(
            compared(one, measured(Predictor("1", "", other), drawn), truth)[0]["p_clusters"]
        )

    mixed = np.where(generator.random(200) < 0.5, near, far)
    assert p(near, far) > p(mixed)


def predictions(
    ids: list[str], seeds: int = 5, part: str = "test", provenance: str = "computed"
) -> Signed:
    generator = np.random.default_rng(len(ids))
    rows = pd.DataFrame({"id": ids * seeds, "seed": np.repeat(np.arange(seeds), len(ids))})
    rows["prediction"] = generator.choice(SCALE, len(rows))
    fixed = {"experiment": "cross_validation", "setup": 1, "fold": 0, "part": part}
    table = rows.assign(**fixed, raw=rows["prediction"])[PREDICTION_COLUMNS]
    return Signed(table, {"provenance": provenance, "settings": {}})


def test_a_note_says_how_many_outputs_have_references_of_their_own_in_training() -> None:
    made = predictions(["a", "b"])
    some = trained("setup4", made, ["a", "b"], 0.817)
    assert "of 82% of test outputs a human reference is trained on" in some.notes[0]
    none = trained("setup3", made, ["a", "b"], 0.0)
    assert (none.notes, none.own_references) == ([], 0.0)
    assert trained("setup5", made, ["a", "b"], 1.0).notes == []


def test_shares_are_read_from_the_counts() -> None:
    counted = small_counts()
    shares = own_shares(counted, "first_part")
    assert len(shares) == 7 * 6
    assert shares["setup1"] == shares["cross_domain_2_setup2"] == 0
    assert shares["setup5"] == shares["setup6"] == pytest.approx(1)
    assert 0 <= counted["cross"]["cross_system_1"]["seen"] <= 1


def test_seeds_that_miss_an_output_do_not_count() -> None:
    made = predictions(["a", "b", "c"])
    whole = trained("setup1", made, ["a", "b", "c"])
    assert (len(whole.by_seed), whole.notes) == (5, [])
    part = trained("setup1", replace(made, content=made.content.iloc[:-1]), ["a", "b", "c"])
    assert len(part.by_seed) == 4
    assert part.notes == ["4 of 5 seeds have predictions of all outputs"]
    assert trained("setup1", made, ["a", "b", "d"]).by_seed == []
    assert trained("setup1", predictions(["a"], part="dev"), ["a"]).by_seed == []


# ---- tables --------------------------------------------------------------------------------------


def made_table(
    experiment: str, outputs: pd.DataFrame | None, made: dict[str, Signed], paper: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    file = None if outputs is None else Signed(outputs, {"provenance": "computed"})
    with pytest.MonkeyPatch.context() as patch:  # the small data have few MRs
        patch.setattr("refless.experiments.rnn_qe.tables.DECIDING", 2)
        return table(experiment, file, made, {}, paper, KERNELS, BOOTSTRAP)


def test_table_3_has_every_row_and_says_what_is_missing(numbers: pd.DataFrame) -> None:
    ids = numbers["id"].tolist()
    made = {
        "setup1": predictions(ids),
        "apart_setup1": predictions(ids, provenance="shipped"),
        "paper_setup1": predictions(ids, seeds=1, provenance="shipped"),
        "paper_setup4": predictions(ids, seeds=1, provenance="shipped"),
        "authors_setup1": predictions(ids, seeds=2),
    }
    found, tests = made_table("cross_validation", numbers, made, published(3))
    missing = [
        {"of": {"name": "authors_setup2"}, "code": "x", "sentence": "type this", "remedy": ""},
        {"of": {"name": "setup2"}, "code": "not_trained", "sentence": "not run; yet", "remedy": ""},
        {"of": {"kernel": "meteor.nltk35"}, "code": "no", "sentence": "no WordNet", "remedy": ""},
    ]
    joined = join_reasons(found, missing, catalogue()["rnn_qe_table3"].match)
    rows = joined.set_index(["setup", "reading"])
    # a reason may hold a semicolon: it is one reason all the same
    assert rows.loc[("2", ""), "note"] == ["not available: not run; yet"]
    assert rows.loc[("2", ""), "reason"] == "not_trained"
    for name in ("meteor_neighbors", "meteor_neighbors_mr"):
        own = rows.loc[name]
        assert own.index.tolist() == ["tau", "dev"]
        assert own["note"].tolist() == [["not available: no WordNet"]] * 2
        assert own["pearson"].isna().all()
    assert rows.loc[("1", ""), "paper_pearson"] == "0.273"
    assert rows.loc[("1", "apart"), "paper_pearson"] == ""
    assert rows.loc[("1", "apart"), "provenance"] == "shipped"
    assert "both sides" in rows.loc[("1", "apart"), "note"][1]
    assert rows.loc[("rouge_neighbors", "dev"), "pearson"] > -1
    assert rows.loc[("1", "paper"), "paper_pearson"] == "0.273"
    assert "the paper's schedule" in rows.loc[("1", "paper"), "note"][0]
    # against the mean of all seeds of set-up 1, which its row has
    one = (tests["reading"] == "paper") & (tests["question"] == "set-up 1")
    own = tests[one].iloc[0]
    by_seed = made["setup1"].content.groupby("seed")["prediction"]
    expected = [stats.pearsonr(seed, numbers["rating"])[0] for _, seed in by_seed]
    assert own["against_value"] == pytest.approx(np.mean(expected))
    assert own["against_value"] == pytest.approx(rows.loc[("1", ""), "pearson"])
    assert own["provenance"] == "shipped"
    assert rows.loc[("1", "paper"), "p_setup_1"] == pytest.approx(own["p_holm"])
    # further set-ups: against set-up 1 trained in the same way
    more = tests[(tests["setup"] == "4") & (tests["question"] == "set-up 1")]
    assert more["against_reading"].tolist() == ["paper", "paper"]
    # other ways of training have a row for each set-up, and say what is missing
    for way in ("paper", "authors"):
        assert found.loc[found["reading"] == way, "setup"].tolist() == list("123456")
    assert rows.loc[("2", "authors"), "note"] == ["not available: type this"]
    assert rows.loc[("2", "authors"), "paper_pearson"] == "0.283"
    assert rows.loc[("1", "authors"), "seeds"] == 2
    assert any("two stacked" in note for note in rows.loc[("1", "authors"), "note"])
    assert own["p_holm"] >= own["p_value"]
    assert np.isnan(rows.loc[("1", ""), "p_setup_1"])
    assert 0 < rows.loc[("1", ""), "p_better_than_metrics"] <= 1
    assert not set(published(3)["setup"]) - set(found["setup"])
    assert set(tests["against"]) == {*METRICS, "1", "lookup"}
    assert set(tests.loc[tests["question"] == "metrics", "alternative"]) == {"greater"}
    assert set(tests.loc[tests["question"] != "metrics", "alternative"]) == {"two-sided"}
    # the seeds together are beside their mean, and beside no published value
    assert rows.loc[("1", "ensemble"), "paper_pearson"] == ""
    assert rows.loc[("1", "ensemble"), "seeds"] == 1
    against = tests[(tests["setup"] == "ridge") & (tests["question"] == "ensemble")]
    assert set(against["against_reading"]) == {"ensemble", "apart_ensemble"}
    apart_row = rows.loc[("1", "apart")]
    assert np.isnan(apart_row["pearson_seen"])


def test_a_family_is_corrected_as_a_whole(numbers: pd.DataFrame) -> None:
    made = {f"setup{k}": predictions(numbers["id"].tolist()) for k in (1, 4, 6)}
    made |= {f"paper_setup{k}": predictions(numbers["id"].tolist(), seeds=1) for k in (1, 4)}
    _, tests = made_table("cross_validation", numbers, made, published(3))
    family = tests[(tests["family"] == "metrics, set-ups") & (tests["statistic"] == "pearson")]
    # three set-ups, their ensembles, and two by the other way of training
    assert len(family) == 8 * 4
    least = family.loc[family["p_clusters"].idxmin()]
    assert least["p_holm"] == pytest.approx(min(1.0, 32 * least["p_clusters"]))
    asked = tests[tests["question"] == "set-up 1"]
    assert set(asked.loc[asked["setup"] == "4", "reading"]) == {"", "ensemble", "paper"}
    assert set(asked.loc[asked["setup"] == "4", "family"]) == {"set-up 1, set-ups"}
    six = tests[tests["question"] == "set-up 4"]
    assert set(zip(six["setup"], six["against"], six["reading"], strict=True)) == {
        ("6", "4", ""),
        ("6", "4", "ensemble"),
    }


def test_the_sentence_about_the_look_up_follows_from_its_test(numbers: pd.DataFrame) -> None:
    made = {"setup1": predictions(numbers["id"].tolist())}
    found, tests = made_table("cross_validation", numbers, made, published(3))
    row = (tests["setup"] == "1") & (tests["reading"] == "") & (tests["question"] == "look-up")
    for p, difference, said in (
        (0.2, 0.1, "not shown"),
        (0.01, 0.1, "ahead"),
        (0.01, -1, "behind"),
        (np.nan, -1, "not tested"),
    ):
        tests.loc[row, ["p_holm", "difference"]] = [p, difference]
        sentence = finding(found, tests)
        assert said in sentence
        assert "nan" not in sentence
        rows = found.set_index(["setup", "reading"])
        for value in (rows.loc[("lookup", ""), "pearson"], rows.loc[("1", ""), "pearson_seen"]):
            assert f"{value:.3f}" in sentence
    assert finding(found, tests[~row]) == ""


def test_why_a_value_differs_is_said_only_where_it_does(numbers: pd.DataFrame) -> None:
    paper = published(3).replace({"mae": {"1.013": ""}, "rmse": {"1.233": ""}})
    first, _ = made_table("cross_validation", numbers, {}, paper)
    constant = first[first["setup"] == "constant"].iloc[0]
    assert "medians" in constant["note"][0]
    paper.loc[paper["setup"] == "constant", "mae"] = f"{constant['mae']:.3f}"
    again, _ = made_table("cross_validation", numbers, {}, paper)
    constant = again[again["setup"] == "constant"].iloc[0]
    assert (constant["agreement"], constant["note"]) == ("equal", [])


@pytest.mark.parametrize("experiment", CROSS)
def test_tables_4_and_5_compare_with_configuration_1(
    numbers: pd.DataFrame, experiment: str
) -> None:
    ids = numbers.loc[numbers[experiment] == "test", "id"].tolist()
    paper = published(NUMBERS[experiment])
    made = {f"{experiment}_{n}_setup1": predictions(ids) for n in (1, 3)}
    made[f"paper_{experiment}_3_setup1"] = predictions(ids, seeds=1)
    found, tests = made_table(experiment, numbers, made, paper)
    rows = found.set_index(["setup", "reading", "configuration"])
    assert np.isnan(rows.loc[("1", "", "3"), "p_configuration_1"])  # the same predictions: no test
    assert np.isnan(rows.loc[("1", "", "1"), "p_configuration_1"])
    assert (rows.loc[("1", "", "3"), "n"]) == len(ids)
    assert "random rest" in rows.loc[("1", "", "3"), "note"][0]
    assert rows.loc[("2", "", "3"), "training"] == f"{experiment}_3_setup2"
    cells = found[found["paper_mae"] != ""].drop_duplicates(["setup", "configuration"])
    assert len(paper) == len(cells)
    assert set(tests["configuration"]) == {"1", "2", "3"}
    # each way of training has a row; what was not trained has no numbers, and is not counted
    for way in ("paper", "authors"):
        other = found[found["reading"] == way]
        assert len(other) == 3 * 6
        there = other[other["mae"].notna()]
        wanted = [["3", "1"]] if way == "paper" else []
        assert there[["configuration", "setup"]].to_numpy().tolist() == wanted
        assert set(other["training"]) >= {f"{way}_{experiment}_1_setup6"}
    first = found[found["agreement"] != ""].drop_duplicates(["setup", "configuration"])
    counted = first.set_index(["setup", "configuration"])["reading"]
    assert (counted["1", "3"], counted["2", "3"]) == ("paper", "")


@pytest.mark.parametrize("experiment", NUMBERS)
def test_without_numbers_each_published_row_says_why(experiment: str) -> None:
    paper = published(NUMBERS[experiment])
    found, tests = made_table(experiment, None, {}, paper)
    missing = [{"of": {}, "code": "raw_file_missing", "sentence": "no file", "remedy": "a; b"}]
    joined = join_reasons(found, missing, {"name": "training"})
    assert len(joined) == len(paper)
    assert all(note == ["not available: no file; a; b"] for note in joined["note"])
    assert tests.empty


def test_tables_1_and_2_count(numbers: pd.DataFrame) -> None:
    datasets = ["bagel", "sfrest", "sfhot"]
    counted = small_counts()
    first = table1(counted, published(1), datasets).set_index("system")
    assert first.loc["total", "total"] == 500
    assert first.loc["total", "sfhot"] == (numbers["dataset"] == "sfhot").sum()
    assert len(count_notes(counted)) == 4
    second = table2(counted, published(2))
    rows = second.set_index(["synthesise", "setup"])
    assert rows.loc[("all_parts", "2"), "training_instances"] == pytest.approx(6 * 300, abs=1)
    assert rows["training_instances_fewest"].le(rows["training_instances_most"]).all()
    # two reasons are two notes
    assert len(rows.loc[("first_part", "4"), "note"]) == 2
    for empty in (table1(None, published(1), datasets), table2(None, published(2))):
        assert set(empty["provenance"]) == {""}
        assert all(note == [] for note in empty["note"])


def test_a_data_set_and_a_system_that_the_paper_has_not_get_a_column_and_a_row() -> None:
    counted = {"ratings": {"mine": {"own": 3}}}
    found = table1(counted, published(1), ["own"]).set_index("system")
    assert found.index.tolist() == ["LOLS", "RNNLG", "TGen", "mine", "total"]
    assert found["own"].tolist() == [0, 0, 0, 3, 3]


# ---- the figure ----------------------------------------------------------------------------------


def test_a_curve_counts_the_folds_of_a_subset_together() -> None:
    outputs = pd.DataFrame({"id": list("abcdef"), "rating": [1.0, 2, 3, 4, 5, 6]})
    tested = zip([0, 1, 2, 3, 4, 4], outputs["id"], outputs["rating"], strict=True)
    rows = [(fold, "test", name, value) for fold, name, value in tested]
    rows += [(fold + 5, part, name, 7 - value) for fold, part, name, value in rows]
    rows += [(0, "dev", "b", 6.0)]
    made = pd.DataFrame(rows, columns=["fold", "part", "id", "prediction"])
    found = trained_curve(outputs, {50: made})
    assert found["size"].tolist() == [50, 50]
    assert found["subset"].tolist() == [0, 1]
    assert found["pearson"].tolist() == pytest.approx([1, -1])
    assert found["mae"].tolist() == [0, 3]
    assert trained_curve(outputs, {}).empty


def test_the_whole_is_set_up_1_of_table_3(numbers: pd.DataFrame) -> None:
    curve = pd.DataFrame(
        [("bleu_neighbors", "dev", 300, 0, 0.3, 0.2)],
        columns=["model", "reading", "size", "subset", "pearson", "spearman"],
    )
    cells = [("1", "", 0.4, 0.5, "0.273", "0.260"), ("2", "", 0.1, 0.1, "0.3", "0.3")]
    third = pd.DataFrame(cells, columns=TABLE_COLUMNS)
    found, paper = all_curves(curve, numbers, {}, third)
    whole = found[found["model"] == "rnn_qe"].iloc[0]
    assert (whole["size"], whole["pearson"], whole["spearman"]) == (300, 0.4, 0.5)
    assert paper == {"pearson": 0.273, "spearman": 0.26}


def test_without_numbers_the_figure_says_why() -> None:
    missing = [{"sentence": "the raw file is missing", "remedy": "place it"}]
    drawn = draw(None, gather(None, [], {}, missing), "")
    assert drawn.axes[0].texts[0].get_text() == ("not available: the raw file is missing; place it")
