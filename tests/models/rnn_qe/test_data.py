"""RNN-QE without torch: delexicalisation, errors, folds, set-ups, batches, scales."""

import importlib
import itertools
import json
import sys

import numpy as np
import pandas as pd
import pytest

from refless.data import mr
from refless.errors import FormatError, SettingError
from refless.models.rnn_qe import data
from refless.models.rnn_qe.batches import mixed
from refless.models.rnn_qe.data import SPARED, corrupt, penalised_rating
from refless.models.rnn_qe.meaning import (
    ACTS,
    SLOTS,
    TEXT,
    delexicalise,
    kind_of_meanings,
    tokens_of,
)
from refless.models.rnn_qe.names import CROSS, RUNS, SETUPS
from refless.models.rnn_qe.saved import SHIPPED_MODEL
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("meaning", "text", "words"),
    [
        ("inform(name='old mill',food=thai)", "Old Mill, Thai food.", "X-name , X-food food ."),
        # longer values go first, and spelling may differ
        ("inform(area='a town',addr='3 a st')", "3 a street, atown", "X-addr , X-area"),
        ("inform(name=mill,addr='3 mill st')", "mill at 3 mill street", "X-name at X-addr"),
        # a shared value goes to its slots in turn
        ("inform(name='X',area='X')", "x is in x, yes x", "X-name is in X-area , yes X-area"),
        # a value inside a word is none
        ("inform(food=thai)", "thailand, thai-style", "thailand , X-food - style"),
        ("hello()", "I'm at 10.50, OK?", "i'm at 10.50 , ok ?"),
    ],
)
def test_values_of_the_mr_become_placeholders(meaning, text, words):
    assert " ".join(delexicalise(mr.parse(meaning), text)[1]) == words


@pytest.mark.parametrize(
    ("meaning", "kind", "expected"),
    [
        ("inform(n='a hut', p r=b)", ACTS, "inform n X-n inform pr X-pr"),
        ("n[A Hut], b c[5 of 5], k[yes]", SLOTS, "inform n X-n inform bc X-bc inform k yes"),
        ("is the hut (in town) cheap?", TEXT, "is the hut ( in town ) cheap ?"),
        ("inform-count(x y='yes or no')", ACTS, "inform xy yes inform xy no"),
        ("inform(food=dont_care,kids=yes)", ACTS, "inform food dontcare inform kids yes"),
        ("?request(area)", ACTS, "request area <none>"),
        ("hello()", ACTS, "hello <none> <none>"),
        # several acts are no MR
        ("inform(name=A Hut)&deny(b)", TEXT, "inform ( name = a hut ) & deny ( b )"),
        ("", TEXT, ""),
    ],
)
def test_spellings(meaning, kind, expected):
    assert kind_of_meanings([meaning]) == kind
    ((read, _),) = tokens_of([meaning], ["The Hut is cheap."], kind)
    assert " ".join(read) == expected


def test_an_empty_meaning_delexicalises_nothing():
    found = tokens_of(["name[The Hut]", ""], ["The Hut."] * 2, SLOTS)
    assert [words for _, words in found] == [["X-name", "."], ["the", "hut", "."]]


def test_meanings_are_of_a_kind_if_all_are_and_a_mistake_is_named():
    meanings = ["name[a]"] * 19 + ["name[a"]
    assert kind_of_meanings(meanings) == TEXT
    assert kind_of_meanings(meanings[:-1]) == SLOTS
    with pytest.raises(FormatError, match="no meaning representation") as caught:
        tokens_of(meanings, ["x"] * 20, SLOTS)
    assert caught.value.line == 20


def test_each_error_costs_a_point():
    for left in ([6, 4, 3, 2, 1], [5.5, 4, 3, 2, 1], [2.5, 1.5, 1, 1, 1]):
        assert [penalised_rating(left[0], errors) for errors in range(5)] == left


def test_errors_spare_articles_marks_and_the_last_word():
    for seed in range(300):
        generator = np.random.default_rng(seed)
        made = corrupt(["the", "old", "mill", "."], 1, ["boat"], generator)
        assert [word for word in made if word in SPARED] == ["the", "."]
        assert made != ["the", "old", "mill", "."]
        assert corrupt(["mill"], 4, ["boat"], generator)


def test_every_kind_of_error_happens_equally_often():
    generator = np.random.default_rng(1)
    made = [corrupt(["mill", "river", "bridge"], 1, ["boat"], generator) for _ in range(2000)]
    kinds = pd.Series([(len(words), "boat" in words) for words in made]).value_counts()
    # removed, replaced, inserted; both ways of doubling a word
    assert [kinds[2, False], kinds[3, True], kinds[4, True]] == pytest.approx([400] * 3, abs=80)
    assert kinds[4, False] == pytest.approx(800, abs=100)


