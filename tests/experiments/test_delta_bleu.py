"""ΔBLEU's experiment: references, units scored anew, table 2 and its figure."""

from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.ratings import RatedTexts
from refless.data.sources import load
from refless.data.task import Task, read_task, write_task
from refless.errors import FormatError, SettingError
from refless.experiments.delta_bleu import units
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    FALLBACK_WEIGHT,
    GOOD,
    HIGH,
    METRICS,
    SINGLE,
    Counted,
    Variant,
    read_dialogues,
)
from refless.experiments.delta_bleu.table2 import KEYS, delta_bleu_table2
from refless.experiments.delta_bleu.units import (
    observations,
    resampled_contexts,
    table_variants,
    unit_rows,
    write_units,
)
from refless.experiments.reproducibility.cells import published_cells
from refless.models.delta_bleu import corpus_delta_bleu, of_items, smoothed_scores, tokenize
from refless.report import figures
from refless.report.catalogue import catalogue
from refless.report.figures_delta_bleu import reference_regimes
from refless.report.render import parts_of
from refless.statistics import interval, spearman_rows
from refless.statistics.bootstrap import unpacked
from refless.store import sealed
from tests.conftest import ROOT, published

WORDS = ["the", "a", "cat", "dog", "sat", "slept", "on", "under", "mat", "tree", "and", "it"]
SYSTEMS = ["alpha", "beta", "gamma", "delta"]


def small_texts(contexts: int = 12, seed: int = 0, humans: int = 1) -> pd.DataFrame:
    """Rated responses: the better ones share more words with the context's own sentence."""
    generator = np.random.default_rng(seed)
    rows = []
    for c in range(contexts):
        ideal = generator.choice(WORDS, 8)
        models = ["New Human Generated", "Original Ground Truth"][2 - humans :]
        for k, model in enumerate([*models, *SYSTEMS]):
            quality = 1.0 if k < humans else generator.integers(0, 13) / 12
            text = np.where(generator.random(8) < quality, ideal, generator.choice(WORDS, 8))
            text = " ".join(text[: generator.integers(3, 9)]) + "."
            system = "human" if k < humans else model
            rows.append((f"t:{c}:{k}", text, quality, system, model, f"c{c}"))
    columns = ["id", "text", "quality", "system", "model", "context_id"]
    return pd.DataFrame(rows, columns=columns).assign(n_ratings=3, context="")


PUBLISHED = published("delta_bleu_table2")


def as_task(folder: Path, texts: pd.DataFrame, *ratings: pd.DataFrame) -> Task:
    write_task(RatedTexts(texts, *ratings), folder, {})
    return read_task(folder)


SETTINGS: dict[str, Any] = {"contexts_per_unit": 4, "assignments_per_draw": 2, "assignments": 30}
SETTINGS |= {"figure_unit_sizes": [1, 4], "draws": 100, "seed": 1}


def test_contexts_that_somebody_did_not_answer_are_left_out():
    texts = small_texts()
    texts.loc[texts["id"] == "t:2:3", ["n_ratings", "quality"]] = [0, np.nan]
    texts = texts[texts["id"] != "t:5:0"]
    found = read_dialogues(texts)
    kept = [f"c{k}" for k in range(12) if k not in (2, 5)]
    assert [texts["context_id"].iloc[k] for k in found.output[:, 0]] == kept


def test_contexts_of_the_same_text_are_known():
    texts = small_texts(5)
    context = {"c0": "a  passage", "c1": "", "c2": "a passage", "c3": "", "c4": "another"}
    texts["context"] = texts["context_id"].map(context)
    assert read_dialogues(texts).context.tolist() == [0, 1, 0, 2, 3]


def test_what_cannot_be_paired_is_named():
    texts = small_texts()
    human, beta = texts["system"] == "human", texts["model"] == "beta"
    apart = texts.assign(context_id=texts["context_id"].where(~beta, texts["id"]))
    for lost in (texts[~human], texts[human | beta], apart):
        with pytest.raises(FormatError, match="every system") as caught:
            read_dialogues(lost)
        assert caught.value.remedy
    twice = pd.concat([texts, texts[beta].iloc[[4]].assign(id="t:again")])
    with pytest.raises(FormatError, match="beta answers one context twice") as caught:
        read_dialogues(twice)
    assert f"{texts[beta]['id'].iloc[4]} and t:again" in caught.value.message


