"""ΔBLEU over units of contexts: on small dialogues of our own, then on the real ones."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.sources import load
from refless.errors import FormatError, SettingError
from refless.experiments.delta_bleu import units
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    CONTROL,
    HIGH,
    LEAST,
    METRICS,
    SINGLE,
    WEIGHTED,
    Cell,
    Counted,
    Dialogues,
    read_dialogues,
    tokenize,
    weights,
)
from refless.experiments.delta_bleu.units import (
    REFERENCES,
    RULES,
    Observations,
    Settings,
    accuracy,
    bootstrap_pool,
    compared,
    correlations,
    figure_numbers,
    main_cells,
    observations,
    plain_pool,
    spearman_all,
    system_weights,
    variant_cells,
    without_pair_means,
    write_units,
)
from refless.models.delta_bleu import corpus_bleu, corpus_delta_bleu, sentence_bleu
from refless.store import signed
from tests.experiments.delta_bleu.small import (
    SETTINGS,
    SYSTEMS,
    as_task,
    small_gold,
    small_texts,
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
    found = read_dialogues(texts)
    assert len(found.output) == 10
    owners = {texts["model"][k] for k in (texts.index[texts["id"] == "t:2:3"])}
    assert [found.without[name] for name in owners] == [11]
    with pytest.raises(SettingError, match="larger than all 10") as caught:
        observations(Counted(found, 2), CELLS, np.zeros((1, 10), np.int32), 11, 1)
    assert "there would be 11" in str(caught.value)
    with pytest.raises(FormatError, match="human") as caught:
        read_dialogues(texts[texts["system"] != "human"])
    assert caught.value.remedy


def test_what_cannot_be_paired_is_named() -> None:
    texts = small_texts()
    beta = texts["model"] == "beta"
    with pytest.raises(FormatError, match="without beta there would be 12"):
        read_dialogues(texts.assign(context_id=texts["context_id"].where(~beta, texts["id"])))
    # the one human cannot be left out, nor one of two systems
    human = texts["system"] == "human"
    alone = texts.assign(context_id=texts["context_id"].where(~human, texts["id"]))
    with pytest.raises(FormatError) as caught:
        read_dialogues(alone[human | texts["model"].isin(["alpha", "beta"])])
    assert "without" not in caught.value.message
    twice = pd.concat([texts, texts[beta].iloc[[4]].assign(id="t:again")])
    with pytest.raises(FormatError, match="beta answers one context twice") as caught:
        read_dialogues(twice)
    assert f"{texts[beta]['id'].iloc[4]} and t:again" in caught.value.message


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
    usable = any(w > 0 for _, w in found) if cell.metric in WEIGHTED else found
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
                        elif cell.metric == CONTROL:
                            heaviest = [[max(own)] * len(own) for own in given]
                            score = corpus_delta_bleu(
                                texts_of, references, heaviest, cell.order, cell.rule
                            )
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
    assert spearman_all(drawn.m, drawn.q).mean() > 0.6
    assert abs(spearman_all(fixed.m, fixed.q).mean()) < 0.05


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
                    "context": "",
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
        # those that ΔBLEU falls back in have none, for BLEU, too
        (Cell("bleu", HIGH, lacking="ignored"), 4 / 6, 2 / 6),
        (Cell("delta_bleu", lacking="ignored"), 2 * 5 / 6, 1 / 6),
        (Cell("bleu", SINGLE, lacking="ignored"), 3 / 6, 3 / 6),
    ],
)
def test_how_many_references_there_are_and_where_the_human_stands_in(
    cell: Cell, number: float, fallback: float
) -> None:
    counted = Counted(by_hand(), 2)
    assert counted.references(cell, np.array([0, 1])) == pytest.approx((number, fallback))
    assert counted.references(cell, np.array([1]))[1] == 0


@pytest.mark.parametrize("metric", METRICS)
def test_contexts_without_a_good_reference_can_be_ignored_by_every_metric(metric: str) -> None:
    counted = Counted(by_hand(), 2)
    kept = counted.rows(Cell(metric, HIGH))
    found = counted.rows(Cell(metric, HIGH, lacking="ignored"))
    # systems are alpha, beta, gamma; alpha, which the pairs of alpha lack, is the good reference
    for a, b, context in [(a, b, c) for a in range(3) for b in range(3) for c in (0, 1) if a != b]:
        there = context == 1 or 0 not in (a, b)
        expected = kept[a, b, context] if there else np.zeros(kept.shape[-1])
        np.testing.assert_array_equal(found[a, b, context], expected)
    assert kept[0, 1, 0].any()


def test_units_of_equal_ratings_are_ties_whatever_the_last_bits_are() -> None:
    """0.1 + 0.2 and 0.3 + 0.0 over two contexts: level, and no rounding noise says otherwise."""
    quality = {"human": [1, 1], "alpha": [0.1, 0.2], "beta": [0.3, 0.0]}
    rows = [
        {"text": f"{who} {k}", "quality": given[k], "n_ratings": 3, "system": who}
        | {"context_id": f"c{k}", "context": ""}
        for who, given in quality.items()
        for k in (0, 1)
    ]
    counted = Counted(read_dialogues(pd.DataFrame(rows)), 2)
    found = observations(counted, [Cell("bleu")], plain_pool(np.arange(2), 3), 2, 1)
    assert (found.q == 0).all()


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
    pool = bootstrap_pool(np.arange(12), np.arange(12), 4, 2, seed=1)
    one = observations(Counted(dialogues, 2), CELLS, pool, 4, 3)
    two = observations(Counted(dialogues, 2), CELLS[::-1], pool, 4, 3, threads=2)
    np.testing.assert_array_equal(one.m, two.m[::-1])
    np.testing.assert_array_equal(one.q, two.q)
    # nor does it matter whether contexts were dealt before, for units of another size
    deals = {}
    observations(Counted(dialogues, 2), CELLS[:1], pool, 6, 3, deals=deals)
    again = observations(Counted(dialogues, 2), CELLS, pool, 4, 3, deals=deals)
    for before, after in zip(one, again, strict=True):
        np.testing.assert_array_equal(before, after)
    with pytest.raises(SettingError, match="a unit of 13 contexts"):
        observations(Counted(dialogues, 2), CELLS, pool, 13, 3)


def test_a_draw_of_contexts_is_dealt_out_as_often_as_asked() -> None:
    pool = bootstrap_pool(np.arange(3, 9), np.arange(6), 5, 2, seed=1)
    assert pool.shape == (10, 6)
    np.testing.assert_array_equal(pool[::2], pool[1::2])
    assert set(pool.ravel()) <= set(range(3, 9))
    assert any(len(set(row)) < 6 for row in pool)


def test_contexts_of_one_wording_are_drawn_together() -> None:
    wording = np.array([*range(30), 3, 7, 3])
    left = [set(np.flatnonzero(wording == number).tolist()) for number in range(30)]
    for row in bootstrap_pool(np.arange(33), wording, 50, 1, seed=1):
        drawn = row.tolist()
        while drawn:
            whole = left[wording[drawn[0]]]
            of_one, drawn = drawn[: len(whole)], drawn[len(whole) :]
            assert set(of_one) == whole or (not drawn and set(of_one) < whole)
    # of so few wordings, draws would hardly differ
    few = bootstrap_pool(np.arange(33), wording % 29, 50, 1, seed=1)
    np.testing.assert_array_equal(few, bootstrap_pool(np.arange(33), np.arange(33), 50, 1, seed=1))


def test_dialogues_know_which_contexts_have_one_wording() -> None:
    texts = small_texts(5)
    texts["context"] = texts["context_id"].map(
        {"c0": "a  passage", "c1": "", "c2": "a passage", "c3": "", "c4": "another"}
    )
    assert read_dialogues(texts).wording.tolist() == [0, 1, 0, 2, 3]


def test_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    m = generator.integers(0, 5, (2, 3, 20)).astype(float)
    q = generator.integers(0, 5, (3, 20)).astype(float)
    m[1, 2] = 1.0
    rho, tau = spearman_all(m, q), correlations(m, q)[1]
    for k in range(2):
        for row in range(3):
            if (k, row) == (1, 2):
                assert np.isnan(rho[k, row])
                assert np.isnan(tau[k, row])
                continue
            assert rho[k, row] == pytest.approx(stats.spearmanr(m[k, row], q[row]).statistic)
            assert tau[k, row] == pytest.approx(stats.kendalltau(m[k, row], q[row]).statistic)


def test_intervals_over_systems_are_those_of_pairs_written_out(dialogues: Dialogues) -> None:
    counted = Counted(dialogues, 2)
    found = observations(counted, [Cell("bleu"), Cell("sbleu")], plain_pool(np.arange(12), 5), 4, 3)
    by_pair = system_weights(counted, 5, seed=3)
    assert by_pair.shape == (5, 6)
    assert (by_pair.sum(axis=1) <= 6).all()  # fewer where a system is drawn twice
    rho, _ = correlations(found.m, found.q, [None, np.repeat(by_pair, 3, axis=1)])
    for draw in range(5):
        chosen = np.repeat(np.arange(18), np.repeat(by_pair[draw], 3))
        for k in range(2):
            pair = found.m[k, draw][chosen], found.q[draw][chosen]
            assert rho[k, 1, draw] == pytest.approx(stats.spearmanr(*pair).statistic)


def test_a_system_is_drawn_as_often_as_any() -> None:
    own = Counted(read_dialogues(small_texts()), 2)
    by_pair = system_weights(own, 20000, seed=0)
    # of n draws of n systems, E[count a * count b] = (n - 1) / n
    np.testing.assert_allclose(by_pair.mean(axis=0), 3 / 4, atol=0.03)


def test_without_pair_means_only_what_is_within_pairs_counts() -> None:
    generator = np.random.default_rng(0)
    apart = generator.normal(size=(3, 4, 6))
    values = (apart + 100 * np.arange(4)[:, None]).reshape(3, 24)
    expected = apart - apart.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(without_pair_means(values, 4), expected.reshape(3, 24), atol=1e-9)
    np.testing.assert_array_equal(without_pair_means(np.full((1, 6), 0.1), 2), np.zeros((1, 6)))


def test_pairwise_accuracy_counts_ties() -> None:
    m = np.array([[[0.1, -0.2, 0.0, 0.0, 1e-17, 0.3]]])
    q = np.array([[0.5, 0.5, 0.0, 0.5, 0.0, 0.0]])
    assert accuracy(m, q).tolist() == [[3 / 6]]
    assert accuracy(m, q, np.array([[2, 0, 0, 1, 0, 1]])).tolist() == [[2 / 4]]


def test_unknown_choices_are_named(dialogues: Dialogues) -> None:
    with pytest.raises(SettingError, match="unknown centre"):
        weights(dialogues, "median")
    with pytest.raises(SettingError, match="'best' is no set of references"):
        Counted(dialogues, 2).rows(Cell("bleu", "best"))


def test_every_claim_can_be_tested() -> None:
    pairs = compared([*main_cells(), *variant_cells(gold=True)])
    assert len(set(pairs)) == len(pairs)
    for references in REFERENCES:
        for tokens in ("words", "blanks"):
            cells = {m: Cell(m, references, tokens=tokens) for m in METRICS}
            assert (cells["delta_bleu"], cells["bleu"]) in pairs
            assert (cells["delta_bleu"], cells["sbleu"]) in pairs
            assert (cells["sbleu"], cells["bleu"]) in pairs
            assert (cells["delta_bleu"], cells[CONTROL]) in pairs
            assert (cells[CONTROL], cells["bleu"]) in pairs
    for metric in METRICS:
        assert (Cell(metric, ALL), Cell(metric, HIGH)) in pairs
    assert (Cell("delta_bleu", ALL), Cell("delta_bleu", "w>=0")) in pairs
    for rule in RULES:
        for changed in ({"centre": "mean"}, {"gold": True}, {"lacking": "written"}, {}):
            for references in (ALL, HIGH):
                assert (Cell("delta_bleu", rule=rule, **changed), Cell("bleu", references)) in pairs


def test_small_units_get_fewer_assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    own = read_dialogues(small_texts(contexts=24))
    monkeypatch.setattr(units, "MOST_OBSERVATIONS", 720)
    rows = figure_numbers(Counted(own, 2), Settings(**SETTINGS))
    sizes = rows[rows["kind"] == "unit"].drop_duplicates("unit").set_index("unit")
    assert sizes["n"].to_dict() == {1: 6 * 24, 4: 6 * 6}
    assert sizes["assignments"].to_dict() == {1: 720 // (6 * 24), 4: 10}


def test_outputs_of_one_wording_stay_apart(tmp_path: Path) -> None:
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
    task = as_task(tmp_path / "small", texts.drop(index=second).drop(columns="model"), ratings)
    path, tests = tmp_path / "units.csv", tmp_path / "tests.csv"
    write_units(path, tests, task, None, {**SETTINGS, "gold": False, "draws": 20})
    table = signed.read(path, "units", of={"task": "small"}).content
    assert set(table["contexts"]) == {12}
    assert not table["gold"].any()


@pytest.mark.slow
def test_the_trial_on_dstc7_comes_out(mirror: str) -> None:
    """Numbers of a trial by others, on the same data: what each unweighted regime gives."""
    path = Path(mirror, "dstc7/dstc7-task2-human_eval.tgz")
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
    rho = spearman_all(found.m, found.q).mean(axis=1)
    np.testing.assert_allclose(rho[:4], [0.280, 0.382, 0.325, 0.148], atol=0.006)
    assert rho[4] == pytest.approx(0.164, abs=0.02)
    assert counted.lacking().sum() == 155
    number, fallback = counted.references(cells[1], np.arange(1000))
    assert (number, fallback) == pytest.approx((1.036, 0.717), abs=0.001)


@pytest.mark.slow
def test_an_independent_recomputation_of_dstc7_comes_out(mirror: str) -> None:
    """Numbers of others with code of their own, from the raw file: the control, what lies within
    pairs, and pairs put in the right order."""
    path = Path(mirror, "dstc7/dstc7-task2-human_eval.tgz")
    counted = Counted(
        read_dialogues(load("dstc7", "dstc7", {"path": path}, {"unit": "output"}).texts), 2
    )
    metrics, least = (CONTROL, "delta_bleu", "bleu"), ("w>=0.6", "w>=0.4", "w>=0.2")
    cells = [Cell(metric, references) for metric in metrics for references in least]
    found = observations(counted, cells, plain_pool(np.arange(1000), 100), 100, seed=1)
    rho = spearman_all(found.m, found.q).mean(axis=1).reshape(3, 3)
    expected = [[0.470, 0.583, 0.566], [0.468, 0.578, 0.558], [0.382, 0.535, 0.528]]
    np.testing.assert_allclose(rho, expected, atol=0.004)
    m, q = (without_pair_means(values * found.sign, 36) for values in (found.m, found.q))
    within = spearman_all(m, q).mean(axis=1).reshape(3, 3)
    np.testing.assert_allclose(within[1:, 1], [0.02, 0.03], atol=0.006)
    whole = observations(counted, cells, plain_pool(np.arange(1000), 1), 1000, seed=1)
    right = accuracy(whole.m, whole.q).reshape(3, 3) * 36
    np.testing.assert_allclose(right[1:, 1], [26, 24])
