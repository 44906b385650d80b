"""Means from few ratings: against their formulas, and from a table to the answer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import refless
from refless.cli import main
from refless.errors import FormatError, ReflessError
from refless.evaluation.estimate_means import EstimateSettings, estimate_means, unrated_rows
from refless.evaluation.means import MeanOptions, mean_tables
from refless.evaluation.rate import cross_predict
from refless.evaluation.read import rated_of
from refless.methods import Making, method
from refless.statistics.prediction_powered import powered_mean
from tests.evaluation.made_up import rows, write


@pytest.mark.parametrize("others", [5, 400])
def test_without_clusters_mean_and_error_are_those_of_the_paper(others):
    generator = np.random.default_rng(0)
    predicted, unrated = generator.normal(size=40), generator.normal(size=others)
    quality = 0.6 * predicted + generator.normal(size=40)
    mean = powered_mean(quality, predicted, unrated)
    spread = np.var(np.append(predicted, unrated), ddof=1)
    covariance = np.cov(quality, predicted, ddof=0)[0, 1]
    weight = np.clip(covariance / (1 + 40 / others) / spread, 0, 1)
    value = weight * unrated.mean() + (quality - weight * predicted).mean()
    parts = (quality - weight * predicted).var(ddof=1) / 40, (weight * unrated).var(ddof=1) / others
    error = mean.estimate.error
    assert (mean.value, error**2, mean.weight) == pytest.approx((value, sum(parts), weight))
    # Welch and Satterthwaite's degrees of freedom, less that of the weight, which is estimated, too
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 39 + parts[1] ** 2 / (others - 1))
    half = stats.t.ppf(0.975, freedom - 1) * error * (freedom / (freedom - 1)) ** 0.5
    assert mean.interval[1] - value == pytest.approx(half)
    assert powered_mean(quality, -predicted, unrated).weight == 0


def test_ratings_of_a_cluster_count_together():
    """Each text four times in its cluster: as precise as the texts once."""
    generator = np.random.default_rng(1)
    quality, predicted, unrated = generator.normal(size=(3, 20))
    cluster = np.repeat(np.arange(40), 4)
    repeated = powered_mean(*(np.repeat(v, 4) for v in (quality, predicted, unrated)), cluster)
    alone = powered_mean(np.repeat(quality, 4), np.zeros(80), np.zeros(0), cluster[:80])
    once = powered_mean(quality, predicted, unrated, np.arange(40))
    assert alone.error == pytest.approx(quality.std(ddof=1) / 20**0.5)
    assert alone.freedom == pytest.approx(19)
    assert (repeated.error, repeated.freedom) == pytest.approx((once.error, once.freedom), rel=0.05)


@pytest.mark.parametrize("others", [1, 9])
def test_a_few_clusters_without_ratings_do_not_move_the_mean(others):
    """Of one text with a strange prediction, the mean of 80 ratings moved by half their range."""
    generator = np.random.default_rng(2)
    predicted = generator.normal(size=80)
    quality = predicted + generator.normal(0, 0.1, size=80)
    cluster = np.append(np.arange(80) // 2, 100 + np.arange(others))
    mean = powered_mean(quality, predicted, np.full(others, -9.0), cluster)
    assert (mean.value, mean.weight) == (quality.mean(), 0)


def frames(n: int = 200, ratings: int = 80) -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = pd.DataFrame(rows(n, references=False))
    return texts.iloc[:ratings], texts.drop(columns="quality")


def test_from_tables_to_means_with_ranks_and_pairs():
    rated, outputs = frames()
    answer = refless.estimate(rated, outputs, scale=np.array([1, 5]))
    table = answer.table.set_index("system")
    assert table.loc["all", ["rated", "unrated"]].tolist() == [80, 120]
    of_ant = rated[rated["system"] == "ant"]["quality"]
    assert table.loc["ant", "rated_mean"] == pytest.approx(of_ant.mean())
    assert table.loc["all", "standard_error"] < table.loc["all", "rated_standard_error"]
    assert len(answer.pairs) == 6
    best = answer.pairs.iloc[0]
    assert best["difference"] == pytest.approx(
        table.loc[best["a"], "mean"] - table.loc[best["b"], "mean"]
    )
    better = (answer.pairs["p_holm"] < 0.05) & (answer.pairs["b"] == "ant")
    assert table.loc["ant", "rank_low"] == 1 + better.sum()
    assert "ant" in answer.answer
    assert "<table" in answer.to_html()
    # the rows without a rating are the outputs
    whole = outputs.assign(quality=rated["quality"])
    pd.testing.assert_frame_equal(refless.estimate(whole, scale=[1, 5]).table, answer.table)


def test_a_score_is_a_prediction_and_in_another_unit_a_line_to_ratings():
    rated, outputs = frames()
    score = np.clip(pd.DataFrame(rows(200))["quality"] + 0.3, 1, 5)
    rated, outputs = rated.assign(score_x=score[:80]), outputs.assign(score_x=score)
    free = [table.drop(columns="context") for table in (rated, outputs)]
    answer = refless.estimate(*free, method="score_x", score_unit="rating", by="mr")
    expected = powered_mean(rated["quality"].to_numpy(), score[:80].to_numpy(), score[80:])
    row = answer.table.iloc[0]
    found = row["mean"], row["standard_error"]
    assert found == pytest.approx((expected.value, expected.error), rel=1e-4)
    assert "as they are" in answer.answer
    for unit in (1, 100):
        other = [table.assign(score_x=unit * table["score_x"]) for table in free]
        answer = refless.estimate(*other, method="score_x", by="mr")
        assert "by a line" in answer.answer
        assert answer.table["standard_error"][0] == pytest.approx(row["standard_error"], rel=0.2)


def make_ridge(new_contexts):
    return method("ridge").make(Making(new_contexts=new_contexts))


@pytest.mark.parametrize("contexts", [80, 4])
def test_ratings_are_predicted_from_those_of_other_contexts(contexts):
    rated, outputs = frames()
    rated = rated.reset_index(drop=True).assign(cluster=np.arange(80) % contexts)
    first = cross_predict(make_ridge, rated, outputs, 0).rated
    one = rated["cluster"] == 3
    rated.loc[one, "quality"] += np.linspace(1, 2, one.sum())
    second = cross_predict(make_ridge, rated, outputs, 0).rated
    np.testing.assert_allclose(first[one], second[one], atol=1e-12)
    assert np.abs(first - second).max() > 1e-3


def test_a_method_chooses_by_contexts_where_contexts_are_left_out():
    rated, outputs = frames()
    made = []

    def make(new_contexts):
        made.append(new_contexts)
        return make_ridge(new_contexts)

    def contexts_are_new(texts):
        made.clear()
        settings = EstimateSettings("ridge", make)
        estimate_means(texts, outputs, settings, outputs_have_rated=True, path="")
        return set(made)

    assert contexts_are_new(rated) == {True}
    assert contexts_are_new(rated.assign(context="the same")) == {False}


def test_contexts_are_counted_as_compare_counts_them():
    """MRs that differ in the values of their slots alone are one context."""
    places = [f"inform(name=X-name,area='{place}')" for place in ("north", "south")]
    acts = [f"inform(name=X-name,slot{number}=yes)" for number in range(12)]
    rated, outputs = (
        table.drop(columns="context").assign(mr=np.resize([*places, *acts], len(table)))
        for table in frames()
    )
    answer = refless.estimate(rated, outputs)
    compared = rated_of(rated.assign(quality=rated["quality"] / 5))
    assert compared.contexts == 13
    assert "13 contexts" in answer.answer


def test_texts_without_a_prediction_are_counted():
    rated, outputs = frames()
    few = refless.estimate(rated.head(12), outputs, kernel="bleu.word")
    [line] = [line for line in few.warnings if "no prediction" in line]
    assert f"{len(outputs)} of {len(outputs)}" in line
    by_ridge = refless.estimate(rated.head(12), outputs)
    assert not any("no prediction" in line for line in by_ridge.warnings)


def test_a_text_that_was_rated_is_counted_once_among_those_that_a_kernel_cannot_read():
    rated, outputs = frames()
    texts = ["" if row < 10 else text for row, text in enumerate(outputs["text"])]
    outputs = outputs.assign(text=texts)
    rated = rated.assign(text=outputs["text"][: len(rated)])
    answer = refless.estimate(rated, outputs, kernel="bleu.word")
    [line] = [line for line in answer.warnings if "as empty" in line]
    assert f"10 of {len(outputs)}" in line


def test_many_systems_are_not_paired_and_the_answer_says_so():
    rated, outputs = frames(450, 300)
    system = [f"s{row % 225}" for row in range(len(outputs))]
    outputs = outputs.assign(system=system)
    few = rated.assign(system=system[: len(rated)]).head(120)  # others have no rating
    answer = refless.estimate(few, outputs)
    assert len(answer.pairs) == 0
    assert "--all-pairs" in answer.answer
    every = refless.estimate(few, outputs, all_pairs=True)
    assert "--all-pairs" not in every.answer


def test_ratings_that_are_alike_have_no_interval_and_no_rank_of_their_own():
    rated, outputs = frames()
    levels = dict(zip(sorted(set(rated["system"])), (2.0, 3.0, 4.0, 5.0), strict=True))
    answer = refless.estimate(rated.assign(quality=rated["system"].map(levels)), outputs)
    assert answer.table["mean_low"][1:].isna().all()
    assert answer.pairs["p"].isna().all()
    assert any("alike" in line for line in answer.warnings)


def test_equal_texts_count_together():
    rated, outputs = frames()
    free = [table.drop(columns=["context"]) for table in (rated, outputs)]
    once = refless.estimate(*free, by="system").table
    thrice = refless.estimate(pd.concat([free[0]] * 3), free[1]).table
    assert thrice["rated_standard_error"][0] >= 0.9 * once["rated_standard_error"][0]


@pytest.mark.parametrize("rated_of", [(40, 40), (40, 20), (100, 10)])
def test_systems_count_by_their_texts_however_many_ratings_they_have(rated_of):
    generator = np.random.default_rng(0)
    sizes, means = (600, 60), (4.0, 2.0)
    tables = [
        pd.DataFrame({"predicted": generator.normal(m, 1, n), "group": name, "cluster": 0})
        for name, m, n in zip("ab", means, sizes, strict=True)
    ]
    both = pd.concat(tables, ignore_index=True)
    both["cluster"] = both["text_number"] = np.arange(len(both))
    number = both["group"].map(dict(zip("ab", rated_of, strict=True)))
    first = both.groupby("group").cumcount() < number
    noise = generator.normal(0, 0.5, sum(rated_of))
    rated = both[first].assign(quality=lambda table: table["predicted"] + noise)
    table, _ = mean_tables(rated, both[~first], MeanOptions())
    everything = np.average(means, weights=sizes)
    assert table.loc[0, "mean_low"] < everything < table.loc[0, "mean_high"]
    assert table.loc[0, "rated_mean"] == pytest.approx(everything, abs=0.35)
    assert table.loc[0, "rated_mean_high"] - table.loc[0, "rated_mean_low"] > 0.2


def clustered(
    sizes: Sequence[int], ratings: int, share: float = 0.5, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Texts of contexts of these sizes, some of them rated, of which contexts have a share of the
    variance in common, with a score that knows something."""
    generator = np.random.default_rng(seed)
    context = np.repeat(np.arange(len(sizes)), sizes)
    quality = share**0.5 * generator.normal(size=len(sizes))[context]
    quality = quality + (1 - share) ** 0.5 * generator.normal(size=len(context))
    texts = pd.DataFrame(
        {
            "text": [f"text number {number}" for number in range(len(context))],
            "context": [f"context {number}" for number in context],
            "system": np.array(["ant", "bee"])[generator.permutation(len(context)) % 2],
            "score_judge": quality + generator.normal(size=len(context)),
        }
    )
    rows = generator.permutation(len(context))[:ratings]
    return texts.iloc[rows].assign(quality=quality[rows]), texts