def answered(quality: dict[str, list[float]]) -> pd.DataFrame:
    """The qualities of each system's responses in two contexts."""
    rows = [(name, k, f"{name} {k}", own[k]) for k in (0, 1) for name, own in quality.items()]
    table = pd.DataFrame(rows, columns=["system", "context_id", "text", "quality"])
    return table.assign(n_ratings=3, context="")


@pytest.mark.parametrize(("quality", "threshold"), [(0.7, "w>=0.4"), (0.6, "w>=0.2")])
def test_a_weight_at_the_threshold_reaches_it_whatever_its_last_bit_is(quality, threshold):
    table = answered({"human": [quality, quality], "alpha": [0, 0], "beta": [0, 0]})
    counted = Counted(read_dialogues(table), 2)
    assert counted.reference_counts(Variant("bleu", threshold)) == (1, 0)
    middle = answered({"human": [np.nextafter(0.5, 1)] * 2, "alpha": [0, 0], "beta": [0, 0]})
    counted = Counted(read_dialogues(middle), 2)
    assert counted.reference_counts(Variant("delta_bleu")) == (1, 1)  # without a good one


VARIANTS = [
    *table_variants(),
    Variant("delta_bleu", "w>=0.2", tokens="blanks", rule="signed"),
    Variant("bleu", SINGLE, GOOD),
    Variant("bleu", order=1),
    Variant("sbleu", order=1),
]


def pool(contexts: int, assignments: int) -> np.ndarray:
    return np.tile(np.arange(contexts, dtype=np.int32), (assignments, 1))


def direct_references(
    texts: pd.DataFrame, variant: Variant, context: str, pair: set[str]
) -> tuple[list[tuple[str, float]], bool]:
    """(text, weight) of one context and pair, put together anew, none where it does not count; and
    whether it lacks a reference, or a good one where that is needed."""
    own = texts[(texts["context_id"] == context) & ~texts["model"].isin(pair)]
    found, human = [], ("", 0.0)
    for row in own.itertuples():
        w = (row.quality - 0.5) / 0.5
        entry = (tokenize(row.text, variant.tokens), w)
        if row.model == "Original Ground Truth":
            human = entry
        elif variant.references == SINGLE:
            continue
        if variant.references in (SINGLE, ALL) or w >= float(variant.references[3:]):
            found.append(entry)
    good = any(w > 0 for _, w in found)
    lacking = not (good if variant.weighted or variant.contexts == GOOD else found)
    if variant.contexts == GOOD and lacking:
        return [], True
    if lacking:
        found = [entry for entry in found if entry != human]
        found.append((human[0], max(human[1], FALLBACK_WEIGHT)))
    return found if variant.weighted else [(text, 1.0) for text, _ in found], lacking


def direct_score(
    variant: Variant, texts: list[str], references: list[list[tuple[str, float]]]
) -> float:
    """Of one unit, each metric counted anew by the library's functions for whole texts."""
    kept = [k for k, own in enumerate(references) if own]
    if not kept:
        return 0.0
    hypotheses = [tokenize(texts[k], variant.tokens) for k in kept]
    named = [[text for text, _ in references[k]] for k in kept]
    weights = [[w for _, w in references[k]] for k in kept]  # all 1 for BLEU
    if variant.metric == "sbleu":
        return float(smoothed_scores(of_items(hypotheses, named, weights, variant.order)).sum())
    return corpus_delta_bleu(hypotheses, named, weights, variant.order, variant.rule)


