"""Who is left out together."""

import numpy as np
import pytest

from refless.compare.read import Rated
from refless.compare.splits import FOLDS, Split, all_splits, assigned, repeated


def by_name(rated: Rated, seed: int = 0) -> dict[str, Split]:
    return {split.name: split for split in all_splits(rated, seed)}


def of(number: int, system: np.ndarray | None = None, group: np.ndarray | None = None) -> Rated:
    texts, quality = [f"text {k}" for k in range(number)], np.linspace(0, 1, number)
    return Rated(texts, quality, np.arange(number), system, group=group)


def test_groups_never_straddle(rated: Rated) -> None:
    splits = by_name(rated)
    groups = {"texts": rated.same, "systems": rated.system, "contexts": rated.group}
    assert list(splits) == list(groups)
    for name, group in groups.items():
        assert group is not None
        fold = splits[name].fold
        assert all(len(set(fold[group == one])) == 1 for one in np.unique(group))
    assert splits["systems"].folds == 4
    assert splits["texts"].folds == splits["contexts"].folds == FOLDS


def test_repeats_differ_and_the_first_is_the_one_without_repeats(rated: Rated) -> None:
    found = repeated(rated, 3, 4)
    numbers = {name: [split.repeat for split in own] for name, own in found.items()}
    assert numbers == {"texts": [0, 1, 2, 3], "systems": [0], "contexts": [0, 1, 2, 3]}
    for first in all_splits(rated, 3):
        own = found[first.name]
        np.testing.assert_array_equal(own[0].fold, first.fold)
        # which texts are together differs, and not the numbers of folds alone
        together = {(split.fold[:, None] == split.fold).tobytes() for split in own}
        assert len(together) == len(own)
    other = {split.fold.tobytes() for split in repeated(rated, 2, 4)["texts"]}
    assert not other & {split.fold.tobytes() for split in found["texts"]}


@pytest.mark.parametrize(("texts", "repeats"), [(30, 5), (2500, 4), (9000, 1), (20_000, 1)])
def test_many_texts_need_fewer_repeats(texts: int, repeats: int) -> None:
    assert len(repeated(of(texts), 0, 5)["texts"]) == repeats


def test_many_systems_share_folds() -> None:
    systems = np.arange(60) % 12
    fold = by_name(of(60, systems))["systems"].fold
    assert len(set(fold)) == FOLDS
    assert all(len(set(fold[systems == s])) == 1 for s in set(systems))


@pytest.mark.parametrize("group", [None, np.arange(30) % 2, np.arange(30)])
def test_few_groups_and_groups_of_one_text_are_no_split(group: np.ndarray | None) -> None:
    assert list(by_name(of(30, group, group))) == ["texts"]


@pytest.mark.parametrize("seed", range(3))
def test_folds_are_of_about_equal_size(seed: int) -> None:
    generator = np.random.default_rng(seed)
    group = np.unique(generator.integers(0, 40, 200), return_inverse=True)[1]
    sizes = np.bincount(assigned(group, generator))
    assert sizes.max() - sizes.min() <= np.bincount(group).max()
