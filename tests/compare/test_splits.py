"""Who is left out together."""

from __future__ import annotations

import numpy as np
import pytest

from refless.compare.read import Rated
from refless.compare.splits import FOLDS, Split, all_splits, assigned, repeated, repeats_of


def by_name(rated: Rated, seed: int = 0) -> dict[str, Split]:
    return {split.name: split for split in all_splits(rated, seed)[0]}


def of(number: int, systems: list[str] | None = None, context: list[int] | None = None) -> Rated:
    group = None if context is None else np.array(context)
    texts, quality = [f"text {k}" for k in range(number)], np.linspace(0, 1, number)
    return Rated(texts, quality, np.arange(number), systems, None, group, group)


def test_groups_never_straddle(rated: Rated) -> None:
    splits = by_name(rated)
    assert list(splits) == ["texts", "systems", "contexts"]
    for name, groups in (
        ("texts", rated.same),
        ("systems", rated.system),
        ("contexts", rated.group),
    ):
        assert groups is not None
        fold = splits[name].fold
        assert all(len(set(fold[groups == group])) == 1 for group in np.unique(groups))
    assert splits["systems"].folds == 4
    assert splits["texts"].folds == splits["contexts"].folds == FOLDS


def test_repeats_differ_and_the_first_is_the_one_without_repeats(rated: Rated) -> None:
    found, _ = repeated(rated, 3, 4)
    assert {name: [split.repeat for split in own] for name, own in found.items()} == {
        "texts": [0, 1, 2, 3],
        "systems": [0],
        "contexts": [0, 1, 2, 3],
    }
    for first in all_splits(rated, 3)[0]:
        own = found[first.name]
        np.testing.assert_array_equal(own[0].fold, first.fold)
        # which texts are together differs, and not the numbers of folds alone
        together = {(split.fold[:, None] == split.fold).tobytes() for split in own}
        assert len(together) == len(own)
    other = {split.fold.tobytes() for split in repeated(rated, 2, 4)[0]["texts"]}
    assert not other & {split.fold.tobytes() for split in found["texts"]}


def test_many_texts_need_fewer_repeats() -> None:
    assert [repeats_of(n, 5) for n in (30, 2000, 2500, 9000, 10**6)] == [5, 5, 4, 1, 1]


def test_many_systems_share_folds() -> None:
    systems = [f"s{k % 12}" for k in range(60)]
    fold = by_name(of(60, systems))["systems"].fold
    assert len(set(fold)) == FOLDS
    assert all(len(set(fold[np.array(systems) == s])) == 1 for s in set(systems))


@pytest.mark.parametrize(
    ("systems", "context", "word"),
    [
        (None, None, {"systems": "one system", "contexts": "no contexts"}),
        (["a", "b"] * 15, list(range(30)), {"systems": "2 systems", "contexts": "its own"}),
        ([f"s{k}" for k in range(30)], [0, 1] * 15, {"systems": "its own", "contexts": "2 con"}),
    ],
)
def test_why_there_is_no_split(
    systems: list[str] | None, context: list[int] | None, word: dict[str, str]
) -> None:
    splits, why = all_splits(of(30, systems, context))
    assert [split.name for split in splits] == ["texts"]
    assert all(word[name] in why[name] for name in ("systems", "contexts"))


@pytest.mark.parametrize("seed", range(3))
def test_folds_are_of_about_equal_size(seed: int) -> None:
    generator = np.random.default_rng(seed)
    group = np.unique(generator.integers(0, 40, 200), return_inverse=True)[1]
    sizes = np.bincount(assigned(group, 5, generator))
    assert sizes.max() - sizes.min() <= np.bincount(group).max()