@pytest.mark.parametrize("humans", [1, 2])
def test_observations_are_scores_of_units_counted_anew(humans):
    texts = small_texts(humans=humans)
    texts.loc[texts["context_id"] == "c4", "quality"] /= 4  # nothing good
    own = read_dialogues(texts)
    variants = VARIANTS if humans == 1 else VARIANTS[::5]
    m, q = observations(Counted(own, 2), variants, pool(12, 2), 5, seed=7)
    assert m.shape == (len(variants), 2, 6 * 2)
    known = texts.set_index(["context_id", "model"])
    for number, (a, b) in list(enumerate(combinations(own.systems, 2)))[::2]:
        generator = np.random.default_rng([7, number])
        order = generator.permuted(pool(12, 2), axis=1)[:, :10].reshape(2, 2, 5)
        sign = generator.choice(np.array([-1.0, 1.0]), (2, 2))
        for assignment, unit in ((0, 0), (1, 1)):
            place = (assignment, 2 * number + unit)
            names = [f"c{k}" for k in order[assignment, unit]]
            rated = [known["quality"][[(c, s) for c in names]].mean() for s in (a, b)]
            assert q[place] == pytest.approx(sign[assignment, unit] * (rated[0] - rated[1]))
            for k, variant in enumerate(variants):
                references = [direct_references(texts, variant, c, {a, b})[0] for c in names]
                first, second = (
                    direct_score(variant, [known["text"][c, s] for c in names], references)
                    for s in (a, b)
                )
                expected = sign[assignment, unit] * (first - second)
                assert m[(k, *place)] == pytest.approx(expected, abs=1e-12), variant


def test_references_are_counted_over_contexts_and_pairs():
    texts = small_texts()
    texts["quality"] = np.random.default_rng(1).integers(0, 13, len(texts)) / 12
    own = read_dialogues(texts)
    places = [(f"c{k}", {*pair}) for k in range(12) for pair in combinations(own.systems, 2)]
    counted, lacks = Counted(own, 2), set()
    for variant in VARIANTS:
        each = [direct_references(texts, variant, context, pair) for context, pair in places]
        number, without = np.mean([(len(found), lacking) for found, lacking in each], axis=0)
        assert counted.reference_counts(variant) == pytest.approx((number, without)), variant
        lacks.add(without)
    assert len(lacks) > 5


def test_the_order_of_cells_and_blocks_change_nothing(monkeypatch):
    counted = Counted(read_dialogues(small_texts()), 2)
    again = resampled_contexts(np.arange(12), 4, 2, seed=1)
    one = observations(counted, VARIANTS, again, 4, 3)
    monkeypatch.setattr(units, "_UNITS_AT_ONCE", 7)
    two = observations(counted, VARIANTS[::-1], again, 4, 3)
    np.testing.assert_array_equal(one[0], two[0][::-1])
    np.testing.assert_array_equal(one[1], two[1])
    with pytest.raises(SettingError, match="a unit of 13 contexts"):
        observations(counted, VARIANTS, again, 13, 3)
    for elsewhere in (again - 12, again + 1):
        with pytest.raises(SettingError, match="contexts"):
            observations(counted, VARIANTS, elsewhere, 4, 3)


def test_units_of_equal_ratings_are_ties_whatever_the_last_bits_are():
    """0.1 + 0.2 and 0.3 + 0.0 over two contexts: level, and no rounding noise says otherwise."""
    table = answered({"human": [1, 1], "alpha": [0.1, 0.2], "beta": [0.3, 0.0]})
    counted = Counted(read_dialogues(table), 2)
    assert (observations(counted, [Variant("bleu")], pool(2, 3), 2, 1)[1] == 0).all()


def test_contexts_of_the_same_text_are_drawn_together_and_as_often_as_asked():
    text = np.array([*range(30), 3, 7, 3])
    left = [set(np.flatnonzero(text == number).tolist()) for number in range(30)]
    for row in resampled_contexts(text, 50, 1, seed=1):
        drawn = row.tolist()
        while drawn:
            whole = left[text[drawn[0]]]
            of_one, drawn = drawn[: len(whole)], drawn[len(whole) :]
            assert set(of_one) == whole or (not drawn and set(of_one) < whole)
    # of so few texts, draws would hardly differ
    few = resampled_contexts(text % 29, 50, 1, seed=1)
    np.testing.assert_array_equal(few, resampled_contexts(np.arange(33), 50, 1, seed=1))
    assert set(few.ravel()) == set(range(33))
    np.testing.assert_array_equal(
        few.repeat(2, axis=0), resampled_contexts(text % 29, 50, 2, seed=1)
    )