def test_the_means_of_these_outputs_are_known_where_each_is_rated():
    rated, outputs = clustered([5] * 8, 40)
    known = refless.estimate(rated, outputs, method="score_judge", these_outputs=True)
    of_more = refless.estimate(rated, outputs, method="score_judge").table
    table = known.table
    assert table["mean"].tolist() == of_more["mean"].tolist()
    assert table["mean_low"].tolist() == table["mean_high"].tolist() == table["mean"].tolist()
    assert (of_more["mean_low"] < of_more["mean_high"]).all()
    assert known.pairs["p"].tolist() == [0]
    assert table.loc[1:, "rank_low"].tolist() == table.loc[1:, "rank_high"].tolist()


def test_the_means_of_these_outputs_take_a_part_of_the_variance_of_a_sample():
    rated, outputs = clustered([10] * 20, 100)
    means = [
        refless.estimate(rated, outputs, method="score_judge", these_outputs=these).table
        for these in (True, False)
    ]
    assert means[0]["rated_mean"].tolist() == means[1]["rated_mean"].tolist()
    (low, high), quality = means[0].loc[0, ["rated_mean_low", "rated_mean_high"]], rated["quality"]
    half = stats.t.ppf(0.975, 99) * quality.std() / 10 * 0.5**0.5
    # systems count by their texts, so that their difference is no part of the variance
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)
    assert means[0]["standard_error"][0] < means[0]["rated_standard_error"][0]


