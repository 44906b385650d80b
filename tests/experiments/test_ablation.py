"""The ablation's variants against slow loops over the definitions, and its table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refless.errors import SettingError
from refless.experiments.bleu_neighbors import ablation as ablation
from refless.experiments.bleu_neighbors.ablation import (
    COLUMNS,
    LEAST_TAU,
    PLAIN,
    TRAINING_VARIANTS,
    Rated,
    Settings,
    TaskNumbers,
    ablation_markdown,
    ablation_rows,
    ablation_table,
    absent_row,
    lead_text,
    matched_tau,
    other_kernel,
    rated,
    system_bits,
    system_groups,
    tau_grid,
    training_variants,
)
from refless.kernels import kernel
from refless.models.neighbors import NeighborsRegressor
from tests.kernels.texts import random_sentences

SETTINGS = Settings("bleu.char", 0.2, 2, 0.5, halves=5, tau_step=0.05, seed=3)
NAN = float("nan")


def made_up(n: int = 50) -> Rated:
    generator = np.random.default_rng(1)
    systems = generator.choice(["human", "one", "two", "one+two"], n, p=[0.4, 0.3, 0.2, 0.1])
    return Rated(
        random_sentences(n, 9, seed=8),
        generator.integers(0, 9, n) / 8,
        list(systems),
        [f"context {i // 3}" for i in range(n)],
    )


DATA = made_up()
MATRIX = kernel("bleu.char", DATA.text, DATA.text)


def slow(allowed: np.ndarray, weighted: bool = False) -> np.ndarray:
    """One candidate after the other; ``allowed`` says which training texts each may have."""
    n = len(DATA.text)
    out = np.full(n, NAN)
    for i in range(n):
        training = [j for j in range(n) if j != i and allowed[i, j]]
        near = [j for j in training if MATRIX[i, j] >= SETTINGS.tau]
        if SETTINGS.a <= len(near) <= SETTINGS.b * len(training):
            weight = [MATRIX[i, j] if weighted else 1.0 for j in near]
            total = sum(w * DATA.quality[j] for w, j in zip(weight, near, strict=True))
            out[i] = total / sum(weight)
    return out


def same(values: list) -> np.ndarray:
    return np.array([[a == b for b in values] for a in values])


@pytest.fixture(scope="module")
def found() -> dict[str, ablation.Prediction]:
    return training_variants(DATA, SETTINGS)


def test_every_variant_is_there(found: dict[str, ablation.Prediction]) -> None:
    assert set(found) == {PLAIN, *TRAINING_VARIANTS}
    for one in found.values():
        assert 3 < (~np.isnan(one.estimate)).sum() < len(DATA.text)


def test_plain_is_the_model(found: dict[str, ablation.Prediction]) -> None:
    model = NeighborsRegressor("bleu.char", SETTINGS.tau, SETTINGS.a, SETTINGS.b)
    expected = model.fit(DATA.text, DATA.quality).leave_one_out()
    np.testing.assert_allclose(found[PLAIN].estimate, expected, rtol=1e-12)
    assert found[PLAIN].neighbors == np.median(model.neighbors_)
    assert found[PLAIN].training == len(DATA.text) - 1


def test_variants_are_those_of_the_definitions(found: dict[str, ablation.Prediction]) -> None:
    n = len(DATA.text)
    everything = np.ones((n, n), bool)
    shared = np.array(
        [[bool(set(a.split("+")) & set(b.split("+"))) for b in DATA.system] for a in DATA.system]
    )
    expected = {
        PLAIN: slow(everything),
        "weighted": slow(everything, weighted=True),
        "other_systems": slow(~shared),
        "own_system": slow(shared),
        "other_contexts": slow(~same(DATA.context)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name].estimate, values, rtol=1e-12, err_msg=name)


def test_shuffled_systems_leave_out_as_many(found: dict[str, ablation.Prediction]) -> None:
    generator = np.random.default_rng(SETTINGS.seed)
    bits = generator.permutation(system_bits(DATA.system))
    allowed = (bits[:, None] & bits[None, :]) == 0
    np.testing.assert_allclose(found["shuffled_systems"].estimate, slow(allowed), rtol=1e-12)


def test_halves_are_the_mean_of_predictions_from_halves(
    found: dict[str, ablation.Prediction],
) -> None:
    n = len(DATA.text)
    generator = np.random.default_rng(SETTINGS.seed)
    generator.permutation(system_bits(DATA.system))
    halves = [generator.permutation(n) < n // 2 for _ in range(SETTINGS.halves)]
    each = np.array([slow(np.tile(half, (n, 1))) for half in halves])
    np.testing.assert_allclose(found["one_half"].estimate, each[0], rtol=1e-12)
    expected = np.full(n, NAN)
    for i in range(n):
        there = each[~np.isnan(each[:, i]), i]
        if len(there) >= SETTINGS.halves / 2:
            expected[i] = there.mean()
    assert 3 < (~np.isnan(expected)).sum() < n
    np.testing.assert_allclose(found["halves"].estimate, expected, rtol=1e-12)


def test_blocks_and_threads_give_the_same_bits(
    found: dict[str, ablation.Prediction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "ROWS", 7)
    again = training_variants(DATA, SETTINGS, threads=2)
    for name, one in found.items():
        assert np.array_equal(one.estimate, again[name].estimate, equal_nan=True), name


def test_another_kernel_gets_the_tau_that_gives_as_many_neighbors() -> None:
    other = other_kernel("rouge_l.plain", DATA, SETTINGS)
    matrix = kernel("rouge_l.plain", DATA.text, DATA.text)
    near = (matrix[None] >= tau_grid(SETTINGS.tau_step)[:, None, None]).sum(2) - (
        np.diag(matrix) >= tau_grid(SETTINGS.tau_step)[:, None]
    )
    wanted = np.median((SETTINGS.tau <= MATRIX).sum(1) - (np.diag(MATRIX) >= SETTINGS.tau))
    distance = np.abs(np.median(near, axis=1) - wanted)
    assert other.tau == tau_grid(SETTINGS.tau_step)[int(np.argmin(distance))]
    model = NeighborsRegressor("rouge_l.plain", other.tau, SETTINGS.a, SETTINGS.b)
    expected = model.fit(DATA.text, DATA.quality).leave_one_out()
    np.testing.assert_allclose(other.estimate, expected, rtol=1e-12)


def test_matched_tau_by_hand() -> None:
    counts = np.array([[9, 5, 2, 0], [7, 4, 1, 0], [8, 6, 3, 0]])  # medians 8, 5, 2, 0
    assert matched_tau(counts, np.array([6, 1, 50])) == 1
    assert matched_tau(counts, np.array([0, 0, 0])) == 3
    assert matched_tau(0 * counts, np.array([5, 5, 5])) == 0
    assert tau_grid(0.25).tolist() == [LEAST_TAU, 0.25, 0.5, 0.75, 1.0]


def test_systems_as_bits() -> None:
    bits = system_bits(["a", "b", "b+a", "c", "a+a"])
    assert [(int(x) & int(bits[2])) != 0 for x in bits] == [True, True, True, False, True]
    with pytest.raises(SettingError, match="63 systems"):
        system_bits([f"s{i}" for i in range(63)])


def test_groups_leave_out_what_cannot_be_ranked() -> None:
    text = [*"abcdefghij", *"z" * 12, *"abc"]
    system = [*["one"] * 10, *["constant"] * 12, *["small"] * 3]
    groups = system_groups(Rated(text, np.zeros(25), system, text))
    assert len(set(groups[:10])) == 1
    assert groups[0] >= 0
    assert set(groups[10:]) == {-1}


def test_unrated_texts_are_no_candidates() -> None:
    table = pd.DataFrame(
        {"text": ["a", "b"], "quality": [NAN, 0.5], "system": ["s", "t"], "context": ["", ""]}
    )
    data = rated(table)
    assert (data.text, data.quality.tolist(), data.system) == (["b"], [0.5], ["t"])


def test_the_table_has_a_row_for_every_variant_and_says_what_is_missing(
    found: dict[str, ablation.Prediction],
) -> None:
    numbers = TaskNumbers(
        DATA.quality,
        system_groups(DATA),
        found,
        dict.fromkeys(found, "computed"),
        {"embedding.none": "not available: no torch"},
    )
    rows = ablation_rows("made_up", numbers, draws=200, seed=1)
    table = ablation_table([*rows, absent_row("elsewhere", "no file")])
    assert table.columns.tolist() == COLUMNS
    assert table["variant"].tolist() == [*found, "embedding.none", PLAIN]
    own = table.set_index("variant").loc["weighted"]
    assert own["spearman_change"] == pytest.approx(own["spearman"] - rows[0]["spearman"])
    assert own["spearman_change_low"] <= own["spearman_change"] <= own["spearman_change_high"]
    assert own["n_common"] == own["n_covered"]
    text = ablation_markdown(table)
    assert "not available: no torch" in text
    assert "not available: no file" in text
    assert "weighted by similarity" in text
    assert "200 draws" in lead_text(SETTINGS, 200, 1)
