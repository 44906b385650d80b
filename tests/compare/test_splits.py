"""Who is left out together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refless.compare.rated import Rated
from refless.compare.splits import FOLDS, Split, all_splits, deal, deals_of, dealt


def by_name(rated: Rated, seed: int = 0) -> dict[str, Split]:
    return {split.name: split for split in all_splits(rated, seed)[0]}


def of(
    texts: list[str], systems: list[str] | None = None, context: list[int] | None = None
) -> Rated:
    words = [text.casefold() for text in texts]
    return Rated(
        texts,
        np.linspace(0, 1, len(texts)),
        np.array([sorted(set(words)).index(word) for word in words]),
        systems,
        None if context is None else np.array(context),
    )


def test_groups_never_straddle(rated: Rated) -> None:
    splits = by_name(rated)
    assert list(splits) == ["texts", "systems", "contexts"]
    assert rated.context is not None
    assert rated.systems is not None
    for name, groups in (
        ("texts", rated.wording),
        ("systems", np.array(rated.systems)),
        ("contexts", rated.context),
    ):
        fold = splits[name].fold
        assert all(len(set(fold[groups == group])) == 1 for group in np.unique(groups))
    assert splits["systems"].folds == 4
    assert splits["texts"].folds == splits["contexts"].folds == FOLDS


def test_deals_differ_and_the_first_is_the_one_without_deals(rated: Rated) -> None:
    found, _ = dealt(rated, 3, 4)
    assert [[split.deal for split in own] for own in found] == [[0, 1, 2, 3], [0], [0, 1, 2, 3]]
    for own, first in zip(found, all_splits(rated, 3)[0], strict=True):
        np.testing.assert_array_equal(own[0].fold, first.fold)
        # which texts are together differs, and not the numbers of folds alone
        together = {(split.fold[:, None] == split.fold).tobytes() for split in own}
        assert len(together) == len(own)
    # another seed deals otherwise, in every deal
    other = {split.fold.tobytes() for split in dealt(rated, 2, 4)[0][0]}
    assert not other & {split.fold.tobytes() for split in found[0]}


def test_folds_of_other_numbers_are_no_other_deal() -> None:
    texts, systems = [f"text {k}" for k in range(40)], None
    found, _ = dealt(of(texts, systems, [k % 4 for k in range(40)]), 0, 20)
    assert [(own[0].name, len(own)) for own in found] == [("texts", 20), ("contexts", 1)]


def test_many_texts_are_dealt_less_often() -> None:
    assert [deals_of(n, 10) for n in (30, 1000, 2500, 9000, 10**6)] == [10, 10, 4, 1, 1]
    assert deals_of(30, 1) == 1


def test_equal_texts_are_on_one_side_in_whatever_case() -> None:
    texts = [f"text {k % 15}" if k < 15 else f"TEXT {k % 15}" for k in range(30)]
    fold = by_name(of(texts))["texts"].fold
    assert (fold[:15] == fold[15:]).all()
    assert len(set(fold)) == FOLDS


def test_texts_that_repeat_across_systems_are_counted() -> None:
    texts = [f"text {k}" for k in range(28)] + ["text 0", "text 1"]
    systems = [f"s{k % 3}" for k in range(28)] + ["s1", "s1"]
    # text 0 is of s0 and s1; text 1 is of s1 twice
    assert by_name(of(texts, systems))["systems"].repeated == 2
    assert by_name(of(texts, systems))["texts"].repeated == 0


def test_many_systems_are_dealt_to_folds() -> None:
    systems = [f"s{k % 12}" for k in range(60)]
    fold = by_name(of([f"text {k}" for k in range(60)], systems))["systems"].fold
    assert len(set(fold)) == FOLDS
    assert all(len(set(fold[np.array(systems) == s])) == 1 for s in set(systems))


def test_why_there_is_no_split() -> None:
    texts = [f"text {k}" for k in range(30)]
    splits, why = all_splits(of(texts))
    assert [split.name for split in splits] == ["texts"]
    assert set(why) == {"systems", "contexts"}
    _, why = all_splits(of(texts, ["a", "b"] * 15, list(range(30))))
    assert "2 systems" in why["systems"]
    assert "own" in why["contexts"]
    _, why = all_splits(of(texts, [f"s{k}" for k in range(30)]))
    assert "system of its own" in why["systems"]


@pytest.mark.parametrize("seed", range(3))
def test_folds_are_of_about_equal_size(seed: int) -> None:
    generator = np.random.default_rng(seed)
    group = generator.integers(0, 40, 200)
    group = np.unique(group, return_inverse=True)[1]
    sizes = np.bincount(deal(group, 5, generator))
    assert sizes.max() - sizes.min() <= np.bincount(group).max()


def test_another_seed_deals_otherwise(rated: Rated) -> None:
    first, again, other = (by_name(rated, seed)["texts"].fold for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_a_rated_copy_keeps_its_splits(rated: Rated) -> None:
    half = replace(rated, quality=rated.quality / 2)
    assert (by_name(half)["contexts"].fold == by_name(rated)["contexts"].fold).all()