def test_ratings_of_few_contexts_are_no_sample_of_these_outputs():
    rated, outputs = clustered([10] * 20, 100)
    outputs = outputs.sort_values("context")
    few = outputs.iloc[:60].assign(quality=1.0 + np.arange(60) % 5)
    said = [
        any("at random" in line for line in answer.warnings)
        for answer in (
            refless.estimate(some, outputs, method="score_judge", these_outputs=True)
            for some in (few, rated)
        )
    ]
    assert said == [True, False]


@pytest.mark.parametrize("sizes", [[60, 60], [200, *[5] * 8]])
def test_below_three_effective_contexts_there_is_no_interval_and_no_verdict(sizes):
    rated, outputs = clustered(sizes, 80)
    answer = refless.estimate(rated, outputs, method="score_judge", plan=0.3)
    assert answer.table["effective_clusters"][0] < 3
    assert answer.table[["mean_low", "rated_mean_low", "standard_error"]].isna().all(axis=None)
    assert answer.pairs[["p", "difference_low"]].isna().all(axis=None)
    assert sum("fewer than 3 contexts" in line for line in answer.warnings) == 1
    assert "nan" not in answer.answer
    these = refless.estimate(rated, outputs, method="score_judge", these_outputs=True)
    assert these.table["mean_low"].notna().all()