def test_what_a_run_trains_and_how_long():
    assert RUNS["paper_cross_domain_2_setup3"] == ("paper", "cross_domain_2", 3)
    assert RUNS["curve_50_setup1"] == ("short", "curve_50", 1)
    assert RUNS["setup4"] == ("short", "cross_validation", 4)
    assert sum(of.schedule == "paper" for of in RUNS.values()) == 42
    assert sum(len(of.seeds(3)) for of in RUNS.values() if of.schedule == "short") == 131
    assert [RUNS[name].networks for name in ("curve_50_setup1", "setup1")] == [25, 5]
    # a fold of set-up 4: two passes over all of its instances and twelve over rated ones
    seconds = 5 * (2 * 44102 + 12 * 1476) * 2.4e-3
    assert RUNS["setup4"].hours == pytest.approx(seconds / 3600)


SETTINGS = data.DataSettings(1, "sfhot", "LOLS")


def small_texts() -> data.TrainingTexts:
    """500 rated outputs, and references of a few MRs; some rows repeat the MR and the text."""
    generator = np.random.default_rng(3)
    rows = []
    for i in range(500):
        domain = ["bagel", "sfrest", "sfhot"][i % 3 if i < 250 else 2]
        place = generator.integers(8)
        # whether children are welcome is no name, and stays in the MR
        kids = ",kids='yes'" if place == 0 else ""
        meaning = f"inform(name='place {place}',area='{domain}'{kids})"
        text = f"place is in {domain} {generator.choice(['now', 'then', 'ever'])}"
        text = f"{text} {generator.integers(12)}"
        row = f"nem:{i:04d}", domain, ["LOLS", "RNNLG"][i % 2], meaning, text, mr.key(meaning)
        rows.append((*row, generator.integers(2, 13) / 2))
    references = []
    for domain, j in itertools.product(("bagel", "sfrest", "sfhot"), range(20)):
        kids = ";kids='yes'" if j % 10 == 0 else ""
        meaning = f"inform(name='place {j % 10}';area='{domain}'{kids})"
        text = f"this is place {j % 10} of {domain} {j // 18}."
        part = "" if domain == "bagel" else ["train", "test"][j % 2]
        references.append((f"{domain}:{j:04d}", domain, meaning, text, mr.key(meaning), part))
    names = ["id", "domain", "system", "context", "text", "mr_key", "median_quality"]
    rated = pd.DataFrame(rows, columns=names).assign(dataset="nem", quality=0.5, n_ratings=3)
    names = ["id", "dataset", "context", "text_nem", "mr_key", "part"]
    human = pd.DataFrame(references, columns=names)
    human = human.assign(text=human["text_nem"], quality=np.nan, n_ratings=0, system="human")
    return data.TrainingTexts(
        *(
            table.assign(**data.tokenised(table["context"].tolist(), table[column].tolist()))
            for table, column in ((rated, "text"), (human, "text_nem"))
        )
    )


TEXTS = small_texts()
SPLIT = data.cross_validation(TEXTS.rated, 1)[0]


def test_folds_share_the_outputs_and_leak_nothing():
    key = TEXTS.rated["mr_key"] + TEXTS.rated["text"]
    assert key.duplicated().any()  # else this shows nothing
    folds = data.cross_validation(TEXTS.rated, 1)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(500))
    for fold in folds:
        rows = np.concatenate([fold.train, fold.dev, fold.test])
        assert sorted(rows.tolist()) == list(range(500))
        train, dev, test = (set(key.iloc[part]) for part in (fold.train, fold.dev, fold.test))
        assert not train & dev | train & test | dev & test
        assert set(fold.source) <= set(fold.train)
        assert len(fold.source) == pytest.approx(100, abs=6)
    assert not np.array_equal(folds[0].test, data.cross_validation(TEXTS.rated, 2)[0].test)


@pytest.mark.parametrize("experiment", CROSS)
def test_tables_4_and_5_test_the_same_rest_and_leak_nothing(experiment):
    rated = TEXTS.rated
    by_domain, by_system = rated["domain"] == "sfhot", rated["system"] == "LOLS"
    inside = (by_domain if experiment == "cross_domain" else by_system).to_numpy()
    key = rated["mr_key"] + rated["text"]
    one, two, three = (
        data.cross_split(rated, experiment, number, SETTINGS) for number in (1, 2, 3)
    )
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
        data.cross_split(rated.iloc[:300], experiment, 1, SETTINGS)