def test_rows_have_the_means_of_scipys_correlations(monkeypatch):
    counted = Counted(read_dialogues(small_texts(contexts=24)), max(units.ORDERS))
    monkeypatch.setattr(units, "MOST_OBSERVATIONS", 720)
    rows = unit_rows(counted, SETTINGS)
    table = rows[rows["panel"] == "table"]
    m, q = observations(counted, table_variants(), pool(24, 20), 4, SETTINGS["seed"])
    for k, row in enumerate(table.to_dict("records")):
        for name, of in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            each = [of(m[k, a], q[a]).statistic for a in range(20)]
            assert row[name] == pytest.approx(np.nanmean(each))
            assert row[f"{name}_low"] < row[f"{name}_high"]
    points = rows[rows["panel"] != "table"].set_index("panel")
    assert set(points.loc["threshold", "references"]) == {
        f"w>={value:g}" for value in units.WEIGHT_THRESHOLDS
    }
    assert set(points.loc["order", "order"]) == set(units.ORDERS)
    # small units get fewer assignments
    sizes = points.loc["unit"].drop_duplicates("unit").set_index("unit")["n"]
    assert sizes.to_dict() == {1: 6 * 24, 4: 6 * 6}
    one = observations(counted, [Variant("bleu", HIGH)], pool(24, 720 // (6 * 24)), 1, 1)
    first = points.loc["unit"].query("unit == 1 and metric == 'bleu'")["spearman"]
    assert first.item() == pytest.approx(spearman_rows(*one).mean())


def test_equal_outputs_of_two_systems_stay_apart(tmp_path):
    """Where a data set has one row for the same text of two systems, each has its own rating."""
    texts = small_texts().assign(
        item=lambda table: "t:" + table["context_id"] + ":" + table["model"]
    )
    first, second = texts.index[texts["context_id"] == "c0"][-2:]
    both = texts.loc[[first, second]]
    ratings = pd.DataFrame({"id": texts.loc[first, "id"], "rater": "r", "label": [1.0, 0.0]})
    ratings = ratings.assign(rating=ratings["label"], item=both["item"].to_numpy())
    for name in ("item", "system"):
        texts.loc[first, name] = "+".join(both[name])
    dataset = as_task(tmp_path / "small", texts.drop(index=second).drop(columns="model"), ratings)
    write_units(tmp_path / "units.csv", dataset, SETTINGS)
    table = sealed.read(tmp_path / "units.csv").content
    assert set(table.loc[table["panel"] == "table", "n"]) == {6 * 12 // 4}


@pytest.mark.slow
def test_recomputations_of_dstc7_by_others_come_out(mirror):
    path = Path(mirror, "dstc7/dstc7-task2-human_eval.tgz")
    texts = load("dstc7", "dstc7", {"path": path}, {"unit": "output"}).texts
    counted = Counted(read_dialogues(texts), 2)
    variants = [
        *(Variant("bleu", references, rule="floor") for references in (SINGLE, HIGH, "w>=0", ALL)),
        *(Variant("delta_bleu", references) for references in (HIGH, "w>=0.4", "w>=0.2")),
        *(Variant("bleu", references) for references in (HIGH, "w>=0.4", "w>=0.2")),
    ]
    m, q = observations(counted, variants, pool(1000, 100), 100, seed=1)
    rho = spearman_rows(m, q).mean(axis=1)
    np.testing.assert_allclose(rho[:4], [0.280, 0.382, 0.325, 0.148], atol=0.006)
    np.testing.assert_allclose(rho[4:], [0.468, 0.578, 0.558, 0.382, 0.535, 0.528], atol=0.004)
    assert counted.reference_counts(Variant("bleu", HIGH)) == pytest.approx(
        (1.036, 0.717), abs=0.001
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ratings") / "small"
    path = folder.parent / "results/small/units.csv"
    write_units(path, as_task(folder, small_texts(contexts=24)), SETTINGS)
    return path


def test_the_rows_of_a_data_set_the_papers_and_one_without_numbers(file):
    table = delta_bleu_table2([file], PUBLISHED, ["small", "other"])
    assert not table.duplicated(KEYS).any()
    paper = table[table["dataset"] == "twitter"].set_index(["metric", "references"])
    assert len(paper) == 9
    low = paper["paper_spearman_low"]
    assert low[low != ""].to_dict() == {("bleu", HIGH): "0.265", ("delta_bleu", ALL): "0.415"}
    assert set(paper["reason"]) == {"not_public number_lost"}
    # what is lost is no published cell
    assert published_cells(table, KEYS[:3]).empty
    assert set(table.loc[9:, "paper_spearman_low"]) == {""}
    assert table.loc[table["dataset"] == "other", "provenance"].tolist() == [""]
    own = table[table["dataset"] == "small"]
    assert set(own["provenance"]) == {"computed"}
    row = own.iloc[3]
    assert own["tweets_spearman"].isna().all()
    ends = interval(unpacked(row["spearman_draws"]))
    assert ends == pytest.approx((row["spearman_low"], row["spearman_high"]), abs=1e-6)
    assert own.groupby("contexts").size().to_dict() == {"all": 33, GOOD: 6}


def test_a_column_that_is_filled_in_stands_beside_ours(file):
    """Whoever has the paper's table writes its numbers into the file of published values."""
    printed = PUBLISHED.assign(spearman=[f"0.{k}" for k in range(1, 10)])
    table = delta_bleu_table2([file], printed, ["small"])
    assert len(published_cells(table, KEYS[:3])) == 9
    assert set(table.loc[table["dataset"] == "twitter", "reason"]) == {"not_public"}
    beside = table[table["tweets_spearman"].notna()]
    plain = [["small"], ["all"], ["words"], ["smooth"]]
    assert [list(set(beside[name])) for name in ("dataset", *KEYS[3:])] == plain
    by_row = beside.set_index(["metric", "references"])["tweets_spearman"]
    assert by_row["sbleu", SINGLE] == 0.4
    grids = list(parts_of(catalogue()["delta_bleu_table2"], table, {"small": "Some chat"}))
    (grid,) = (grid for grid in grids if grid.title == "Some chat")
    column = grid.header.index("BLEU: Spearman, paper's tweets")
    (rows,) = grid.groups.values()
    assert {row[0].text: row[column].text for row in rows}["all"] == "0.300"
    # other data: the comparison has no verdict
    assert {row[column].verdict for row in rows}.isdisjoint({"equal", "inside", "outside"})


GOLDEN = {  # rows of DSTC7 as they stood when they were first computed
    f"bleu {SINGLE} all words smooth": [0.2792168793, 0.1879035713, 1, 0],
    "sbleu w>=0.4 all blanks smooth": [0.8137269996, 0.6058087724, 1.36205556, 0.3345],
    f"delta_bleu {ALL} all words signed": [-0.0370395449, -0.0226004285, 8, 0.0391111111],
    f"delta_bleu {HIGH} {GOOD} words smooth": [0.4731042861, 0.322967229, 0.31955556, 0.71680556],
}


def test_shipped_numbers_give_the_published_table():
    path = ROOT / "resources/shipped/delta_bleu/dstc7/units.csv"
    table = delta_bleu_table2([path], PUBLISHED, ["dstc7"]).set_index(KEYS[1:])
    names = ["spearman", "kendall", "references_per_context", "without_good_reference"]
    for key, numbers in GOLDEN.items():
        row = table.loc[tuple(key.split())]
        assert row[names].tolist() == pytest.approx(numbers, abs=1e-8)


def test_the_figure_draws_its_points_and_writes_them(file, tmp_path):
    with plt.rc_context():
        figure, points = reference_regimes([file], PUBLISHED, {"small": "Some chat"})
        lines = [[line for line in ax.lines if line.get_marker() in "os^"] for ax in figure.axes]
        assert [len(curves) for curves in lines] == [3, 4, 4]
        # the paper's two intervals
        wide = [line.get_ydata() for line in figure.axes[0].lines if line.get_lw() > 5]
        assert [list(ends) for ends in wide] == [[0.265, 0.416], [0.415, 0.546]]
        for line, metric in zip(lines[0], METRICS, strict=True):
            drawn = points[(points["panel"] == "threshold") & (points["metric"] == metric)]
            assert line.get_ydata().tolist() == drawn["spearman"].tolist()[::-1]
        left, right = figure.axes[0].get_xlim()
        assert left > right  # worse and worse references are let in
        figures.save(figure, tmp_path / "delta_bleu_figure2", points)
    written = pd.read_csv(tmp_path / "delta_bleu_figure2.csv")
    # of each metric, four sets of references, and what B and C have of w >= 0.6 and all
    assert written["spearman_low"].notna().sum() == 3 * 4 + 2 * 4
    assert not written.drop(columns="spearman").duplicated().any()
    assert len(written) == 11 * 3 + 3 * 4 + 4 * 4 - 4