def test_ratings_of_one_context_say_nothing_of_others():
    rated, outputs = clustered([40, *[10] * 8], 60)
    rated = rated[rated["context"] == "context 0"]
    answer = refless.estimate(rated, outputs, method="score_judge")
    assert answer.table["mean"].notna().all()
    assert answer.table["mean_low"].isna().all()
    assert sum("one context" in line for line in answer.warnings) == 1


def test_a_context_with_half_the_texts_counts_for_more_than_its_one():
    """The interval has the degrees of freedom of 3 contexts, and not of 11."""
    equal, heavy = (
        refless.estimate(*clustered(sizes, 150, share=0), method="score_judge").table.iloc[0]
        for sizes in ([18] * 11, [100, *[10] * 10])
    )
    assert equal["effective_clusters"] > 10
    assert 3 < heavy["effective_clusters"] < 4
    spread = [
        (row["mean_high"] - row["mean_low"]) / row["standard_error"] for row in (equal, heavy)
    ]
    assert spread[1] > 1.2 * spread[0]


def test_equal_texts_of_several_contexts_count_together():
    generator = np.random.default_rng(3)
    texts = [f"text {number % 40}" for number in range(200)]
    contexts = [f"context {number // 5}" for number in range(200)]
    quality = generator.normal(size=40)[np.arange(200) % 40]
    rated = pd.DataFrame({"text": texts, "context": contexts, "quality": quality})
    alike, different = (
        refless.estimate(table, method="ridge").table["standard_error"][0]
        for table in (rated, rated.assign(text=[f"{k} {t}" for k, t in enumerate(texts)]))
    )
    assert alike > 1.5 * different


@pytest.mark.parametrize("these_outputs", [True, False])
def test_a_plan_names_the_texts_that_give_the_width(these_outputs):
    options = {"method": "score_judge", "these_outputs": these_outputs}
    rated, outputs = clustered([20] * 30, 60, share=0)
    row = refless.estimate(rated, outputs, **options).table.iloc[0]
    width = row["mean_high"] - row["mean_low"]
    answer = refless.estimate(rated, outputs, plan=width, **options)
    plan = answer.table.iloc[0]
    assert plan["texts_needed"] == pytest.approx(60, rel=0.4)
    assert plan["texts_needed_low"] <= plan["texts_needed"] <= plan["texts_needed_high"]
    narrow = refless.estimate(rated, outputs, plan=0.8 * width, **options).table
    assert narrow["texts_needed"][0] > 1.2 * plan["texts_needed"]


