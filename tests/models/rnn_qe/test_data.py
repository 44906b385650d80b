"""Training data of RNN-QE: delexicalisation, errors, folds and set-ups on data written here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refless.data.sources import mr
from refless.errors import SettingError
from refless.models.rnn_qe.data import (
    COLUMNS,
    ERRORS,
    UNTOUCHED,
    DataSettings,
    Texts,
    cross_split,
    cross_validation,
    delexicalised,
    distort,
    instances,
    lowered,
    size,
    splits_of,
)
from refless.models.rnn_qe.meaning import delexicalise
from refless.models.rnn_qe.names import CROSS, NAMES, SETUPS, hours, seeds_of, trainings

# ---- delexicalisation ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meaning", "text", "triples", "words"),
    [
        (
            "inform(name='the old mill',food=chinese)",
            "The Old Mill serves Chinese food, not Thai.",
            "inform name X-name inform food X-food",
            "X-name serves X-food food , not thai .",
        ),
        # longer values go first, and spelling may differ
        (
            "inform(name='mill',area='city centre',addr='3 mill st',near='city')",
            "mill at 3 mill street, citycentre, near the city",
            "inform name X-name inform area X-area inform addr X-addr inform near X-near",
            "X-name at X-addr , X-area , near the X-near",
        ),
        # a shared value goes to its slots in turn
        (
            "inform(name='X',area='X')",
            "x is in x, yes x",
            "inform name X-name inform area X-area",
            "X-name is in X-area , yes X-area",
        ),
        # a value inside a word is none
        (
            "inform(food=thai)",
            "thailand, thai-style",
            "inform food X-food",
            "thailand , X-food - style",
        ),
        ("hello()", "I'm at 10.50, OK?", "hello <none> <none>", "i'm at 10.50 , ok ?"),
        ("?request(area)", "", "request area <none>", ""),
        ("inform(food=dont_care,kids=yes)", "", "inform food dontcare inform kids yes", ""),
    ],
)
def test_values_of_the_mr_become_placeholders(
    meaning: str, text: str, triples: str, words: str
) -> None:
    found = delexicalise(mr.parse(meaning), text)
    assert [" ".join(own) for own in found] == [triples, words]


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rating", "left"),
    [(6, [6, 4, 3, 2, 1]), (5.5, [5.5, 4, 3, 2, 1]), (2.5, [2.5, 1.5, 1, 1, 1])],
)
def test_each_error_costs_a_point(rating: float, left: list[float]) -> None:
    assert [lowered(rating, errors) for errors in range(5)] == left


def test_errors_spare_articles_marks_and_the_last_word() -> None:
    for seed in range(300):
        generator = np.random.default_rng(seed)
        made = distort(["the", "old", "mill", "."], 1, ["boat"], generator)
        assert [word for word in made if word in UNTOUCHED] == ["the", "."]
        assert made != ["the", "old", "mill", "."]
        assert distort(["mill"], 4, ["boat"], generator)


def test_every_kind_of_error_happens_equally_often() -> None:
    generator = np.random.default_rng(1)
    made = [distort(["mill", "river", "bridge"], 1, ["boat"], generator) for _ in range(2000)]
    kinds = pd.Series([(len(words), "boat" in words) for words in made]).value_counts()
    # removed, replaced, inserted; both ways of doubling a word
    assert [kinds[2, False], kinds[3, True], kinds[4, True]] == pytest.approx([400] * 3, abs=80)
    assert kinds[4, False] == pytest.approx(800, abs=100)


# ---- names ---------------------------------------------------------------------------------------


def test_what_a_run_trains_and_how_long() -> None:
    assert NAMES["paper_cross_domain_2_setup3"] == ("paper", "cross_domain_2", 3)
    assert NAMES["curve_50_setup1"] == ("short", "curve_50", 1)
    assert NAMES["setup4"] == ("short", "cross_validation", 4)
    assert len(trainings("paper")) == 42
    assert sum(len(seeds_of(name, 3)) for name in trainings("short")) == 131
    assert [NAMES[name].networks for name in ("curve_50_setup1", "setup1")] == [25, 5]
    # a fold of set-up 4: two passes over all of its instances and twelve over rated ones
    assert hours(["setup4"]) == pytest.approx(5 * (2 * 44102 + 12 * 1476) * 1.3e-3 / 3600)


# ---- splits and set-ups --------------------------------------------------------------------------


SETTINGS = DataSettings(1, "sfhot", "LOLS")


def small_texts(n: int = 500, seed: int = 3) -> Texts:
    """Rated outputs and references of a few MRs; some rows repeat the MR and the text."""
    generator = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        dataset = ["bagel", "sfrest", "sfhot"][i % 3 if i < n // 2 else 2]
        place = generator.integers(8)
        # whether children are welcome is no name, and stays in the MR
        kids = ",kids='yes'" if place == 0 else ""
        meaning = f"inform(name='place {place}',area='{dataset}'{kids})"
        text = f"place is in {dataset} {generator.choice(['now', 'then', 'ever'])}"
        rows.append(
            {
                "id": f"nem:{i:04d}",
                "dataset": dataset,
                "system": ["LOLS", "RNNLG"][i % 2],
                "context": meaning,
                "text": f"{text} {generator.integers(12)}",
                "mr_key": mr.key(meaning),
                "median_quality": generator.integers(2, 13) / 2,
            }
        )
    references = []
    for dataset in ("bagel", "sfrest", "sfhot"):
        for j in range(20):
            kids = ";kids='yes'" if j % 10 == 0 else ""
            meaning = f"inform(name='place {j % 10}';area='{dataset}'{kids})"
            references.append(
                {
                    "id": f"{dataset}:{j:04d}",
                    "task": dataset,
                    "context": meaning,
                    "text_nem": f"this is place {j % 10} of {dataset} {j // 18}.",
                    "mr_key": mr.key(meaning),
                    "part": "" if dataset == "bagel" else ["train", "test"][j % 2],
                }
            )
    rated, human = pd.DataFrame(rows), pd.DataFrame(references)
    return Texts(delexicalised(rated, "text"), delexicalised(human, "text_nem"))


TEXTS = small_texts()
SPLIT = cross_validation(TEXTS.rated, 1)[0]


def test_folds_share_the_outputs_and_leak_nothing() -> None:
    key = TEXTS.rated["mr_key"] + TEXTS.rated["text"]
    assert key.duplicated().any()  # else this shows nothing
    folds = cross_validation(TEXTS.rated, 1)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(500))
    for fold in folds:
        rows = np.concatenate([fold.train, fold.dev, fold.test])
        assert sorted(rows.tolist()) == list(range(500))
        train, dev, test = (set(key.iloc[part]) for part in (fold.train, fold.dev, fold.test))
        assert not train & dev | train & test | dev & test
        assert set(fold.source) <= set(fold.train)
        assert len(fold.source) == pytest.approx(100, abs=6)
    other = cross_validation(TEXTS.rated, 2)
    assert set(folds[0].test.tolist()) != set(other[0].test.tolist())


@pytest.mark.parametrize("experiment", CROSS)
def test_tables_4_and_5_test_the_same_rest_and_leak_nothing(experiment: str) -> None:
    rated = TEXTS.rated
    by_domain, by_system = rated["dataset"] == "sfhot", rated["system"] == "LOLS"
    inside = (by_domain if experiment == "cross_domain" else by_system).to_numpy()
    key = rated["mr_key"] + rated["text"]
    one, two, three = (cross_split(rated, experiment, number, SETTINGS) for number in (1, 2, 3))
    assert len(one.train) == pytest.approx(100, abs=8)
    assert len(one.test) == pytest.approx(inside.sum() - 200, abs=8)
    assert inside[np.concatenate([one.train, one.dev, one.test])].all()
    assert not inside[np.concatenate([two.train, two.dev])].any()
    assert np.array_equal(one.dev, three.dev)
    assert set(one.train) < set(three.train)
    for split in (one, two, three):
        assert np.array_equal(split.test, one.test)
        train, dev, test = (set(key.iloc[part]) for part in (split.train, split.dev, split.test))
        assert not train & dev | train & test | dev & test
    with pytest.raises(SettingError, match="too few"):
        cross_split(rated.iloc[:300], experiment, 1, SETTINGS)


@pytest.mark.parametrize("setup", SETUPS)
def test_instances_are_as_many_as_is_said(setup: int) -> None:
    table = instances(TEXTS, SPLIT, setup, 1)
    assert list(table.columns) == COLUMNS
    assert table["id"].is_unique
    pretrain = table[table["part"] == "pretrain"]
    assert size(TEXTS, SPLIT, setup) == len(pretrain) + (table["part"] == "train").sum()
    kinds = ["output", "reference", "source"][: min(setup - 1, 3)]
    assert set(pretrain["id"].str.split(":").str[0]) == set(kinds)
    if setup > 1:
        each = pretrain["id"].str[-1].value_counts()
        assert set(each.index) == set(map(str, range(ERRORS + 1)))
        assert each.min() == each.max()
    # errors are never made in what tests or validates
    outputs = pretrain["id"].str.extract(r"output:(.*):e\d")[0].dropna()
    assert set(outputs) <= set(TEXTS.rated["id"].iloc[SPLIT.train])
    human = pretrain["id"].str.match(r"(?:reference|source):.*:e0")
    assert set(pretrain.loc[human, "rating"]) <= {6.0}


def test_set_up_3_has_references_of_training_mrs_alone() -> None:
    table = instances(TEXTS, SPLIT, 3, 1)
    used = table.loc[table["id"].str.startswith("reference:"), "id"].str[len("reference:") : -3]
    keys = TEXTS.references.set_index("id")["mr_key"]
    assert set(keys[used.unique()]) <= set(TEXTS.rated["mr_key"].iloc[SPLIT.source])


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    once, again, other = (instances(TEXTS, SPLIT, 4, seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(once, again)
    assert (other["text"] != once["text"]).any()


def test_a_learning_curve_has_fewer_rows_that_train_and_tests_the_same() -> None:
    whole, cut = (
        splits_of(TEXTS.rated, tested, SETTINGS) for tested in ("cross_validation", "curve_50")
    )
    assert (len(whole), len(cut)) == (5, 25)
    for number, split in enumerate(cut):
        own = whole[number % 5]
        assert np.array_equal(split.dev, own.dev)
        assert np.array_equal(split.test, own.test)
        assert len(split.train) == 50
        assert set(split.train) < set(own.train)
        assert set(split.source) <= set(split.train) & set(own.source)
    assert set(cut[0].train) != set(cut[5].train)
    with pytest.raises(SettingError, match="has"):
        splits_of(TEXTS.rated, "curve_800", SETTINGS)
