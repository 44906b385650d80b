"""ΔBLEU over units of contexts: on small dialogues of our own, then on the real ones."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.sources import load
from refless.errors import SettingError
from refless.experiments.delta_bleu import units
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    GOOD,
    HIGH,
    LEAST,
    SINGLE,
    Cell,
    Counted,
    read_dialogues,
)
from refless.experiments.delta_bleu.units import (
    bootstrap_pool,
    observations,
    table_cells,
    unit_rows,
    write_units,
)
from refless.models.delta_bleu import corpus_delta_bleu, tokenize
from refless.statistics import spearman_rows
from refless.store import sealed
from tests.experiments.delta_bleu.small import SETTINGS, as_task, small_texts

CELLS = [
    *table_cells(),
    Cell("delta_bleu", "w>=0.2", tokens="blanks", rule="signed"),
    Cell("bleu", order=1),
    Cell("sbleu", order=1),
]


def pool(contexts: int, assignments: int) -> np.ndarray:
    return np.tile(np.arange(contexts, dtype=np.int32), (assignments, 1))


def direct_references(
    texts: pd.DataFrame, cell: Cell, context: str, pair: set[str]
) -> list[tuple[str, float]]:
    """(text, weight) of one context and pair, put together anew; none where it does not count."""
    own = texts[(texts["context_id"] == context) & ~texts["model"].isin(pair)]
    found, human = [], ("", 0.0)
    for row in own.itertuples():
        w = (row.quality - 0.5) / 0.5
        entry = (tokenize(row.text, cell.tokens), w)
        if row.model == "Original Ground Truth":
            human = entry
        elif cell.references == SINGLE:
            continue
        if cell.references in (SINGLE, ALL) or w >= float(cell.references[3:]):
            found.append(entry)
    good = any(w > 0 for _, w in found)
    if cell.contexts == GOOD and not good:
        return []
    if not (good if cell.weighted else found):
        found = [entry for entry in found if entry != human]
        found.append((human[0], max(human[1], LEAST)))
    return found if cell.weighted else [(text, 1.0) for text, _ in found]


def direct_score(cell: Cell, texts: list[str], references: list[list[tuple[str, float]]]) -> float:
    """Of one unit, each metric counted anew by the library's functions for whole texts."""
    kept = [k for k, own in enumerate(references) if own]
    if not kept:
        return 0.0
    hypotheses = [tokenize(texts[k], cell.tokens) for k in kept]
    named = [[text for text, _ in references[k]] for k in kept]
    if cell.metric == "sbleu":
        return sum(
            direct_sentence(text, own, cell.order)
            for text, own in zip(hypotheses, named, strict=True)
        )
    weights = [[w for _, w in references[k]] for k in kept]  # all 1 for BLEU
    return corpus_delta_bleu(hypotheses, named, weights, cell.order, cell.rule)


def direct_sentence(text: str, references: list[str], order: int) -> float:
    """BLEU+1 with a smoothed brevity penalty (Nakov et al. 2012)."""
    words, found = text.split(), 1.0
    others = [reference.split() for reference in references]

    def count(of: list[str], gram: list[str]) -> int:
        return sum(of[i : i + len(gram)] == gram for i in range(len(of)))

    for n in range(1, order + 1):
        grams = [words[i : i + n] for i in range(len(words) - n + 1)]
        matched = sum(
            min(count(words, gram), max(count(other, gram) for other in others))
            for gram in map(list, set(map(tuple, grams)))
        )
        found *= (matched + (n > 1)) / (len(grams) + (n > 1)) if grams or n > 1 else 0.0
    closest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    return float(found ** (1 / order) * min(1.0, np.exp(1 - (closest + 1) / len(words))))


@pytest.mark.parametrize("humans", [1, 2])
def test_observations_are_scores_of_units_counted_anew(humans: int) -> None:
    texts = small_texts(humans=humans)
    texts.loc[texts["context_id"] == "c4", "quality"] /= 4  # nothing good
    own = read_dialogues(texts)
    cells = CELLS if humans == 1 else CELLS[::5]
    m, q = observations(Counted(own, 2), cells, pool(12, 2), 5, seed=7)
    assert m.shape == (len(cells), 2, 6 * 2)
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
            for k, cell in enumerate(cells):
                references = [direct_references(texts, cell, c, {a, b}) for c in names]
                first, second = (
                    direct_score(cell, [known["text"][c, s] for c in names], references)
                    for s in (a, b)
                )
                expected = sign[assignment, unit] * (first - second)
                assert m[(k, *place)] == pytest.approx(expected, abs=1e-12), cell


def test_the_order_of_cells_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(read_dialogues(small_texts()), 2)
    again = bootstrap_pool(np.arange(12), 4, 2, seed=1)
    one = observations(counted, CELLS, again, 4, 3)
    monkeypatch.setattr(units, "BLOCK", 7)
    two = observations(counted, CELLS[::-1], again, 4, 3)
    np.testing.assert_array_equal(one[0], two[0][::-1])
    np.testing.assert_array_equal(one[1], two[1])
    with pytest.raises(SettingError, match="a unit of 13 contexts"):
        observations(counted, CELLS, again, 13, 3)