def test_a_plan_names_no_number_of_texts_where_all_are_not_enough():
    rated, outputs = clustered([10] * 30, 100)
    every = clustered([10] * 30, 300)[0]
    row = refless.estimate(every, outputs, method="score_judge").table.iloc[0]
    width = 0.7 * (row["mean_high"] - row["mean_low"])
    answer = refless.estimate(rated, outputs, method="score_judge", plan=width)
    assert answer.table["texts_needed"][0] == np.inf
    assert answer.table["contexts_needed"][0] > 30
    line = answer.answer.splitlines()[-1]
    assert "rated texts" not in line
    assert f"{answer.table['contexts_needed'][0]:.0f}" in line
    these = refless.estimate(
        rated, outputs, method="score_judge", plan=width, these_outputs=True
    ).table
    assert these["texts_needed_high"][0] <= 300


def test_outputs_that_were_rated_are_told_apart_by_text_system_and_context():
    rated = pd.DataFrame({"text": ["A b", "c"], "system": ["x-1", "y"]})
    systems = ["x1", "x-1", "x-1", "y"]
    outputs = pd.DataFrame({"text": ["a b", "a b.", "a  B", "d"], "system": systems})
    assert unrated_rows(rated, outputs) == ([0, 1, 3], 1)


def test_unrated_rows_of_one_table_count_though_they_equal_rated_ones():
    rated, _ = frames()
    table = pd.concat([rated, rated.head(30).assign(quality=None)])
    row = refless.estimate(table, scale=[1, 5]).table.iloc[0]
    assert row[["rated", "unrated"]].tolist() == [80, 30]


def test_contexts_of_any_spelling_are_one():
    rated, outputs = frames()
    outputs = outputs.assign(context=outputs["context"].str.upper())
    table = refless.estimate(rated, outputs, by="context").table
    assert len(table) == 1 + rated["context"].nunique()


def test_contexts_that_differ_in_signs_have_a_mean_each():
    rated, outputs = frames()
    prompts = ["का", "की", "C++", "C#"]
    rated, outputs = (
        table.assign(context=[prompts[row % 4] for row in range(len(table))])
        for table in (rated, outputs)
    )
    table = refless.estimate(rated, outputs, by="context").table.set_index("system")
    assert set(table.index) == {"all", *prompts}
    of_prompt = rated[rated["context"] == "C#"]["quality"]
    assert table.loc["C#", "rated_mean"] == pytest.approx(of_prompt.mean())


def test_holes_of_scores_are_said_by_score_too():
    rated, outputs = frames()
    outputs.loc[:9, "score_judge"] = None
    answer = refless.score(rated, outputs, method="score_judge")
    assert "10 of 200" in answer.warnings[0]
    with pytest.raises(FormatError, match="score_judge"):
        refless.estimate(rated.assign(score_judge=None), outputs, method="score_judge")


