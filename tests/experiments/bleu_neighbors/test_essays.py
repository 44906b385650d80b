"""Table 3 of BLEU Neighbors: the recipe on essays written here, then on the real ones."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from refless.data.sources import load
from refless.data.task import Task
from refless.errors import SettingError, StaleError
from refless.experiments.bleu_neighbors.essays import (
    BASELINE,
    BASELINES,
    ESTIMATE_COLUMNS,
    PUBLISHED,
    SENTENCE_RULES,
    Recipe,
    Selection,
    capitals,
    estimates,
    full_stops,
    in_cut,
    marks,
    one_choice_changed,
    set_sums,
    topics,
    training_points,
    training_quality,
    training_sizes,
    write_estimates,
    write_set_sums,
)
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.experiments.bleu_neighbors.table3 import (
    KEYS,
    Numbers,
    essays_table,
    read_estimates,
    read_set_sums,
    sensitivity_table,
    table3,
    williams_table,
)
from refless.kernels import kernel
from refless.report import figures
from refless.report.published import read_published
from refless.report.tables import publish
from refless.store import signed
from refless.store.signatures import text_sum

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "resources/shipped/essays"
SETTINGS = Settings(a=5, b=1.0, draws=1000, seed=1)
LEFT_OUT = [[3], [3, 1]]
ASKED: dict[str, Any] = {
    "selection": asdict(Selection()),
    "recipe": asdict(Recipe(tau=0.3)),
    "changes": {"tau": [0.3, 0.5]},
    "left_out": LEFT_OUT,
}
SUMS = {name: ASKED[name] for name in ("selection", "recipe")}
FACTS = {**asdict(SETTINGS), **asdict(Selection())}


def config() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    return settings["bleu_neighbors"]["essays"]


def published() -> pd.DataFrame:
    return read_published(ROOT / "resources/published/bleu_neighbors_table3.csv", KEYS)


def sentences(count: int, seed: int) -> str:
    """An essay of ``count`` sentences as the published rule counts them."""
    generator = np.random.default_rng([seed, count])
    words = ["the", "water", "acid", "rock", "plant", "cell", "moves", "grows", "into", "of"]
    return ". ".join(" ".join(generator.choice(words, 5)) for _ in range(count)) + "."


def small_essays(train: int = 12, test: int = 8) -> pd.DataFrame:
    """Three sets; half of the essays of a part have 5 to 15 sentences."""
    rows = []
    generator = np.random.default_rng(3)
    for part, number in (("train", train), ("test", test)):
        for essay_set in (1, 3, 4):
            for i in range(number):
                count = (4, 5, 15, 16)[i % 4]
                score1, score2 = (int(x) for x in generator.integers(0, 4, 2))
                rated = part == "train"
                rows.append(
                    {
                        "id": f"asap_sas:{len(rows):05d}",
                        "text": sentences(count, len(rows)),
                        "quality": (score1 + score2) / 2 / 3 if rated else score1 / 3,
                        "set": essay_set,
                        "part": part,
                        "score1": float(score1) if rated else np.nan,
                        "score2": float(score2) if rated else np.nan,
                    }
                )
    return pd.DataFrame(rows)


def small_task(texts: pd.DataFrame) -> Task:
    facts = {"text_sum": text_sum(texts["text"]), "scale": [0, 3], "malformed": 0}
    about = {"of": {"task": "mine"}, "provenance": "computed", "facts": facts}
    return Task(texts, pd.DataFrame(), about)


def never(quoting: bool) -> pd.DataFrame:
    raise AssertionError("no recipe asks for another reading")


# ---- counting sentences --------------------------------------------------------------------------


def test_the_published_rule_is_a_split() -> None:
    assert full_stops("") == 1
    assert full_stops("One.") == 1
    assert full_stops("One. Two.") == 2
    assert full_stops("One. ") == 2  # what lies behind the last blank counts, empty as it is
    assert full_stops("One! Two? Three\nFour") == 1
    assert full_stops("e. g. this") == 3


def test_other_rules_know_more() -> None:
    text = 'He said "stop!" Then? 2 more. e.g. this one...\nAnd ^p last. '
    assert marks(text) == 7
    assert capitals(text) == 5
    assert marks("") == capitals("") == 0
    assert marks("no end") == capitals("no end") == 1


@pytest.mark.parametrize(("count", "inside"), [(4, False), (5, True), (15, True), (16, False)])
def test_the_cut_has_both_its_ends(count: int, inside: bool) -> None:
    essays = pd.DataFrame({"text": [sentences(count, 0)]})
    assert in_cut(essays, "full_stops", Selection()).tolist() == [inside]


# ---- the recipe ----------------------------------------------------------------------------------


def test_topics_are_single_sets_and_what_is_left_in() -> None:
    found = topics([1, 2, 3, 4], 3, [[3], [3, 1]])
    assert found == {
        "1": [1],
        "2": [2],
        "4": [4],
        "all_but_3": [1, 2, 4],
        "all_but_3_and_1": [2, 4],
    }


def test_quality_of_training_essays() -> None:
    essays = pd.DataFrame({"score1": [1.0, 2.0, 0.0], "score2": [2.0, 3.0, 0.0]})
    assert training_quality(essays, "both").tolist() == [3 / 2 / 3, 5 / 2 / 3, 0.0]
    assert training_quality(essays, "first").tolist() == [1 / 3, 2 / 3, 0.0]
    assert [x.tolist() if hasattr(x, "tolist") else x for x in training_points(essays, "both")] == [
        [3.0, 5.0, 0.0],
        6,
    ]
    assert training_points(essays, "first")[1] == 3


@pytest.mark.parametrize("recipe", [Recipe(tau=0.3), Recipe(tau=0.3, cut="whole")])
def test_estimates_are_means_over_the_neighbors(recipe: Recipe) -> None:
    """From scratch: loops over essays, numpy.mean in their order."""
    texts = small_essays()
    found = estimates({"quoted": texts}, [("published", "", recipe)], Selection(), LEFT_OUT)
    assert list(found.columns) == ESTIMATE_COLUMNS
    test = texts[(texts["part"] == "test") & (texts["set"] == 3)]
    test = test[test["text"].map(full_stops).between(5, 15)]
    for name, members in (("1", [1]), ("all_but_3", [1, 4]), ("all_but_3_and_1", [4])):
        train = texts[(texts["part"] == "train") & texts["set"].isin(members)]
        if recipe.cut == "cut":
            train = train[train["text"].map(full_stops).between(5, 15)]
        own = found[(found["train_topic"] == name) & (found["choice"] == PUBLISHED)]
        assert own["id"].tolist() == test["id"].tolist()
        assert own["quality"].tolist() == test["quality"].tolist()
        assert set(own["training"]) == {len(train)}
        for row, text in zip(own.itertuples(), test["text"], strict=True):
            similar = kernel("bleu.char", [text], train["text"].tolist())[0]
            near = [
                (score1 + score2) / 2 / 3
                for value, score1, score2 in zip(
                    similar, train["score1"], train["score2"], strict=True
                )
                if value >= recipe.tau
            ]
            assert row.neighbors == len(near)
            assert row.estimate == (np.mean(near) if near else pytest.approx(np.nan, nan_ok=True))


def test_baselines_see_the_same_training_essays(tmp_path: Path) -> None:
    texts = small_essays()
    asked = {**ASKED, "recipe": asdict(Recipe(tau=0.3)), "changes": {}}
    write_estimates(tmp_path / "estimates.csv", small_task(texts), never, asked)
    numbers, _ = read_estimates(tmp_path / "estimates.csv", asked)
    test = texts[(texts["part"] == "test") & (texts["set"] == 3)]
    test = test[in_cut(test, "full_stops", Selection())]
    train = texts[(texts["part"] == "train") & (texts["set"] == 4)]
    train = train[in_cut(train, "full_stops", Selection())]
    scores = (train["score1"] + train["score2"]) / 6
    slope, intercept = np.polyfit(train["text"].str.len(), scores, 1)
    own = numbers.of(BASELINE, "length", "4")
    np.testing.assert_allclose(own["estimate"], intercept + slope * test["text"].str.len())
    weigh = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3)).fit(train["text"])
    alphas = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
    found = numbers.of(BASELINE, "ridge_tfidf", "4")["estimate"]
    by_alpha = [Ridge(alpha=alpha).fit(weigh.transform(train["text"]), scores) for alpha in alphas]
    estimates_of = [model.predict(weigh.transform(test["text"])) for model in by_alpha]
    assert min(np.abs(found - one).max() for one in estimates_of) < 1e-6
    table = table3(numbers, published(), SETTINGS)
    rows = table[table["model"].isin(BASELINES) & (table["train_topic"] == "4")]
    assert rows["model"].tolist() == list(BASELINES)
    assert set(rows["n_train"]) == {len(train)}
    length = stats.spearmanr(own["estimate"], test["quality"]).statistic
    assert rows["spearman"].iloc[0] == pytest.approx(length)


def test_exact_means_are_rounded_once() -> None:
    texts = small_essays(train=40)
    base = Recipe(tau=0.2)
    recipes = [("published", "", base), ("means", "exact", replace(base, means="exact"))]
    found = estimates({"quoted": texts}, recipes, Selection(), [[3]])
    own = found[(found["choice"] == "means") & (found["train_topic"] == "1")]
    test = texts[texts["id"].isin(own["id"])]["text"].tolist()
    train = texts[(texts["part"] == "train") & (texts["set"] == 1)]
    train = train[in_cut(train, "full_stops", Selection())]
    near = kernel("bleu.char", test, train["text"].tolist()) >= base.tau
    points = (train["score1"] + train["score2"]).astype(int).tolist()
    expected = [
        float(sum(Fraction(points[j], 6) for j in np.flatnonzero(row)) / int(row.sum()))
        for row in near
    ]
    assert own["estimate"].tolist() == expected
    floating = found[(found["choice"] == "published") & (found["train_topic"] == "1")]
    np.testing.assert_allclose(floating["estimate"], expected, rtol=1e-14)
    assert floating["estimate"].tolist() != expected  # else this test would show nothing


def test_rounding_noise_orders_ties_in_floating_means_only() -> None:
    """The same mean of other scores: one number exactly, two numbers in floating point."""
    floating, exact = set(), set()
    for values in (np.array([0.0, 0.0, 5.0]), np.array([0.0, 1.0, 4.0])):
        essays = pd.DataFrame({"score1": values // 2, "score2": values - values // 2})
        floating.add(float(np.mean(training_quality(essays, "both"))))
        points, most = training_points(essays, "both")
        exact.add(float(points.sum() / (most * len(points))))
    assert exact == {5 / 18}
    assert len(floating) == 2


def test_one_choice_changes_at_a_time() -> None:
    changes = {"tau": [0.04, 0.08], "cut": ["cut", "whole"], "means": ["exact"]}
    recipes = one_choice_changed(Recipe(), changes)
    assert [(choice, variant) for choice, variant, _ in recipes] == [
        ("published", ""),
        ("tau", "0.04"),
        ("cut", "whole"),
        ("means", "exact"),
    ]
    for choice, _, recipe in recipes[1:]:
        assert [k for k, v in asdict(recipe).items() if v != asdict(Recipe())[k]] == [choice]


@pytest.mark.parametrize(
    "changes", [{"size": [1]}, {"cut": ["half"]}, {"tau": [0.0]}, {"reading": ["aloud"]}]
)
def test_a_choice_that_is_none_is_refused(changes: dict[str, list[Any]]) -> None:
    with pytest.raises(SettingError, match=next(iter(changes))):
        one_choice_changed(Recipe(), changes)


def test_a_reading_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingError, match="unquoted"):
        estimates(
            {"quoted": small_essays()}, [("x", "y", Recipe(reading="unquoted"))], Selection(), []
        )


def test_unquoted_reading_of_the_loader_changes_the_essays(tmp_path: Path) -> None:
    """Quotation marks around an essay stay, and so do doubled ones: other n-grams."""
    body = sentences(5, 1)
    train = [f'{i}\t{s}\t{i % 4}\t1\t"{body} He said ""x{i}""."' for i, s in enumerate([1, 3, 4])]
    (tmp_path / "train.tsv").write_text(
        "\n".join(["Id\tEssaySet\tScore1\tScore2\tEssayText", *train]) + "\n"
    )
    (tmp_path / "test.tsv").write_text(f'Id\tEssaySet\tEssayText\n9\t3\t"{body}"\n')
    (tmp_path / "gold.csv").write_text("id,essay_set,essay_score\n9,3,2\n")
    files = {"train": tmp_path / "train.tsv", "test": tmp_path / "test.tsv"}
    files["solution"] = tmp_path / "gold.csv"
    read = {
        name: load("asap_sas", "asap_sas", files, {"quoting": name == "quoted"})
        for name in ("quoted", "unquoted")
    }
    assert read["quoted"].texts["text"].iloc[0].endswith('He said "x0".')
    assert read["unquoted"].texts["text"].iloc[0].endswith('He said ""x0""."')
    recipes = one_choice_changed(Recipe(tau=0.01), {"reading": ["unquoted"]})
    found = estimates({k: v.texts for k, v in read.items()}, recipes, Selection(most=16), [])
    assert set(found["choice"]) == {"published", BASELINE, "reading"}
    assert set(found["neighbors"][found["choice"] != BASELINE]) == {1}


# ---- every set as the test set -------------------------------------------------------------------


def test_set_sums_are_counts_and_sums_of_neighbors() -> None:
    texts = small_essays()
    recipe = Recipe(tau=0.3)
    found = set_sums(texts, recipe, Selection(), threads=1)
    whole = [name for name in found if name not in ("essays", "id") and "ridge" not in name]
    assert found.dtypes[whole].eq(np.int64).all()
    sizes = training_sizes(texts, recipe, Selection())
    assert sizes == {"whole": dict.fromkeys("134", 12), "cut": dict.fromkeys("134", 6)}
    by_id = texts.set_index("id")
    for part in ("whole", "cut"):
        own = found[found["essays"] == part]
        assert len(own) == {"whole": 24, "cut": 12}[part]
        for row in own.iloc[::5].to_dict("records"):
            assert row["gold"] == round(by_id.loc[row["id"], "quality"] * 3)
            assert row["characters"] == len(by_id.loc[row["id"], "text"])
            for number in (1, 3, 4):
                train = texts[(texts["part"] == "train") & (texts["set"] == number)]
                if part == "cut":
                    train = train[in_cut(train, "full_stops", Selection())]
                values = kernel("bleu.char", [by_id.loc[row["id"], "text"]], train["text"].tolist())
                near = values[0] >= 0.3
                assert row[f"neighbors_{number}"] == near.sum()
                points = (train["score1"] + train["score2"]).to_numpy()[near].sum()
                assert row[f"points_{number}"] == points


def test_the_matrix_agrees_with_exact_means_of_table3(tmp_path: Path) -> None:
    """The cut row of the test set is table 3 with exact means, reached by another road."""
    texts = small_essays(train=40, test=40)
    recipe = Recipe(tau=0.3, means="exact")
    asked = {**ASKED, "recipe": asdict(recipe), "changes": {}}
    sums = {name: asked[name] for name in SUMS}
    write_estimates(tmp_path / "estimates.csv", small_task(texts), never, asked)
    write_set_sums(tmp_path / "set_sums.csv", small_task(texts), sums)
    numbers, _ = read_estimates(tmp_path / "estimates.csv", asked)
    file, _ = read_set_sums(tmp_path / "set_sums.csv", sums)
    table = essays_table(file, SETTINGS).set_index(["essays", "test_set", "train_set"])
    rows = table3(numbers, published(), SETTINGS)
    rows = rows[rows["model"] == "bleu_neighbors"].set_index("train_topic")
    for name in ("1", "4"):
        assert -1 < rows.loc[name, "spearman"] < 1
        assert rows.loc[name, "spearman"] == table.loc[("cut", 3, int(name)), "spearman"]
        assert rows.loc[name, "n_train"] == table.loc[("cut", 3, int(name)), "n_train"]
    test = texts[(texts["part"] == "test") & (texts["set"] == 3)]
    length = stats.spearmanr(test["text"].str.len(), test["quality"]).statistic
    assert table.loc[("whole", 3, 1), "length_spearman"] == pytest.approx(length)


def test_the_heat_map_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    table = essays_table(None, SETTINGS)
    table.loc[table["test_set"] != 4, "spearman"] = 0.1
    table["spearman"] = table["spearman"].astype(float)
    table["length_spearman"] = 0.2
    for name in ("one", "two"):
        figures.save(figures.set_heat_maps(table, {"whole": "a", "cut": "b"}), tmp_path / name)
    for ending in figures.FORMATS:
        one = (tmp_path / f"one.{ending}").read_bytes()
        assert len(one) > 1000
        assert one == (tmp_path / f"two.{ending}").read_bytes()


# ---- numbers between the stages ------------------------------------------------------------------


def test_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    path, texts = tmp_path / "estimates.csv", small_essays()
    write_estimates(path, small_task(texts), never, ASKED)
    numbers, notes = read_estimates(path, ASKED)
    recipes = one_choice_changed(Recipe(tau=0.3), ASKED["changes"])
    expected = estimates({"quoted": texts}, recipes, Selection(), LEFT_OUT)
    pd.testing.assert_frame_equal(numbers.estimates, expected, check_exact=True, check_dtype=False)
    assert numbers.provenance == "computed"
    assert len(notes) == 1
    assert "read quoted" in notes[0]


def test_another_reading_is_read_only_when_a_recipe_asks_for_it(tmp_path: Path) -> None:
    path, texts = tmp_path / "estimates.csv", small_essays()
    asked = {**ASKED, "changes": {"reading": ["quoted", "unquoted"]}}
    other = texts.assign(text=texts["text"].str.upper())
    wanted = []

    def read_again(quoting: bool) -> pd.DataFrame:
        wanted.append(quoting)
        return other

    write_estimates(path, small_task(texts), read_again, asked)
    assert wanted == [False]
    made_from = signed.record_of(path)["made_from"]
    assert made_from["texts quoted"] == text_sum(texts["text"])
    assert made_from["texts unquoted"] == text_sum(other["text"])


@pytest.mark.parametrize(
    "changed",
    [
        {"recipe": asdict(Recipe(tau=0.1))},
        {"left_out": [[3]]},
        {"selection": asdict(Selection(most=16))},
    ],
)
def test_numbers_under_other_settings_are_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    write_estimates(tmp_path / "estimates.csv", small_task(small_essays()), never, ASKED)
    with pytest.raises(StaleError, match=f"other settings: {next(iter(changed))}"):
        read_estimates(tmp_path / "estimates.csv", ASKED | changed)


# ---- the tables ----------------------------------------------------------------------------------

WHY = 'the raw file is missing; "really" | quite; put it there'
MISSING = [{"of": {}, "code": "raw_file_missing", "sentence": WHY, "remedy": "fetch; again"}]


def nothing() -> dict[str, pd.DataFrame]:
    """The tables when there are no numbers."""
    numbers, notes = read_estimates(None, ASKED | {"recipe": asdict(Recipe())})
    file, _ = read_set_sums(None, SUMS)
    assert numbers.absent
    assert notes == []
    changes = config()["sensitivity"]
    return {
        "bleu_neighbors_table3": table3(numbers, published(), SETTINGS),
        "bleu_neighbors_table3_williams": williams_table(numbers, published(), SETTINGS),
        "bleu_neighbors_table3_sensitivity": sensitivity_table(
            numbers, changes, published(), SETTINGS
        ),
        "bleu_neighbors_essays": essays_table(file, SETTINGS),
    }


def test_without_numbers_every_row_is_there() -> None:
    found = nothing()
    table = found["bleu_neighbors_table3"]
    assert list(zip(table["model"], table["train_topic"], strict=True)) == list(
        zip(published()["model"], published()["train_topic"], strict=True)
    )
    assert set(table["agreement"]) == {"not available"}
    assert table.loc[table["model"] == "bleu_neighbors", "paper_spearman"].tolist()[2] == "-0.128"
    choices = sum(map(len, config()["sensitivity"].values()))
    assert [len(table) for table in found.values()] == [len(published()), 85, 9 * choices, 200]
    for table in found.values():
        assert table["spearman"].isna().all()
        assert set(table["provenance"]) == {""}
    essays = found["bleu_neighbors_essays"]
    figures.plt.close(figures.set_heat_maps(essays, {"whole": "a", "cut": "b"}))


@pytest.mark.parametrize("name", nothing())
def test_reasons_are_whole(name: str, tmp_path: Path) -> None:
    """They hold what they were once split at."""
    publish(name, nothing()[name], tmp_path, missing=MISSING, facts=FACTS)
    text = (tmp_path / f"{name}.md").read_text()
    assert text.count(f"not available: {WHY}; fetch; again") == 1
    rows = pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False)
    quoted = rows["reason"] == "quoted"
    assert set(rows.loc[~quoted, "reason"]) == {"raw_file_missing"}
    assert rows.loc[~quoted, "note"].str.contains(WHY, regex=False).all()
    # those have a reason of their own
    assert quoted.sum() == (4 if name == "bleu_neighbors_table3" else 0)
    assert not rows.loc[quoted, "note"].str.contains(WHY, regex=False).any()


def test_a_cut_that_no_essay_passes_is_no_error() -> None:
    table = estimates(
        {"quoted": small_essays()},
        [("published", "", Recipe())],
        Selection(fewest=50, most=60),
        [[3]],
    )
    assert table.empty
    found = table3(Numbers(table, Recipe(), "computed"), published(), SETTINGS)
    assert found["spearman"].isna().all()


def test_another_test_set_has_no_published_value_beside_it() -> None:
    own = Selection()
    table = estimates({"quoted": small_essays()}, [("published", "", Recipe())], own, [[3]])
    numbers = Numbers(table, Recipe(), "computed", Selection(test_set=5))
    found = table3(numbers, published(), SETTINGS)
    assert "published" not in set(found["reading"])
    assert set(found["paper_spearman"]) | set(found["agreement"]) == {""}
    assert set(williams_table(numbers, published(), SETTINGS)["against_is"]) == {"training set"}


# ---- the shipped numbers, and the real essays ----------------------------------------------------

CELLS = {
    "1": "0.301",
    "2": "0.392",
    "4": "-0.128",
    "5": "0.466",
    "6": "0.383",
    "7": "0.305",
    "8": "0.500",
    "9": "0.375",
    "10": "0.437",
}


def check_cells(numbers: Numbers) -> None:
    table = table3(numbers, published(), SETTINGS)
    first = table[table["model"] == "bleu_neighbors"].drop_duplicates("train_topic")
    first = first.set_index("train_topic")
    for topic, rho in CELLS.items():
        assert f"{first.loc[topic, 'spearman']:.3f}" == rho
        assert first.loc[topic, "agreement"] == "equal"
        assert first.loc[topic, "reading"] == "published"
    assert set(first["coverage"]) == {1.0}
    assert set(first["n"]) == {39}
    stars = first[first["p_below_0.01"] == 1].index.tolist()
    assert [topic for topic in stars if "_and_" not in topic] == ["5", "8", "10", "all_but_3"]
    every = first.loc["all_but_3"]
    assert f"{every['spearman']:.4f}" == "0.4695"
    assert every["n_train"] == 2028
    assert every["agreement"] == "inside"
    for name in ("all_but_3_and_1", "all_but_3_and_6"):
        assert f"{first.loc[name, 'spearman']:.3f}" == "0.465"
        assert any(name in note for note in every["note"])
    assert first.loc["4", "n_train"] == 62
    assert first.loc["8", "n_train"] == 837


def asked() -> dict[str, Any]:
    """What the configuration asks for, as rules hand it on."""
    essays = config()
    rule = essays["sentences"]
    recipe = Recipe(
        sentences=rule["rule"],
        **{name: essays[name] for name in ("cut", "kernel", "tau", "means")},
    )
    return {
        "selection": asdict(Selection(essays["test_set"], rule["fewest"], rule["most"])),
        "recipe": asdict(recipe),
        "changes": essays["sensitivity"],
        "left_out": essays["left_out"],
    }


def test_the_configuration_asks_for_the_published_recipe() -> None:
    found = asked()
    assert Recipe(**found["recipe"]) == Recipe()
    assert Selection(**found["selection"]) == Selection()
    assert set(found["changes"]) == set(found["recipe"])
    for choice, values in found["changes"].items():
        assert found["recipe"][choice] in values
    assert set(found["changes"]["sentences"]) == set(SENTENCE_RULES)


def test_shipped_numbers_are_whole_and_give_the_published_cells() -> None:
    numbers, _ = read_estimates(SHIPPED / "estimates.csv", asked())
    assert numbers.provenance == "shipped"
    check_cells(numbers)
    file, _ = read_set_sums(SHIPPED / "set_sums.csv", {k: asked()[k] for k in SUMS})
    assert file is not None
    assert (file.content["essays"] == "whole").sum() == 5224


def test_no_text_is_shipped() -> None:
    words: set[str] = set()
    size = 0
    for path in SHIPPED.iterdir():
        size += path.stat().st_size
        table = signed.read(path, signed.record_of(path)["kind"]).content
        for name in table.select_dtypes(["object", "str"]):
            texts = table[name].dropna().astype(str)
            assert texts.str.len().max() <= 24, name
            words |= set(texts[~texts.str.fullmatch(r"|-?[0-9.e-]+|asap_sas:\d+")])
    assert words <= {
        *("published", *asdict(Recipe()), "unquoted", "marks", "capitals", "whole", "cut", "first"),
        *("bleu.word", "bleu.char.unclipped", "exact", BASELINE, *BASELINES),
        *("all_but_3", "all_but_3_and_1", "all_but_3_and_6"),
    }
    assert size < 3_000_000


@pytest.fixture(scope="module")
def real() -> dict[str, pd.DataFrame]:
    mirror = Path(os.environ.get("REFLESS_MIRROR", "") or "/nowhere") / "asap-sas"
    if not mirror.is_dir():
        pytest.skip("needs the real data: set REFLESS_MIRROR to a directory that has it")
    files = {
        "train": mirror / "train_rel_2.tsv",
        "test": mirror / "public_leaderboard_rel_2.tsv",
        "solution": mirror / "public_leaderboard_solution.csv",
    }
    return {
        name: load("asap_sas", "asap_sas", files, {"quoting": name == "quoted"}).texts
        for name in ("quoted", "unquoted")
    }


@pytest.mark.slow
def test_computed_and_shipped_estimates_are_equal(real: dict[str, pd.DataFrame]) -> None:
    recipes = one_choice_changed(Recipe(), asked()["changes"])
    table = estimates(real, recipes, Selection(), asked()["left_out"])
    check_cells(Numbers(table, Recipe(), "computed"))
    shipped, _ = read_estimates(SHIPPED / "estimates.csv", asked())
    solved = table["variant"] == "ridge_tfidf"
    for rows, told in ((~solved, {"check_exact": True}), (solved, {"rtol": 0, "atol": 1e-9})):
        ours, theirs = table[rows], shipped.estimates[rows]
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, **told)


@pytest.mark.slow
def test_computed_and_shipped_sums_are_equal_for_some_essays(real: dict[str, pd.DataFrame]) -> None:
    """A test essay in forty against every training essay: the whole takes long."""
    texts = real["quoted"]
    chosen = texts[(texts["part"] == "train") | (texts.index % 40 == 0)]
    found = set_sums(chosen, Recipe(), Selection())
    file, _ = read_set_sums(SHIPPED / "set_sums.csv", {k: asked()[k] for k in SUMS})
    assert file is not None
    expected = file.content.merge(found[["essays", "id"]], on=["essays", "id"])
    solved = [name for name in found if "ridge" in name]
    ours, theirs = (table.drop(columns=solved) for table in (found, expected))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True, check_dtype=False)
    np.testing.assert_allclose(found[solved], expected[solved], rtol=1e-3, atol=1e-3)
    assert file.about["facts"]["training"] == training_sizes(texts, Recipe(), Selection())