def test_units_of_equal_ratings_are_ties_whatever_the_last_bits_are() -> None:
    """0.1 + 0.2 and 0.3 + 0.0 over two contexts: level, and no rounding noise says otherwise."""
    table = {"system": ["human", "alpha", "beta"] * 2, "context_id": ["c0"] * 3 + ["c1"] * 3}
    table |= {"text": [f"text {k}" for k in range(6)], "quality": [1, 0.1, 0.3, 1, 0.2, 0.0]}
    counted = Counted(read_dialogues(pd.DataFrame(table).assign(n_ratings=3, context="")), 2)
    assert (observations(counted, [Cell("bleu")], pool(2, 3), 2, 1)[1] == 0).all()


def test_contexts_of_the_same_text_are_drawn_together_and_as_often_as_asked() -> None:
    text = np.array([*range(30), 3, 7, 3])
    left = [set(np.flatnonzero(text == number).tolist()) for number in range(30)]
    for row in bootstrap_pool(text, 50, 1, seed=1):
        drawn = row.tolist()
        while drawn:
            whole = left[text[drawn[0]]]
            of_one, drawn = drawn[: len(whole)], drawn[len(whole) :]
            assert set(of_one) == whole or (not drawn and set(of_one) < whole)
    # of so few texts, draws would hardly differ
    few = bootstrap_pool(text % 29, 50, 1, seed=1)
    np.testing.assert_array_equal(few, bootstrap_pool(np.arange(33), 50, 1, seed=1))
    assert set(few.ravel()) == set(range(33))
    np.testing.assert_array_equal(few.repeat(2, axis=0), bootstrap_pool(text % 29, 50, 2, seed=1))


def test_rows_have_the_means_of_scipys_correlations(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(read_dialogues(small_texts(contexts=24)), max(units.ORDERS))
    monkeypatch.setattr(units, "MOST_OBSERVATIONS", 720)
    rows = unit_rows(counted, SETTINGS)
    table = rows[rows["panel"] == "table"]
    m, q = observations(counted, table_cells(), pool(24, 20), 4, SETTINGS["seed"])
    for k, row in enumerate(table.to_dict("records")):
        for name, of in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            each = [of(m[k, a], q[a]).statistic for a in range(20)]
            assert row[name] == pytest.approx(np.nanmean(each))
            assert row[f"{name}_low"] < row[f"{name}_high"]
    points = rows[rows["panel"] != "table"].set_index("panel")
    assert set(points.loc["threshold", "references"]) == {
        f"w>={value:g}" for value in units.THRESHOLDS
    }
    assert set(points.loc["order", "order"]) == set(units.ORDERS)
    # small units get fewer assignments
    sizes = points.loc["unit"].drop_duplicates("unit").set_index("unit")["n"]
    assert sizes.to_dict() == {1: 6 * 24, 4: 6 * 6}
    one = observations(counted, [Cell("bleu", HIGH)], pool(24, 720 // (6 * 24)), 1, 1)
    first = points.loc["unit"].query("unit == 1 and metric == 'bleu'")["spearman"]
    assert first.item() == pytest.approx(spearman_rows(*one).mean())


def test_equal_outputs_of_two_systems_stay_apart(tmp_path: Path) -> None:
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
    write_units(tmp_path / "units.csv", task, SETTINGS)
    table = sealed.read(tmp_path / "units.csv").content
    assert set(table.loc[table["panel"] == "table", "n"]) == {6 * 12 // 4}


@pytest.mark.slow
def test_recomputations_of_dstc7_by_others_come_out(mirror: str) -> None:
    """By others with code of their own, from the raw file."""
    path = Path(mirror, "dstc7/dstc7-task2-human_eval.tgz")
    texts = load("dstc7", "dstc7", {"path": path}, {"unit": "output"}).texts
    counted = Counted(read_dialogues(texts), 2)
    cells = [
        *(Cell("bleu", references, rule="floor") for references in (SINGLE, HIGH, "w>=0", ALL)),
        *(Cell("delta_bleu", references) for references in (HIGH, "w>=0.4", "w>=0.2")),
        *(Cell("bleu", references) for references in (HIGH, "w>=0.4", "w>=0.2")),
    ]
    m, q = observations(counted, cells, pool(1000, 100), 100, seed=1)
    rho = spearman_rows(m, q).mean(axis=1)
    np.testing.assert_allclose(rho[:4], [0.280, 0.382, 0.325, 0.148], atol=0.006)
    np.testing.assert_allclose(rho[4:], [0.468, 0.578, 0.558, 0.382, 0.535, 0.528], atol=0.004)
    assert counted.references(Cell("bleu", HIGH)) == pytest.approx((1.036, 0.717), abs=0.001)