@pytest.mark.parametrize("setup", SETUPS)
def test_instances_are_as_many_as_is_said(setup):
    table = data.instances(TEXTS, SPLIT, setup, 1)
    assert list(table.columns) == data.INSTANCE_COLUMNS
    assert table["id"].is_unique
    pretrain = table[table["part"] == "pretrain"]
    trained = table["part"].isin(["train", "pretrain"]).sum()
    assert data.number_of_instances(TEXTS, SPLIT, setup) == trained
    kinds = ["output", "reference", "source"][: min(setup - 1, 3)]
    assert set(pretrain["id"].str.split(":").str[0]) == set(kinds)
    if setup > 1:
        each = pretrain["id"].str[-1].value_counts()
        assert set(each.index) == set(map(str, range(data.MAX_ERRORS + 1)))
        assert each.min() == each.max()
    # errors are never made in what tests or validates
    outputs = pretrain["id"].str.extract(r"output:(.*):e\d")[0].dropna()
    assert set(outputs) <= set(TEXTS.rated["id"].iloc[SPLIT.train])
    human = pretrain["id"].str.match(r"(?:reference|source):.*:e0")
    assert set(pretrain.loc[human, "rating"]) <= {6.0}


def test_set_up_3_has_references_of_training_mrs_alone():
    table = data.instances(TEXTS, SPLIT, 3, 1)
    used = table.loc[table["id"].str.startswith("reference:"), "id"].str[len("reference:") : -3]
    keys = TEXTS.references.set_index("id")["mr_key"]
    assert set(keys[used.unique()]) <= set(TEXTS.rated["mr_key"].iloc[SPLIT.source])


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    once, again, other = (data.instances(TEXTS, SPLIT, 4, seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(once, again)
    assert (other["text"] != once["text"]).any()


def test_a_learning_curve_has_fewer_rows_that_train_and_tests_the_same():
    whole = data.splits_of(TEXTS.rated, "cross_validation", SETTINGS)
    cut = data.splits_of(TEXTS.rated, "curve_50", SETTINGS)
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
        data.splits_of(TEXTS.rated, "curve_800", SETTINGS)


WORDS = ["X-name", "is", "a", "cheap", "place", "near", "X-near", "."]


def small(rows: int = 40, seed: int = 0) -> pd.DataFrame:
    """Instances whose rating the words decide, one of them without a text."""
    generator = np.random.default_rng(seed)
    texts = [
        [WORDS[k] for k in generator.integers(0, 8, generator.integers(1, 9))] for _ in range(rows)
    ]
    slots = generator.integers(1, 4, rows)
    mrs = [" ".join(f"inform slot{k} X-{row % 3}" for k in range(n)) for row, n in enumerate(slots)]
    texts[11] = []
    part = ["dev"] * 6 + ["test"] * 4 + (["pretrain", "train", "train"] * rows)[: rows - 10]
    levels = [1 + 0.5 * len(set(text)) + 0.5 * (row % 2) for row, text in enumerate(texts)]
    columns = {"id": map(str, range(rows)), "part": part, "mr": mrs, "text": map(" ".join, texts)}
    return pd.DataFrame({**columns, "rating": np.clip(levels, 1, 6)})


def test_batches_hold_every_row_once_with_the_same_mixture_of_lengths():
    generator = np.random.default_rng(2)
    lengths = generator.integers(1, 30, (2, 103))
    batches = mixed(lengths, 10, generator)
    assert sorted(np.concatenate(batches)) == list(range(103))
    assert {len(batch) for batch in batches} == {10, 11}
    means = [lengths[-1, batch].mean() for batch in batches]
    assert np.ptp(means) < np.ptp([lengths[-1, k::10].mean() for k in range(10)])
    assert not np.array_equal(batches[0], mixed(lengths, 10, generator)[0])


def test_without_torch_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it fails
    monkeypatch.delitem(sys.modules, "refless.models.rnn_qe.network", raising=False)
    with pytest.raises(SettingError) as caught:
        importlib.import_module("refless.models.rnn_qe.network")
    assert "make torch" in caught.value.remedy


def test_the_page_of_the_model_that_comes_along_has_its_numbers():
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    about = json.loads(str(np.load(SHIPPED_MODEL)["about"]))
    worth = about["worth"]
    assert f"{about['trained']['texts']:,} rated outputs" in page
    for name in ("spearman", "mse"):
        value, low, high = (worth[f"{name}{end}"] for end in ("", "_low", "_high"))
        assert f"| {value:.3f} ({low:.3f} to {high:.3f}) |" in page
    assert SHIPPED_MODEL.stat().st_size < 3e6
