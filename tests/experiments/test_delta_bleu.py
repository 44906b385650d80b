"""The ΔBLEU experiment on small dialogues of our own, then on the real ones."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from refless.store.signed_tables import read_numbers, write_numbers
from scipy import stats

from refless.data.sources import load
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.delta_bleu import predictor as delta_bleu_predictor
from refless.experiments.delta_bleu import units as delta_bleu_units
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    HIGH,
    LEAST,
    SINGLE,
    Cell,
    Counted,
    Dialogues,
    read_dialogues,
    tokenize,
    weights,
)
from refless.experiments.delta_bleu.predictor import (
    COLUMNS,
    Candidates,
    calibrated,
    context_means,
    kernel_means,
    paired,
    predictor_numbers,
    same_context,
    same_mr,
    sentence_scores,
)
from refless.experiments.delta_bleu.table2 import (
    KEYS,
    Numbers,
    comparison_table,
    predictor_markdown,
    predictor_table,
    read_task_numbers,
    table2,
    table2_markdown,
)
from refless.experiments.delta_bleu.units import (
    MODULES,
    NUMBER_COLUMNS,
    REFERENCES,
    RULES,
    TEST_COLUMNS,
    Observations,
    Settings,
    bootstrap_pool,
    compared,
    figure_numbers,
    kendall_all,
    main_cells,
    observations,
    plain_pool,
    spearman_rows,
    table_numbers,
    variant_cells,
)
from refless.kernels import code_signature, kernel, matches_code
from refless.models.delta_bleu import corpus_bleu, corpus_delta_bleu, sentence_bleu
from refless.report import figures
from refless.report.published import read_published

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "resources/shipped").glob("*/delta_bleu/*.csv"))
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
            rows.append(
                {
                    "id": f"t:{c}:{k}",
                    "text": " ".join(text[: generator.integers(3, 9)]) + ".",
                    "quality": quality,
                    "n_ratings": 3,
                    "system": "human" if k < humans else model,
                    "model": model,
                    "context_id": f"c{c}",
                }
            )
    return pd.DataFrame(rows)


def small_gold() -> pd.DataFrame:
    return pd.DataFrame(
        {"context_id": ["c0", "c0", "c3", "elsewhere"], "text": ["A cat sat", "it", "a tree", "x"]}
    )


@pytest.fixture(scope="module")
def dialogues() -> Dialogues:
    return read_dialogues(small_texts(), small_gold())


def test_tokens_are_lower_case_words_and_marks() -> None:
    assert tokenize("It's fine, isn't it?") == "it ' s fine , isn ' t it ?"
    assert tokenize("It's fine, no?", "blanks") == "It's fine, no?"
    with pytest.raises(SettingError, match="unknown tokens"):
        tokenize("a", "letters")


def test_dialogues_are_brought_into_shape(dialogues: Dialogues) -> None:
    assert dialogues.systems == sorted(SYSTEMS)
    assert dialogues.output.shape == (12, 4)
    assert dialogues.human.shape == (12, 1)
    texts = small_texts()
    assert texts["model"][dialogues.output[3, 1]] == "beta"
    assert texts["context_id"][dialogues.output[3, 1]] == "c3"
    assert dialogues.gold.tolist() == [[0, 0, 3], [60, 61, 62]]
    assert [dialogues.texts[k] for k in dialogues.gold[1]] == ["A cat sat", "it", "a tree"]


def test_the_original_response_is_the_single_reference() -> None:
    found = read_dialogues(small_texts(humans=2))
    texts = small_texts(humans=2)
    assert texts["model"][found.human[0, 0]] == "Original Ground Truth"
    assert texts["model"][found.human[0, 1]] == "New Human Generated"
    assert "human" not in found.systems


def test_contexts_that_somebody_did_not_answer_are_left_out() -> None:
    texts = small_texts()
    texts.loc[texts["id"] == "t:2:3", ["n_ratings", "quality"]] = [0, np.nan]
    texts = texts[texts["id"] != "t:5:0"]
    assert len(read_dialogues(texts).output) == 10
    with pytest.raises(FormatError, match="no context"):
        read_dialogues(texts[texts["system"] != "human"])


def direct_references(texts: pd.DataFrame, cell: Cell, context: str, pair: set[str]) -> list:
    """(text, weight) of one context and pair, put together anew."""
    own = texts[(texts["context_id"] == context) & ~texts["model"].isin(pair)]
    middle = 0.5 if cell.centre == "scale" else texts["quality"].mean()
    found, human = [], None
    for row in own.itertuples():
        w = (row.quality - middle) / max(middle, 1 - middle)
        entry = (tokenize(row.text, cell.tokens), w)
        if row.model == "Original Ground Truth":
            human = entry
        elif cell.references == SINGLE:
            continue
        least = {SINGLE: -9, ALL: -9}.get(cell.references)
        if w >= (float(cell.references[3:]) if least is None else least):
            found.append(entry)
            if cell.gold and row.model == "Original Ground Truth":
                gold = small_gold()
                found += [(tokenize(t), w) for t in gold["text"][gold["context_id"] == context]]
    usable = any(w > 0 for _, w in found) if cell.metric == "delta_bleu" else found
    if not usable:
        found = [entry for entry in found if entry != human] + [(human[0], max(human[1], LEAST))]
    return found


CELLS = [
    *main_cells(),
    Cell("delta_bleu", centre="mean"),
    Cell("delta_bleu", gold=True, rule="floor"),
    Cell("bleu", gold=True, rule="zero"),
    Cell("delta_bleu", "w>=0.2", rule="signed", tokens="blanks"),
    Cell("bleu", order=1),
    Cell("sbleu", order=1),
]


@pytest.mark.parametrize("humans", [1, 2])
def test_observations_are_scores_of_units_counted_anew(humans: int) -> None:
    texts = small_texts(humans=humans)
    texts.loc[texts["context_id"] == "c4", "quality"] /= 4  # nothing good: the human one is raised
    own = read_dialogues(texts, small_gold())
    pool = plain_pool(np.arange(12), 2)
    cells = CELLS if humans == 1 else CELLS[2:9:3]
    found_all = observations(Counted(own, 2), cells, pool, 5, seed=7)
    m, q = found_all.m, found_all.q
    fixed = found_all.in_fixed_order(1)
    assert m.shape == (len(cells), 2, 6 * 2)
    words = texts.set_index(["context_id", "model"])["text"]
    quality = texts.set_index(["context_id", "model"])["quality"]
    for number, (a, b) in list(enumerate(combinations(own.systems, 2)))[::2]:
        generator = np.random.default_rng([7, number])
        dealt = generator.permuted(pool, axis=1)[:, :10].reshape(2, 2, 5)
        sign = generator.choice(np.array([-1.0, 1.0]), (2, 2))
        for assignment in range(2):
            for unit in range(2):
                members = [f"c{c}" for c in dealt[assignment, unit]]
                place = assignment, number * 2 + unit
                gap = np.mean([quality[c, a] - quality[c, b] for c in members])
                assert q[place] == pytest.approx(sign[assignment, unit] * gap)
                assert fixed.q[place] == pytest.approx(gap)
                for k, cell in enumerate(cells):
                    found = [direct_references(texts, cell, c, {a, b}) for c in members]
                    references = [[text for text, _ in one] for one in found]
                    given = [[w for _, w in one] for one in found]
                    scored = []
                    for system in (a, b):
                        texts_of = [tokenize(words[c, system], cell.tokens) for c in members]
                        if cell.metric == "sbleu":
                            score = sentence_bleu(texts_of, references, cell.order).sum()
                        elif cell.metric == "bleu":
                            score = corpus_bleu(texts_of, references, cell.order, cell.rule)
                        else:
                            score = corpus_delta_bleu(
                                texts_of, references, given, cell.order, cell.rule
                            )
                        scored.append(score)
                    expected = sign[assignment, unit] * (scored[0] - scored[1])
                    assert m[(k, *place)] == pytest.approx(expected, abs=1e-12), cell
                    if k == 0:
                        assert fixed.m[(0, *place)] == pytest.approx(
                            scored[0] - scored[1], abs=1e-12
                        )


def test_a_drawn_order_counts_what_sets_a_pair_apart_as_a_whole() -> None:
    """One pair, metric and ratings agree that its first system is better, and in nothing else."""
    generator = np.random.default_rng(0)
    m, q = (1 + 0.5 * generator.normal(size=(200, 40)) for _ in range(2))
    sign = generator.choice([-1.0, 1.0], m.shape)
    drawn = Observations((sign * m)[None], sign * q, sign, np.zeros(1))
    fixed = drawn.in_fixed_order(1)
    np.testing.assert_allclose(fixed.m[0], m)
    assert spearman_rows(drawn.m, drawn.q).mean() > 0.6
    assert abs(spearman_rows(fixed.m, fixed.q).mean()) < 0.05


def by_hand() -> Dialogues:
    """Weights of human, alpha, beta, gamma: 0, 0.8, 0.2, -0.8; then 0.9, -0.6, -0.4, -0.2."""
    quality = [[0.5, 0.9, 0.6, 0.1], [0.95, 0.2, 0.3, 0.4]]
    return read_dialogues(
        pd.DataFrame(
            [
                {
                    "text": f"{name} says {context}",
                    "quality": quality[context][k],
                    "n_ratings": 3,
                    "system": name,
                    "context_id": f"c{context}",
                }
                for context in (0, 1)
                for k, name in enumerate(["human", "alpha", "beta", "gamma"])
            ]
        )
    )


@pytest.mark.parametrize(
    ("cell", "number", "fallback"),
    [
        # of six contexts and pairs; only alpha, for beta and gamma, reaches 0.6 in the first
        (Cell("bleu", HIGH), 1, 2 / 6),
        (Cell("delta_bleu", HIGH), 1, 2 / 6),
        (Cell("bleu"), 2, 0),
        # alpha and beta are left with weights of 0 and -0.8
        (Cell("delta_bleu"), 2, 1 / 6),
        (Cell("delta_bleu", lacking="written"), 2, 0),
        # the human response alone; with beta; with alpha; and three times itself in the second
        (Cell("bleu", "w>=0"), (1 + 2 + 2 + 3) / 6, 0),
        (Cell("delta_bleu", "w>=0"), (1 + 2 + 2 + 3) / 6, 1 / 6),
        (Cell("bleu", SINGLE), 1, 0),
        (Cell("delta_bleu", SINGLE), 1, 3 / 6),
    ],
)
def test_how_many_references_there_are_and_where_the_human_stands_in(
    cell: Cell, number: float, fallback: float
) -> None:
    counted = Counted(by_hand(), 2)
    assert counted.references(cell, np.array([0, 1])) == pytest.approx((number, fallback))
    assert counted.references(cell, np.array([1]))[1] == 0


def test_the_formula_as_written_lets_a_negative_denominator_stand() -> None:
    texts = small_texts()
    texts.loc[texts["context_id"] == "c4", "quality"] = 0.25
    own = read_dialogues(texts)
    counted = Counted(own, 2)
    written = counted.rows(Cell("delta_bleu", lacking="written"))
    raised = counted.rows(Cell("delta_bleu"))
    lost = counted.lacking()
    assert lost[4]
    assert (written[0, 1, 4, 2:4] <= 0).all()
    assert (raised[0, 1, 4, 2] > 0).all()
    keep = [c for c in range(12) if not lost[c]]
    np.testing.assert_array_equal(written[0, 1, keep], raised[0, 1, keep])


def test_threads_and_order_of_cells_change_nothing(dialogues: Dialogues) -> None:
    pool = bootstrap_pool(np.arange(12), 4, 2, seed=1)
    one = observations(Counted(dialogues, 2), CELLS, pool, 4, 3)
    two = observations(Counted(dialogues, 2), CELLS[::-1], pool, 4, 3, threads=2)
    np.testing.assert_array_equal(one.m, two.m[::-1])
    np.testing.assert_array_equal(one.q, two.q)
    with pytest.raises(SettingError, match="a unit of 13 contexts"):
        observations(Counted(dialogues, 2), CELLS, pool, 13, 3)


def test_a_draw_of_contexts_is_dealt_out_as_often_as_asked() -> None:
    pool = bootstrap_pool(np.arange(3, 9), 5, 2, seed=1)
    assert pool.shape == (10, 6)
    np.testing.assert_array_equal(pool[::2], pool[1::2])
    assert set(pool.ravel()) <= set(range(3, 9))
    assert any(len(set(row)) < 6 for row in pool)


def test_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    m = generator.integers(0, 5, (2, 3, 20)).astype(float)
    q = generator.integers(0, 5, (3, 20)).astype(float)
    m[1, 2] = 1.0
    rho, tau = spearman_rows(m, q), kendall_all(m, q)
    for k in range(2):
        for row in range(3):
            if (k, row) == (1, 2):
                assert np.isnan(rho[k, row])
                assert np.isnan(tau[k, row])
                continue
            assert rho[k, row] == pytest.approx(stats.spearmanr(m[k, row], q[row]).statistic)
            assert tau[k, row] == pytest.approx(stats.kendalltau(m[k, row], q[row]).statistic)


def test_unknown_choices_are_named(dialogues: Dialogues) -> None:
    with pytest.raises(SettingError, match="unknown centre"):
        weights(dialogues, "median")
    with pytest.raises(SettingError, match="'best' is no set of references"):
        Counted(dialogues, 2).rows(Cell("bleu", "best"))


SETTINGS = Settings(
    unit=4,
    assignments=30,
    figure_assignments=10,
    draws=100,
    figure_draws=100,
    times=2,
    seeds=(1, 2),
    thresholds=(0.6, 0, -1),
    units=(1, 4),
    orders=(1, 2, 3),
)


@pytest.fixture(scope="module")
def numbers() -> Numbers:
    texts = small_texts(contexts=24)
    texts.loc[texts["context_id"].isin(["c4", "c7"]), "quality"] /= 4  # no good reference
    own = read_dialogues(texts, small_gold())
    table, tests = table_numbers(Counted(own, 2), SETTINGS)
    figure = figure_numbers(Counted(own, 2), SETTINGS)
    rows = pd.concat([table, figure], ignore_index=True)
    return Numbers("small", "computed", rows, tests)


def published() -> pd.DataFrame:
    return read_published(ROOT / "resources/published/delta_bleu_table2.csv", KEYS)


def test_table_2_has_every_cell_beside_the_paper(numbers: Numbers) -> None:
    table = table2([numbers, Numbers("other", absent="no file")], published())
    paper = table[table["task"] == "twitter"]
    assert paper["paper_spearman_ci95_low"].tolist() == ["0.265", "0.415"]
    assert paper["spearman"].isna().all()
    own = table[(table["task"] == "small")]
    base = own[(own["rule"] == "smooth") & (own["centre"] == "scale") & (own["gold"] == 0)]
    base = base[(base["tokens"] == "words") & (base["lacking"] == "raised")]
    fixed = base[base["first"] == "fixed"]
    assert fixed[KEYS].to_numpy().tolist() == [[c.metric, c.references] for c in main_cells()]
    base = base[base["first"] == "random"]
    cells = base[base["references"].isin(REFERENCES)]
    assert len(cells) == 15
    assert cells["references_per_context"].between(1, 3).all()
    note = cells["note"].str.contains("most references are machine outputs")
    assert cells.loc[note, KEYS].to_numpy().tolist() == [
        [metric, ALL] for metric in ("bleu", "sbleu", "delta_bleu")
    ]
    assert (cells["spearman_low"] <= cells["spearman"] + 0.1).all()
    assert (cells["spearman_seeds_low"] <= cells["spearman"]).all()
    assert (cells["spearman_seeds_high"] >= cells["spearman"]).all()
    assert set(cells["n"]) == {6 * 6}
    printed = cells[cells["paper_spearman_ci95_low"] != ""]
    assert printed[KEYS].to_numpy().tolist() == [["bleu", HIGH], ["delta_bleu", ALL]]
    assert (own["paper_spearman_ci95_low"] != "").sum() == 2
    assert set(own["gold"]) == {0, 1}
    assert {"left_out", "written", "raised"} >= set(own["lacking"])
    other = table[table["task"] == "other"]
    assert len(other) == 15
    assert other["note"].str.contains("no file").all()
    text = table2_markdown(table, comparison_table([numbers]), ["small", "other"])
    assert "## small: 24 contexts, 6 pairs of systems, units of 4: 36 observations" in text
    assert "[0.415, 0.546]" in text
    lines = [line.split(" | ") for line in text.splitlines() if "| left_out |" in line]
    left = own[own["lacking"] == "left_out"]
    assert len(lines) == len(left) > 0
    sizes = left[["contexts", "n"]].astype(str).to_numpy().tolist()
    assert [[line[-2], line[-1].rstrip(" |")] for line in lines] == sizes
    assert set(left["contexts"]) == {22}
    assert "No file" not in text.split("## other")[0]


def test_the_tests_compare_the_same_units(numbers: Numbers) -> None:
    tests = comparison_table([numbers, Numbers("other", absent="no file")])
    rows = tests[tests["task"] == "small"]
    assert (rows["difference_low"] <= rows["difference_high"]).all()
    assert rows["p_bootstrap"].between(0, 1).all()
    table = numbers.rows[numbers.rows["kind"] == "table"]
    value = table[(table["metric"] == "bleu") & (table["references"] == SINGLE)]["spearman"].iloc[0]
    row = rows[(rows["metric_b"] == "bleu") & (rows["references_b"] == SINGLE)].iloc[0]
    assert row["spearman_b"] == pytest.approx(value)
    assert row["difference"] == pytest.approx(row["spearman_a"] - row["spearman_b"])
    assert tests["note"].dropna().tolist() == ["not available: no file"]
    text = table2_markdown(table2([numbers], published()), tests, ["small"])
    assert "| sBLEU, w>=0.4 | BLEU, w>=0.4 |" in text
    assert "| ΔBLEU, all, signed, centre mean | BLEU, w>=0.6 |" in text
    assert "| ΔBLEU, w>=0.2, tokens blanks | BLEU, w>=0.2, tokens blanks |" in text


def test_every_claim_can_be_tested() -> None:
    pairs = compared([*main_cells(), *variant_cells(gold=True)])
    assert len(set(pairs)) == len(pairs)
    for references in REFERENCES:
        for tokens in ("words", "blanks"):
            cells = {m: Cell(m, references, tokens=tokens) for m in ("bleu", "sbleu", "delta_bleu")}
            assert (cells["delta_bleu"], cells["bleu"]) in pairs
            assert (cells["delta_bleu"], cells["sbleu"]) in pairs
            assert (cells["sbleu"], cells["bleu"]) in pairs
    for rule in RULES:
        for changed in ({"centre": "mean"}, {"gold": True}, {"lacking": "written"}, {}):
            for references in (ALL, HIGH):
                assert (Cell("delta_bleu", rule=rule, **changed), Cell("bleu", references)) in pairs


def test_small_units_get_fewer_assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    own = read_dialogues(small_texts(contexts=24))
    monkeypatch.setattr(delta_bleu_units, "MOST_OBSERVATIONS", 720)
    rows = figure_numbers(Counted(own, 2), SETTINGS)
    units = rows[rows["kind"] == "unit"].drop_duplicates("unit").set_index("unit")
    assert units["n"].to_dict() == {1: 6 * 24, 4: 6 * 6}
    assert units["assignments"].to_dict() == {1: 720 // (6 * 24), 4: 10}


def test_the_panels_of_figure_2(numbers: Numbers, tmp_path: Path) -> None:
    rows = numbers.rows.set_index("kind")
    assert set(rows.loc["threshold", "references"]) == {"w>=0.6", "w>=0", "w>=-1"}
    assert set(rows.loc["unit", "unit"]) == {1, 4}
    assert set(rows.loc["order", "order"]) == {1, 2, 3}
    points = rows.loc[["threshold", "unit", "order"]]
    assert (points["spearman_low"] < points["spearman_high"]).all()
    assert points["spearman_ci95_low"].isna().all()
    everything = rows.loc["threshold"]
    everything = everything[everything["references"] == "w>=-1"].set_index("metric")["spearman"]
    table = numbers.rows[numbers.rows["kind"] == "table"].drop_duplicates(KEYS)
    table = table[table["references"] == ALL].set_index("metric")["spearman"]
    # fewer assignments, so equal by and large
    for metric in ("bleu", "sbleu"):
        assert everything[metric] == pytest.approx(table[metric], abs=0.2)
    for ending in figures.save(figures.delta_bleu_figure({"small": numbers.rows}), tmp_path / "f"):
        assert ending.stat().st_size > 1000
    figures.save(figures.delta_bleu_figure({}), tmp_path / "empty")


def test_stale_numbers_are_refused(tmp_path: Path, numbers: Numbers) -> None:
    signed = code_signature(MODULES, "texts")
    assert matches_code(signed) == []
    settings = {"unit": 4}
    about = {"provenance": "computed", "settings": settings, "signatures": [signed]}
    own = tmp_path / "small"
    write_numbers(numbers.rows, about, own / "units.csv")
    write_numbers(numbers.tests, about, own / "tests.csv")

    def read(asked) -> list[Numbers]:
        return read_task_numbers(
            {"small": own}, {"other": "no file"}, asked, "units", NUMBER_COLUMNS
        )

    found = read({"small": settings})
    assert [one.task for one in found] == ["small", "other"]
    pd.testing.assert_frame_equal(
        found[0].rows[["metric", "spearman"]], numbers.rows[["metric", "spearman"]]
    )
    with pytest.raises(StaleError, match="other settings"):
        read({"small": {"unit": 5}})
    about["signatures"] = [{**signed, "fingerprint": "0"}]
    write_numbers(numbers.rows, about, own / "units.csv")
    with pytest.raises(StaleError, match=r"models/delta_bleu\.py"):
        read({"small": settings})
    assert matches_code({**signed, "modules": ["models/gone.py"]}) != []


# ---- ΔBLEU as a predictor ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def candidates() -> Candidates:
    return same_context(small_texts(contexts=15, humans=2))


def test_sentence_scores_are_scores_of_one_item(candidates: Candidates) -> None:
    found = sentence_scores(candidates)
    texts = [tokenize(text) for text in candidates.texts]
    weight = 2 * candidates.quality - 1
    for row in range(candidates.rated):
        others = np.flatnonzero(candidates.group == candidates.group[row])
        others = others[candidates.owner[others] != candidates.owner[row]]
        assert len(others) == 5
        references = [[texts[k] for k in others]]
        assert found["sbleu", ""][row] == pytest.approx(
            sentence_bleu([texts[row]], references, 2)[0]
        )
        for rule in ("smooth", "signed"):
            expected = corpus_delta_bleu([texts[row]], references, [weight[others]], 2, rule)
            assert found["delta_bleu", f"{rule}, centre scale"][row] == pytest.approx(expected)


def test_a_text_without_a_good_reference_is_not_covered(candidates: Candidates) -> None:
    poor = replace(candidates, quality=np.where(candidates.group == 2, 0.25, candidates.quality))
    score = sentence_scores(poor)["delta_bleu", "smooth, centre scale"]
    assert np.isnan(score[candidates.group == 2]).all()
    assert not np.isnan(score[candidates.group != 2]).any()


def test_means_over_the_context(candidates: Candidates) -> None:
    plain = context_means(candidates)
    similar = kernel_means(candidates, "bleu.char")
    matrix = kernel("bleu.char", candidates.texts, candidates.texts)
    for row in range(candidates.rated):
        others = np.flatnonzero(
            (candidates.group == candidates.group[row])
            & (candidates.owner != candidates.owner[row])
        )
        assert plain[row] == pytest.approx(candidates.quality[others].mean())
        k = matrix[row, others]
        if k.sum() > 0:
            assert similar[row] == pytest.approx(k @ candidates.quality[others] / k.sum())
        else:
            assert np.isnan(similar[row])


@pytest.mark.parametrize("batch", [1, 7, 40, 10_000])
def test_groups_are_walked_whole_and_equal_means_tie(
    candidates: Candidates, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    expected = kernel_means(candidates, "bleu.char"), context_means(candidates)
    monkeypatch.setattr(delta_bleu_predictor, "BATCH", batch)
    np.testing.assert_array_equal(kernel_means(candidates, "bleu.char"), expected[0])
    np.testing.assert_array_equal(context_means(candidates), expected[1])


def test_calibration_is_a_line_of_other_groups() -> None:
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 3)
    score = generator.random(120)
    score[5] = np.nan
    found = calibrated(score, 0.2 + 0.5 * score, group)
    np.testing.assert_allclose(np.delete(found, 5), 0.2 + 0.5 * np.delete(score, 5))
    assert np.isnan(found[5])
    # what a group's own quality is has no say in its calibration
    quality = generator.random(120)
    before = calibrated(score, quality, group)
    quality[group == 7] += 1
    after = calibrated(score, quality, group)
    np.testing.assert_array_equal(before[group == 7], after[group == 7])
    assert not np.allclose(before[group != 7], after[group != 7], equal_nan=True)


def test_references_of_the_same_mr() -> None:
    texts = pd.DataFrame(
        {
            "text": ["a b", "a c", "b"],
            "quality": [0.2, 0.8, 1.0],
            "system": ["X", "Y", "X"],
            "dataset": ["bagel", "bagel", "sfrest"],
            "mr_key": ["m1", "m1", "m1"],
        }
    )
    human = pd.DataFrame({"mr_key": ["m1", "m2"], "text_nem": ["a b c", "x"]})
    found = same_mr(texts, {"bagel": human, "sfrest": human})
    assert found.rated == 3
    assert found.texts == ["a b", "a c", "b", "a b c", "a b c"]
    assert found.group.tolist() == [0, 0, 1, 0, 1]
    assert found.quality.tolist() == [0.2, 0.8, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(context_means(found), [0.9, 0.6, 1.0])
    with pytest.raises(FormatError, match="sfrest"):
        same_mr(texts, {"bagel": human})


def test_the_table_of_predictors(candidates: Candidates) -> None:
    rows = predictor_numbers(candidates, {"bleu.char": 0.08}, 5, 0.66, 100, 1)
    assert set(COLUMNS) <= set(rows.columns)
    assert rows["model"].tolist() == [
        *("context_mean", "sbleu", *["delta_bleu"] * 4, "kernel_mean", "neighbors"),
        *["delta_bleu"] * 4,
    ]
    against = rows[rows["against"] == "bleu.char"]
    assert against["variant"].tolist() == rows["variant"].tolist()[2:6]
    assert (against["n_covered"] <= rows["n_covered"].iloc[7]).all()
    assert (rows["references"] == 5).all()
    # good texts share words with good texts here, and with the human ones
    assert rows.loc[rows["model"] == "sbleu", "spearman"].iloc[0] > 0.3
    own = [Numbers("small", "computed", rows), Numbers("nem", absent="no file")]
    table = predictor_table(own, {"small": {"meteor.nltk35": "METEOR needs WordNet"}})
    lost = table[table["note"] == "not available: METEOR needs WordNet"].iloc[0]
    assert (lost["model"], lost["kernel"]) == ("neighbors", "meteor.nltk35")
    text = predictor_markdown(table, ["small", "nem"])
    assert "## small: 90 texts, 5.0 references a text" in text
    assert "Not available: no file." in text
    assert "| BLEU Neighbors | `meteor.nltk35` | – | – | – |" in text
    assert "| signed, centre mean | `bleu.char` |" in text


def test_two_scores_are_compared_on_the_texts_that_have_both() -> None:
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 3)
    quality = generator.random(90)
    score, other = (quality + noise * generator.normal(size=90) for noise in (0.1, 0.6))
    score[:7], other[80:] = np.nan, np.nan
    found = paired(score, other, quality, group, 200, 0)
    both = slice(7, 80)
    for name, own in (("spearman", score), ("spearman_against", other)):
        expected = stats.spearmanr(own[both], quality[both]).statistic
        assert found[name] == pytest.approx(expected)
        assert found[f"{name}_low"] < expected < found[f"{name}_high"]
    assert found["n_covered"] == 73
    assert found["difference"] == pytest.approx(found["spearman"] - found["spearman_against"])
    assert 0 < found["difference_low"] < found["difference"] < found["difference_high"]
    same = paired(score, score, quality, group, 200, 0)
    assert (same["difference_low"], same["difference"], same["difference_high"]) == (0, 0, 0)
    nothing = paired(np.full(90, np.nan), score, quality, group, 200, 0)
    assert nothing["n_covered"] == 0
    assert np.isnan(nothing["difference_low"])


# ---- what is shipped, and the real data ----------------------------------------------------------


def test_what_is_shipped_is_not_stale_and_says_its_settings() -> None:
    assert {path.parents[1].name for path in SHIPPED} == {
        *("dstc7", "usr_topicalchat", "usr_personachat", "nem")
    }
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())["delta_bleu"]
    for path in SHIPPED:
        columns = {"units": NUMBER_COLUMNS, "tests": TEST_COLUMNS, "predictor": COLUMNS}[path.stem]
        table, about = read_numbers(path, columns)
        assert about["provenance"] == "shipped"
        if path.stem == "units":
            assert about["settings"]["unit"] == config["tasks"][path.parents[1].name]["unit"]
            assert about["settings"]["assignments"] == config["assignments"]
        strings = table.select_dtypes(["object", "str"])
        assert all(strings[name].dropna().str.len().max() < 40 for name in strings)
    assert sum(path.stat().st_size for path in SHIPPED) < 1_000_000


def mirrored(name: str) -> Path:
    path = Path(os.environ.get("REFLESS_MIRROR") or "/nowhere", name)
    if not path.exists():
        pytest.skip("needs the real data: set REFLESS_MIRROR to a directory that has it")
    return path


def shipped(task: str, name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"resources/shipped/{task}/delta_bleu/{name}.csv")


@pytest.mark.mirror
def test_shipped_numbers_of_usr_are_what_the_code_computes() -> None:
    path = mirrored("usr/pc_usr_data.json")
    about = json.loads(
        (ROOT / "resources/shipped/usr_personachat/delta_bleu/units.json").read_text()
    )
    asked = {k: tuple(v) if isinstance(v, list) else v for k, v in about["settings"].items()}
    own = read_dialogues(load("usr", "usr_personachat", {"path": path}).texts)
    table, _ = table_numbers(Counted(own, 2), Settings(**asked))
    expected = shipped("usr_personachat", "units")
    expected = expected[expected["kind"] == "table"]
    for column in ("spearman", "spearman_low", "kendall", "spearman_seeds_high"):
        np.testing.assert_allclose(table[column], expected[column], atol=1e-9)


@pytest.mark.mirror
def test_the_trial_on_dstc7_comes_out() -> None:
    """Numbers of a trial by others, on the same data: what each unweighted regime gives."""
    path = mirrored("dstc7/dstc7-task2-human_eval.tgz")
    counted = Counted(
        read_dialogues(load("dstc7", "dstc7", {"path": path}, {"unit": "output"}).texts), 2
    )
    cells = [
        Cell("bleu", SINGLE, "floor"),
        Cell("bleu", HIGH, "floor"),
        Cell("bleu", "w>=0", "floor"),
        Cell("bleu", ALL, "floor"),
        Cell("delta_bleu", ALL, "floor", lacking="written"),
    ]
    found = observations(counted, cells, plain_pool(np.arange(1000), 50), 100, seed=1)
    rho = spearman_rows(found.m, found.q).mean(axis=1)
    np.testing.assert_allclose(rho[:4], [0.280, 0.382, 0.325, 0.148], atol=0.006)
    assert rho[4] == pytest.approx(0.164, abs=0.02)
    assert counted.lacking().sum() == 155
    number, fallback = counted.references(cells[1], np.arange(1000))
    assert (number, fallback) == pytest.approx((1.036, 0.717), abs=0.001)
