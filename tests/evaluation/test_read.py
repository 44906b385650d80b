"""Rated texts as they are compared: what belongs together, raters, and who is left out together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.data.user_ratings import read_ratings
from refless.errors import FormatError
from refless.evaluation.read import FOLDS, CvSplit, Rated, all_splits, of_user
from refless.models.folds import in_folds
from refless.statistics.reliability import rater_agreement
from tests.evaluation.made_up import rows, write
from tests.statistics.test_humans import rated_by


def read(folder: Path, given: list[dict[str, Any]], center: bool = False, **more: Any) -> Rated:
    return of_user(read_ratings([write(folder / "rated.jsonl", given)], center=center, **more))


def texts(number: int = 24, **columns: Any) -> list[dict[str, Any]]:
    """``columns`` are lists that repeat."""
    return [
        {"text": f"text {k}", "quality": k % 5}
        | {name: values[k % len(values)] for name, values in columns.items()}
        for k in range(number)
    ]


def test_everything_that_a_row_has(rated):
    first = rows()[0]
    assert rated.texts[0] == first["text"]
    assert rated.quality[0] == pytest.approx((first["quality"] - 1) / 4)
    assert rated.to_user_scale(rated.quality)[0] == pytest.approx(first["quality"])
    assert "abcd"[rated.system[0]] == first["system"][0]
    assert rated.references[0] == first["references"]
    assert rated.scores["score_judge"][0] == first["score_judge"]
    assert len(np.unique(rated.context)) == len(np.unique(rated.context_group)) == 30


def test_unrated_rows_are_left_out_and_empty_texts_are_texts(tmp_path):
    given = [{"text": "", "quality": 0.5}, {"text": "nobody", "quality": None}]
    rated = read(tmp_path, given + texts())
    assert (rated.texts[0], len(rated), rated.rows[:2].tolist()) == ("", 25, [1, 3])


def test_a_score_counts_on_any_scale(tmp_path):
    """Squares of likelihoods of long texts would be 0."""
    score, found = [0.5, -0.25, 3.0, None], []
    for unit in (1.0, 2.0**-700, 2.0**300):
        values = [one and one * unit for one in score]
        found.append(read(tmp_path, texts(score_x=values)).scores["score_x"])
    assert all(np.nanmin(np.square(score)) > 0 for score in found)
    found = [score / np.nanmax(score) for score in found]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert not np.any(read(tmp_path, texts(score_x=[0, None])).scores["score_x"] > 0)
    assert np.isnan(read(tmp_path, texts(score_x=[None])).scores["score_x"]).all()


@pytest.mark.parametrize(
    ("column", "values", "contexts", "groups"),
    [
        ("context", ["Where to?", "where  TO?", "when?"], 2, 2),
        ("context", ["where?", "", "when?"], 2 + 8, 2 + 8),
        ("context", ["का", "कि", "C++", "C#"], 4, 3),  # those of one fold are left out together
        ("mr", ["name[Mill], area[x]", "area[y], name[Hut]", "name[Mill]"], 3, 2),
        ("mr", ["name[Mill]", "", "name[Hut]"], 2 + 8, 1 + 8),
        ("mr", ["inform(name=Mill)", "no MR at all"], 2, 2),
        ("context", ["inform(name='Mill')", "inform(name='Hut')", "bye()"], 3, 2),
        ("context", ["one"], None, None),
        ("context", [""], None, None),
    ],
)
def test_what_texts_answer(tmp_path, column, values, contexts, groups):
    rated = read(tmp_path, texts(**{column: values}))
    for number, expected in ((rated.context, contexts), (rated.context_group, groups)):
        assert (None if number is None else len(np.unique(number))) == expected


def test_an_mr_counts_more_than_a_context_and_leaves_slots(tmp_path):
    given = texts(context=["a", "b"], mr=["name[Mill]", "name[Hut]", "area[x]"])
    given[0]["text"] = "the Mill is good"
    rated = read(tmp_path, given)
    assert rated.prompts[0] == "name[Mill]"
    assert "Mill" not in rated.delexicalised[0]
    assert len(np.unique(rated.context_group)) == 2


TOO_LITTLE = [
    texts(19),
    texts(text=["a", "b"]),
    texts(quality=[None]),
    [{**row, "quality": 3, "rater": rater} for row in texts() for rater in "ab"],
]


@pytest.mark.parametrize("given", TOO_LITTLE)
def test_too_little_is_refused(tmp_path, given):
    with pytest.raises(FormatError, match=r"too few|alike"):
        read(tmp_path, given)


def test_a_guessed_scale_is_that_of_the_ratings(tmp_path):
    rated = read(tmp_path, [row | {"quality": 10 + row["quality"]} for row in texts()])
    assert (rated.scale, rated.guessed) == ((10, 14), True)


def test_raters_with_levels_of_their_own_are_seen_and_centered(tmp_path):
    table = rated_by(20, 3)
    assert rater_agreement(table).between > 0.5
    given = table.assign(text=table["text"].map("text {}".format)).to_dict("records")
    plain, centred = (read(tmp_path, given, center=center) for center in (False, True))
    mean = table["quality"].groupby(table["rater"]).transform("mean")
    expected = (table["quality"] - mean).groupby(table["text"]).mean() + table["quality"].mean()
    np.testing.assert_allclose(centred.to_user_scale(centred.quality), expected)
    assert np.corrcoef(plain.quality, expected)[0, 1] < 0.9
    assert centred.raters.between == 0  # agreement is that of the ratings that are compared
    assert centred.raters.icc_mean.value > 0.5 > plain.raters.icc_mean.value
    with pytest.raises(FormatError, match="rater"):
        read(tmp_path, texts(), center=True)


def by_name(rated: Rated) -> dict[str, CvSplit]:
    return {name: split for name, (split,) in all_splits(rated).items()}


def bare(number: int, system: np.ndarray | None = None, group: np.ndarray | None = None) -> Rated:
    texts, quality = [f"text {k}" for k in range(number)], np.linspace(0, 1, number)
    return Rated(texts, quality, np.arange(number), system, context_group=group)


def test_groups_never_straddle(rated):
    splits = by_name(rated)
    groups = {"texts": rated.text_id, "systems": rated.system, "contexts": rated.context_group}
    assert list(splits) == list(groups)
    for name, group in groups.items():
        fold = splits[name].fold
        assert all(len(set(fold[group == one])) == 1 for one in np.unique(group))
    assert [split.folds for split in splits.values()] == [FOLDS, 4, FOLDS]
    many = by_name(replace(rated, system=np.arange(120) % 12))["systems"].fold
    assert [len(set(many)), len(set(many[::12]))] == [FOLDS, 1]


def test_repeats_differ_and_the_first_is_the_one_without_repeats(rated):
    found = all_splits(rated, 3, 4)
    numbers = {name: [split.repeat for split in own] for name, own in found.items()}
    assert numbers == {"texts": [0, 1, 2, 3], "systems": [0], "contexts": [0, 1, 2, 3]}
    for name, (first,) in all_splits(rated, 3).items():
        own = found[name]
        np.testing.assert_array_equal(own[0].fold, first.fold)
        # which texts are together differs, and not the numbers of folds alone
        together = {(split.fold[:, None] == split.fold).tobytes() for split in own}
        assert len(together) == len(own)
    other = {split.fold.tobytes() for split in all_splits(rated, 2, 4)["texts"]}
    assert not other & {split.fold.tobytes() for split in found["texts"]}


@pytest.mark.parametrize(("texts", "repeats"), [(30, 5), (2500, 4), (9000, 1)])
def test_many_texts_need_fewer_repeats(texts, repeats):
    assert len(all_splits(bare(texts), 0, 5)["texts"]) == repeats


@pytest.mark.parametrize("group", [None, np.arange(30) % 2, np.arange(30)])
def test_few_groups_and_groups_of_one_text_are_no_split(group):
    assert list(by_name(bare(30, group, group))) == ["texts"]


@pytest.mark.parametrize("seed", range(3))
def test_folds_are_of_about_equal_size(seed):
    generator = np.random.default_rng(seed)
    group = np.unique(generator.integers(0, 40, 200), return_inverse=True)[1]
    sizes = np.bincount(in_folds(group, 5, generator))
    assert sizes.max() - sizes.min() <= np.bincount(group).max()