def test_the_command_writes_what_the_function_returns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rated, outputs = frames()
    write(Path("rated.jsonl"), rated.to_dict("records"))
    write(Path("all.jsonl"), outputs.to_dict("records"))
    words = "estimate --ratings rated.jsonl --outputs all.jsonl --scale 1 5"
    assert main([*words.split(), "--out", "means.csv"]) == 0
    answer = refless.estimate(rated, outputs, scale=[1, 5])
    pd.testing.assert_frame_equal(pd.read_csv("means.csv"), answer.table)
    pd.testing.assert_frame_equal(pd.read_csv("means.pairs.csv"), answer.pairs)
    assert answer.answer in capsys.readouterr().err
    assert main([*words.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == answer.answer.splitlines()
    assert main([*words.split(), "--out", "all.jsonl"]) == 1
    capsys.readouterr()
    assert main([*words.split(), "--these-outputs", "--plan", "0.1"]) == 0
    answer = refless.estimate(rated, outputs, scale=[1, 5], these_outputs=True, plan=0.1)
    assert capsys.readouterr().out.strip() == answer.answer


def holes(rated: pd.DataFrame, outputs: pd.DataFrame, method: str) -> tuple[Any, ...]:
    """A score that every third output lacks, beside one that none does."""
    tables = [table.assign(score_length=table["text"].str.len()) for table in (rated, outputs)]
    tables[1].loc[::3, "score_judge"] = None
    return *tables, method


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rated, outputs: holes(rated, outputs, "score_judge"), "score_judge (of "),
        (lambda rated, outputs: holes(rated, outputs, "combined"), "score_judge (of "),
        (lambda rated, outputs: (rated.assign(text="so " + rated["text"]), outputs), "80 of 80"),
        (lambda *tables: [table.assign(system="ant") for table in tables], "one system"),
        (
            lambda rated, outputs: (rated[(rated["system"] != "ant") | (rated.index < 2)], outputs),
            "1 systems",
        ),
        (lambda rated, _: (rated, rated.drop(columns="quality")), "no output is unrated"),
    ],
)
def test_what_is_odd_is_said_in_a_line(change, words):
    rated, outputs, method, *_ = *change(*frames()), "ridge"
    answer = refless.estimate(rated, outputs, method=method)
    assert sum(words in line for line in answer.warnings) == 1
    assert np.isfinite(answer.table["mean"][0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rated, outputs: (rated.assign(quality="good"), outputs), "are no numbers"),
        (lambda rated, outputs: (rated, outputs.drop(columns="system")), "no column system"),
        (lambda rated, outputs: (rated.head(5), outputs), "too few"),
        (lambda rated, outputs: (rated.assign(quality=None), outputs), "no text is rated"),
    ],
)
def test_bad_tables_are_refused_in_a_line(change, words):
    with pytest.raises(FormatError, match=words):
        refless.estimate(*change(*frames()))


def test_a_mean_by_context_wants_a_context_of_each_text():
    rated, outputs = frames()
    outputs.loc[3, "context"] = ""
    with pytest.raises(FormatError, match="1 texts have no context"):
        refless.estimate(rated, outputs, by="context")


def test_ratings_that_are_alike_are_known_where_all_of_these_outputs_are_rated():
    rated, _ = frames()
    rated.loc[rated["system"] == "ant", "quality"] = 3.0
    answer = refless.estimate(rated, rated, these_outputs=True, method="score_judge")
    ant = answer.table.set_index("system").loc["ant"]
    assert (ant["mean_low"], ant["mean_high"]) == (3, 3)
    assert not any("no interval" in line for line in answer.warnings)


def test_rated_texts_that_are_not_among_these_outputs_are_named_where_the_means_are():
    rated, outputs = frames()
    within, beside = (
        refless.estimate(rated, texts, these_outputs=True, method="score_judge")
        for texts in (outputs, outputs.iloc[-50:])
    )
    lines = [
        next(line for line in answer.answer.splitlines() if "of these outputs" in line)
        for answer in (within, beside)
    ]
    assert "rated texts" not in lines[0]
    assert "rated texts" in lines[1]


def test_bad_settings_are_refused():
    rated, outputs = frames()
    settings: list[dict[str, Any]] = [
        *({"plan": 0}, {"method": "score_none"}, {"kernel": "bleu.none"}),
        *({"method": "system"}, {"method": "text"}, {"by": "quality"}),
        *({"scale": scale} for scale in ([1], [], ("1", "5"), [5, 1], 5)),
        *({"need": ["quality"]}, {"rated": "score_judge"}),
    ]
    for more in settings:
        with pytest.raises(ReflessError):
            refless.estimate(rated, outputs, **more)
    with pytest.raises(ReflessError):
        refless.score(rated, outputs, method="text")
    for nothing in ([], pd.DataFrame()):
        with pytest.raises(ReflessError):
            refless.estimate(nothing)


@pytest.mark.parametrize("unit", [1, 100])
def test_nothing_to_predict_lacks_no_score(unit):
    rated, _ = frames()
    rated = rated.assign(score_judge=unit * rated["score_judge"])
    for outputs in (None, rated.head(0)):
        answer = refless.estimate(rated, outputs, method="score_judge")
        assert answer.table["mean"].tolist() == answer.table["rated_mean"].tolist()
    assert refless.score(rated, rated.head(0), method="score_judge").table.empty
    with pytest.raises(FormatError, match="score_judge") as refused:
        refless.estimate(rated, rated.assign(score_judge=None), method="score_judge")
    assert "no column" not in str(refused.value)
