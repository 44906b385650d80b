"""Training data of RNN-QE: delexicalisation, errors, folds and set-ups on data written here."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.data.sources import mr
from refless.errors import SettingError
from refless.models.rnn_qe.data import (
    COLUMNS,
    ERRORS,
    DataSettings,
    Texts,
    cross_split,
    cross_validation,
    instances,
    size,
    tables,
)
from refless.models.rnn_qe.delex import delexicalise
from refless.models.rnn_qe.names import (
    CROSS,
    EXPERIMENTS,
    SETUPS,
    hours,
    names,
    parse,
    seeds_of,
    trainings,
)
from refless.models.rnn_qe.synthesis import UNTOUCHED, distort, lowered

# ---- delexicalisation ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meaning", "triples"),
    [
        (
            "inform(name='the old mill',kids_allowed=yes,near=none)",
            "inform name X-name inform kidsallowed yes inform near none",
        ),
        ("goodbye()", "goodbye <none> <none>"),
        ("?request(area)", "request area <none>"),
        ("inform(food=dont_care)", "inform food dontcare"),
        ("confirm(internet='yes or no')", "confirm internet yes confirm internet no"),
    ],
)
def test_mrs_become_triples(meaning: str, triples: str) -> None:
    assert delexicalise(meaning, "well")[0] == triples


@pytest.mark.parametrize(
    ("meaning", "text", "expected"),
    [
        (
            "inform(name='the old mill',food=chinese)",
            "The Old Mill serves Chinese food, not Thai.",
            "X-name serves X-food food , not thai .",
        ),
        # longer values go first, and spelling may differ
        (
            "inform(name='mill',area='city centre',addr='3 mill st',near='city')",
            "mill at 3 mill street, citycentre, near the city",
            "X-name at X-addr , X-area , near the X-near",
        ),
        # a shared value goes to its slots in turn
        ("inform(name='X',area='X')", "x is in x, yes x", "X-name is in X-area , yes X-area"),
        # a value inside a word is none
        ("inform(food=thai)", "thailand, thai-style", "thailand , X-food - style"),
        ("hello()", "I'm at 10.50, OK?", "i'm at 10.50 , ok ?"),
    ],
)
def test_values_of_the_mr_become_placeholders(meaning: str, text: str, expected: str) -> None:
    assert delexicalise(meaning, text)[1] == expected


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rating", "left"),
    [
        (6, [6, 4, 3, 2, 1]),
        (5.5, [5.5, 4, 3, 2, 1]),
        (5, [5, 4, 3, 2, 1]),
        (2.5, [2.5, 1.5, 1, 1, 1]),
    ],
)
def test_each_error_costs_a_point(rating: float, left: list[float]) -> None:
    assert [lowered(rating, errors) for errors in range(5)] == left


def test_errors_spare_articles_marks_and_the_last_word() -> None:
    for seed in range(300):
        generator = np.random.default_rng(seed)
        made = distort(["the", "old", "mill", "."], 1, ["boat"], generator)
        kept = [word for word in made if word in UNTOUCHED]
        assert kept == ["the", "."]
        assert made != ["the", "old", "mill", "."]
        assert distort(["mill"], 4, ["boat"], generator)


def test_every_kind_of_error_happens_equally_often() -> None:
    generator = np.random.default_rng(1)
    made = [distort(["mill", "river", "bridge"], 1, ["boat"], generator) for _ in range(2000)]
    assert sum(len(words) == 2 for words in made) == pytest.approx(400, abs=80)
    assert sum(len(words) == 3 for words in made) == pytest.approx(400, abs=80)
    longer = ["boat" in words for words in made if len(words) == 4]
    assert sum(longer) == pytest.approx(400, abs=80)
    assert len(longer) - sum(longer) == pytest.approx(800, abs=100)


# ---- names ---------------------------------------------------------------------------------------


def test_every_name_says_what_is_trained() -> None:
    made = {experiment: names(experiment) for experiment in EXPERIMENTS}
    assert [len(own) for own in made.values()] == [6, 18, 18, 5]
    for experiment, own in made.items():
        assert {parse(name).experiment for name in own} == {experiment}
    assert sorted(trainings("short")) == sorted(name for own in made.values() for name in own)
    assert set(trainings("paper")) == {f"paper_{n}" for n in trainings("short") if "curve" not in n}
    assert parse("paper_cross_domain_2_setup3") == ("paper", "cross_domain", 2, 3)
    assert parse("curve_50_setup1") == ("short", "curve", 50, 1)
    for wrong in ("setup7", "paper_paper_setup1", "cross_domain_4_setup1", "curve_setup1"):
        with pytest.raises(SettingError, match=wrong):
            parse(wrong)


def test_what_a_run_trains_and_how_long() -> None:
    assert seeds_of("setup4", 3) == [0, 1, 2]
    assert seeds_of("curve_50_setup1", 3) == [0]
    jobs = [name for name in trainings("short") for _ in seeds_of(name, 3)]
    assert len(jobs) == 131
    assert parse("curve_50_setup1").networks == 25
    # a fold of set-up 4: two passes over all of its instances and twelve over rated ones
    expected = 5 * (2 * 44102 + 12 * 1476) * 1.3e-3 / 3600
    assert hours(["setup4"]) == pytest.approx(expected)
    assert hours(["paper_setup1"]) > 40 * hours(["setup1"])


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
    return Texts.of(pd.DataFrame(rows), pd.DataFrame(references))


def test_folds_share_the_outputs_and_leak_nothing() -> None:
    rated = small_texts().rated
    key = rated["mr_key"] + rated["text"]
    assert key.duplicated().any()  # else this shows nothing
    folds = cross_validation(rated, 1)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(500))
    for fold in folds:
        rows = np.concatenate([fold.train, fold.dev, fold.test])
        assert sorted(rows.tolist()) == list(range(500))
        sides = [set(key.iloc[part]) for part in (fold.train, fold.dev, fold.test)]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            assert not sides[a] & sides[b]
        assert set(fold.source) <= set(fold.train)
        assert len(fold.source) == pytest.approx(100, abs=6)
    other = cross_validation(rated, 2)
    assert set(folds[0].test.tolist()) != set(other[0].test.tolist())


@pytest.mark.parametrize("experiment", CROSS)
def test_tables_4_and_5_test_the_same_rest_and_leak_nothing(experiment: str) -> None:
    rated = small_texts().rated
    column, value = SETTINGS.in_set(experiment)
    inside = (rated[column] == value).to_numpy()
    key = rated["mr_key"] + rated["text"]
    splits = [
        cross_split(rated, experiment, configuration, SETTINGS) for configuration in (1, 2, 3)
    ]
    assert inside[splits[0].test].all()
    assert all(np.array_equal(splits[0].test, split.test) for split in splits)
    assert np.array_equal(splits[0].dev, splits[2].dev)
    assert len(splits[0].train) == pytest.approx(100, abs=8)
    assert len(splits[0].test) == pytest.approx(inside.sum() - 200, abs=8)
    assert inside[splits[0].train].all()
    assert not inside[np.concatenate([splits[1].train, splits[1].dev])].any()
    assert set(splits[0].train) < set(splits[2].train)
    for split in splits:
        held = set(key.iloc[split.test]) | set(key.iloc[split.dev])
        assert not set(key.iloc[split.train]) & held
        assert not set(key.iloc[split.dev]) & set(key.iloc[split.test])


@pytest.mark.parametrize("setup", SETUPS)
def test_instances_are_as_many_as_is_said(setup: int) -> None:
    texts = small_texts()
    split = cross_validation(texts.rated, 1)[0]
    table = instances(texts, split, setup, 1)
    assert list(table.columns) == COLUMNS
    assert table["id"].is_unique
    pretrain = table[table["part"] == "pretrain"]
    assert size(texts, split, setup) == len(pretrain) + (table["part"] == "train").sum()
    kinds = ["output", "reference", "source"][: min(setup - 1, 3)]
    assert set(pretrain["id"].str.split(":").str[0]) == set(kinds)
    if setup > 1:
        each = pretrain["id"].str[-1].value_counts()
        assert set(each.index) == set(map(str, range(ERRORS + 1)))
        assert each.min() == each.max()
    # errors are never made in what tests or validates
    outputs = pretrain["id"].str.extract(r"output:(.*):e\d")[0].dropna()
    assert set(outputs) <= set(texts.rated["id"].iloc[split.train])
    human = pretrain["id"].str.match(r"(?:reference|source):.*:e0")
    assert set(pretrain.loc[human, "rating"]) <= {6.0}


def test_set_up_3_has_references_of_training_mrs_alone() -> None:
    texts = small_texts()
    split = cross_validation(texts.rated, 1)[0]
    table = instances(texts, split, 3, 1)
    used = table.loc[table["id"].str.startswith("reference:"), "id"].str[len("reference:") : -3]
    keys = texts.references.set_index("id")["mr_key"]
    assert set(keys[used.unique()]) <= set(texts.rated["mr_key"].iloc[split.source])


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    texts = small_texts()
    split = cross_validation(texts.rated, 1)[0]
    once, again = (instances(texts, split, 4, 5) for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    assert (instances(texts, split, 4, 6)["text"] != once["text"]).any()


def test_a_learning_curve_has_fewer_rows_that_train_and_tests_the_same() -> None:
    texts = small_texts()
    whole, cut = (list(tables(texts, n, SETTINGS)) for n in ("setup1", "curve_20_setup1"))
    assert (len(whole), len(cut)) == (5, 25)
    for number, table in enumerate(cut):
        own = whole[number % 5]
        for part in ("dev", "test"):
            assert set(table.loc[table["part"] == part, "id"]) == set(
                own.loc[own["part"] == part, "id"]
            )
        train = set(table.loc[table["part"] == "train", "id"])
        assert len(train) == 20
        assert train < set(own.loc[own["part"] == "train", "id"])
    assert set(cut[0]["id"]) != set(cut[5]["id"])
    fewest = min((table["part"] == "train").sum() for table in whole)
    with pytest.raises(SettingError, match="has"):
        next(tables(texts, f"curve_{fewest + 1}_setup1", SETTINGS))


def test_wrong_settings_are_named() -> None:
    texts = small_texts()
    with pytest.raises(SettingError, match="setup9"):
        next(tables(texts, "setup9", SETTINGS))
    with pytest.raises(SettingError, match="too few"):
        cross_split(texts.rated.iloc[:300], "cross_domain", 1, SETTINGS)


# ---- the real data -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real() -> Texts:
    root = Path(os.environ.get("REFLESS_MIRROR") or "/nowhere")
    if not (root / "nem/emnlp_data_medians.csv").is_file():
        pytest.skip("needs the real data: set REFLESS_MIRROR to a directory that has it")
    path = root / "bagel/ACL10-inform-training.txt"
    references = [sources.load("bagel", "bagel", {"path": path}).texts.assign(part="")]
    for task, directory in (("sfrest", "restaurant"), ("sfhot", "hotel")):
        parts = {p: root / "rnnlg" / directory / f"{p}.json" for p in ("train", "valid", "test")}
        references.append(sources.load("rnnlg", task, parts).texts)
    rated = sources.load("nem", "nem", {"path": root / "nem/emnlp_data_medians.csv"}).texts
    return Texts.of(rated, pd.concat(references, ignore_index=True))


def test_sizes_come_out_as_published_but_for_the_references(real: Texts) -> None:
    """Set-ups 1 and 2 to one row; the others lack what our references lack, and nothing else."""
    published = {1: 1476, 2: 3937, 3: 13442, 4: 45137, 5: 57372, 6: 80522}
    split = cross_validation(real.rated, 2017)[0]
    ours = {setup: size(real, split, setup) for setup in SETUPS}
    assert abs(ours[1] - published[1]) <= 1
    assert abs(ours[2] - published[2]) <= 1
    # the paper's source sets have two rows more in training, each of which comes five times
    assert ours[4] - ours[3] + 10 == published[4] - published[3]
    assert ours[6] - ours[5] - 10 == published[6] - published[5]
