"""Table 2, section 5.3 and HUSE's table, on texts written here."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.data.sources.huse import comparisons
from refless.errors import FormatError, StaleError
from refless.experiments.bleu_neighbors.huse import (
    HuseInput,
    huse_items,
    huse_markdown,
    huse_table,
)
from refless.experiments.bleu_neighbors.leave_one_out import leave_one_out, model_cells, read_truth
from refless.experiments.bleu_neighbors.section53 import section53, section53_markdown
from refless.experiments.bleu_neighbors.table1 import KEYS as TABLE1_KEYS
from refless.experiments.bleu_neighbors.table1 import Settings, TaskInput, kernel_note
from refless.experiments.bleu_neighbors.table2 import (
    KEYS,
    Pair,
    cross_estimates,
    table2,
    table2_markdown,
)
from refless.kernels import kernel
from refless.models.huse import Batch, scores
from refless.report.published import read_published
from refless.statistics import annotator_errors, covered_errors
from refless.store.files import write_json
from refless.store.signed_tables import read_numbers, require_texts, write_numbers
from tests.workflow import small_data

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published"
MIRROR = Path(os.environ.get("REFLESS_MIRROR", ""))
RAW = MIRROR / "huse/summarization_raw_outputs.csv"
KERNELS = ["bleu.char", "bleu.word"]
SETTINGS = Settings({"bleu": KERNELS}, a=2, b=0.66, draws=300, seed=1)


def texts(n: int, seed: int, task: str = "t", unrated: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    quality = generator.integers(0, 21, n) / 20
    quality[:unrated] = np.nan
    return pd.DataFrame(
        {
            "id": [f"{task}:{i:04d}" for i in range(n)],
            "text": small_data.sentences(n, seed),
            "quality": quality,
        }
    )


def slow_estimates(
    name: str, source: pd.DataFrame, target: pd.DataFrame, tau: float, same: bool
) -> list[tuple[int, float]]:
    """(neighbors, estimate), one pair of texts at a time."""
    found = []
    for i, candidate in enumerate(target["text"]):
        near = [
            quality
            for j, (text, quality) in enumerate(zip(source["text"], source["quality"], strict=True))
            if not (same and i == j) and kernel(name, [candidate], [text])[0, 0] >= tau
        ]
        found.append((len(near), float(np.mean(near)) if near else float("nan")))
    return found


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("dense_pairs", [0, 10**6])
def test_estimates_are_those_of_each_pair_alone(same: bool, dense_pairs: int) -> None:
    source = texts(18, 1)
    target = source if same else texts(14, 2, "u")
    found = cross_estimates(KERNELS, source, target, 0.3, same=same, dense_pairs=dense_pairs)
    assert found["id"].tolist() == target["id"].tolist()
    for name in KERNELS:
        slow = slow_estimates(name, source, target, 0.3, same)
        assert found[f"neighbors_{name}"].tolist() == [number for number, _ in slow]
        np.testing.assert_allclose(found[f"estimate_{name}"], [value for _, value in slow])
    assert found["neighbors_bleu.char"].max() > 0


def test_unrated_texts_neither_train_nor_are_scored() -> None:
    source, target = texts(18, 1, unrated=4), texts(14, 2, "u", unrated=3)
    found = cross_estimates(KERNELS, source, target, 0.3, same=False)
    rated = cross_estimates(KERNELS, source[4:], target[3:], 0.3, same=False)
    pd.testing.assert_frame_equal(found, rated)
    assert len(found) == 11


def pairs() -> dict[tuple[str, str], Pair]:
    tasks = {"huse_summarization": texts(60, 1, "s"), "dstc7": texts(40, 2, "d")}
    return {
        (a, b): Pair(
            cross_estimates(KERNELS, tasks[a], tasks[b], 0.3, same=a == b),
            len(tasks[a]) - (a == b),
            "computed",
        )
        for a in tasks
        for b in tasks
    }


def test_table2_has_a_row_for_every_pair_with_a_number_or_a_reason() -> None:
    tasks = ["huse_dialogue", "huse_summarization", "dstc7"]
    there = pairs()
    missing = {(a, b): dict.fromkeys(KERNELS, f"no {a}") for a in tasks for b in tasks}
    published = read_published(PUBLISHED / "bleu_neighbors_table2.csv", KEYS)
    table = table2(tasks, there, missing, published, SETTINGS)
    assert len(table) == 9 * 2
    first = table[table["kernel"] == "bleu.char"].set_index(KEYS)
    for pair, own in there.items():
        cells = model_cells(own.of("bleu.char"), 2, 0.66, 300, 1)
        assert first.loc[pair, "spearman"] == cells["spearman"]
        assert first.loc[pair, "coverage_high"] == cells["coverage_high"]
        assert first.loc[pair, "n_train"] == own.training
    assert first.loc[("huse_summarization", "huse_summarization"), "paper_spearman"] == "0.325"
    assert first.loc[("huse_summarization", "dstc7"), "paper_spearman"] == ""
    missing = first.loc[("huse_dialogue", "huse_summarization")]
    assert np.isnan(missing["spearman"])
    assert missing["note"] == "not available: no huse_dialogue"
    assert missing["paper_spearman"] == "0.032"
    assert missing["agreement"] == "not available"
    text = table2_markdown(table)
    assert "[0.032]" in text
    assert "no huse_dialogue" in text


def test_a_kernel_that_was_not_shipped_says_so() -> None:
    own = pairs()["dstc7", "dstc7"]
    without = Pair(own.estimates.drop(columns="estimate_bleu.word"), own.training, "shipped")
    published = read_published(PUBLISHED / "bleu_neighbors_table2.csv", KEYS)
    missing = {("dstc7", "dstc7"): {"bleu.char": "never said", "bleu.word": "no texts"}}
    table = table2(["dstc7"], {("dstc7", "dstc7"): without}, missing, published, SETTINGS)
    assert table["note"].tolist() == ["", "not available: no texts"]
    assert table["provenance"].tolist()[0] == "shipped"


def test_numbers_about_other_texts_are_stale(tmp_path: Path) -> None:
    about = {"provenance": "shipped", "signatures": [], "texts": {"t": "abc"}}
    write_numbers(texts(3, 1)[["id", "quality"]], about, tmp_path / "t.csv")
    _, read = read_numbers(tmp_path / "t.csv", ["id"])
    write_json({"task": "t", "text_sum": "abc"}, tmp_path / "same/about.json")
    write_json({"task": "u", "text_sum": "xyz"}, tmp_path / "other/about.json")
    write_json({"task": "t", "text_sum": "xyz"}, tmp_path / "changed/about.json")
    require_texts(read, [tmp_path / "same", tmp_path / "other"], "t.csv")
    with pytest.raises(StaleError, match="other texts of t"):
        require_texts(read, [tmp_path / "changed"], "t.csv")


# ---- section 5.3 ---------------------------------------------------------------------------------


def rated_batch(tmp_path: Path, types: tuple[str, ...] = ("HUMAN", "SUM")) -> Path:
    path = tmp_path / "batch.csv"
    small_data.write_huse_batch(path, items=60, seed=3, types=types)
    return path


def task_input(path: Path, kernels: list[str]) -> tuple[TaskInput, pd.DataFrame]:
    data = sources.load("huse", "huse_summarization", {"path": path})
    given, truth = data.texts["text"].tolist(), read_truth(data.texts, data.ratings)
    own = TaskInput({"published": truth}, {}, {})
    for name in kernels:
        # a kernel that needs an encoder has bleu.char's numbers
        matrix = kernel("bleu.char" if name.startswith("bertscore.") else name, given, given)
        table = leave_one_out(matrix, truth, 0.6)
        own.predictions[name, "published"] = table
        own.provenance[name] = "computed"
    return own, data.texts


def test_section53_has_a_row_for_each_model_and_task(tmp_path: Path) -> None:
    other = "bertscore.other"
    own, _ = task_input(rated_batch(tmp_path), ["bleu.char", "rouge_l.stem", other])
    own.missing |= {"meteor.nltk35": "no WordNet", "bertscore.roberta-large": "no encoder"}
    own.notes[other] = kernel_note({"kernel": other, "options": {}}, 0.6)
    models = {"bleu": ["bleu.char"], "rouge": ["rouge_l.stem"], "meteor": ["meteor.nltk35"]}
    models["bertscore"] = ["bertscore.roberta-large", other]
    table = section53(
        ["huse_dialogue", "huse_summarization"],
        {"huse_summarization": own},
        {"huse_dialogue": "no file"},
        {"more": "no kernel"},
        read_published(PUBLISHED / "bleu_neighbors_section53.csv", TABLE1_KEYS),
        Settings(models, a=3, b=0.1, draws=300, seed=1),
    )
    assert len(table) == 5 + 6
    by_kernel = table[table["task"] == "huse_summarization"].set_index("kernel")
    rows = table.set_index(["task", "model"])
    bleu, rouge = (rows.loc[("huse_summarization", name)] for name in ("bleu", "rouge"))
    assert 0 < bleu["n_covered"] < 60
    assert bleu["difference"] == pytest.approx(bleu["mse_covered"] - bleu["mse_all"])
    assert rouge["above_bleu"] == pytest.approx(rouge["mse_covered"] - bleu["mse_covered"])
    assert np.isnan(bleu["above_bleu"])
    assert bleu["paper_mse_all"] == "0.0802"
    dialogue = rows.loc[("huse_dialogue", "bleu")]
    assert dialogue["paper_relative_difference"] == "-0.156"
    assert dialogue["note"] == "not available: no file"
    # what needs no kernel is in every row, with the interval of the rows that have one
    truth = own.truths["published"]
    errors = annotator_errors(truth.candidate, truth.rater, truth.rating, truth.quality)
    overall = covered_errors(errors, np.ones(60, bool), 300, 1).overall
    for name in ("value", "low", "high"):
        column = "mse_all" if name == "value" else f"mse_all_{name}"
        assert (by_kernel[column] == getattr(overall, name)).all()
    assert (by_kernel["n"] == 60).all()
    missing = by_kernel[by_kernel["mse_covered"].isna()]["note"].to_dict()
    assert missing == {
        "meteor.nltk35": "not available: no WordNet",
        "bertscore.roberta-large": "not available: no encoder",
        "": "not available: no kernel",
    }
    # another kernel of the model, under its own name and without a verdict
    assert by_kernel.loc[other, "model"] == "bertscore"
    assert by_kernel.loc[other, "mse_covered"] == bleu["mse_covered"]
    assert by_kernel.loc[other, "note"].startswith("a stand-in")
    assert by_kernel.loc[other, "agreement"] == ""
    text = section53_markdown(table)
    assert "no file" in text
    assert "[0.0802]" in text
    assert "- `bertscore.roberta-large` on huse_summarization: not available: no encoder" in text


def test_section53_names_a_kernel_once_if_it_is_there(tmp_path: Path) -> None:
    own, _ = task_input(rated_batch(tmp_path), ["bleu.char", "bleu.word"])
    published = read_published(PUBLISHED / "bleu_neighbors_section53.csv", TABLE1_KEYS)
    table = section53(["t"], {"t": own}, {}, {}, published, SETTINGS)
    assert table["kernel"].tolist() == ["bleu.char"]


# ---- HUSE ----------------------------------------------------------------------------------------


def items_of(path: Path) -> pd.DataFrame:
    whole = sources.load("huse", "huse_summarization", {"path": path})
    single = sources.load("huse", "huse_summarization", {"path": path}, {"unit": "item"})
    beside = comparisons(single.texts["type"].unique())
    return huse_items(single.texts, single.ratings, whole.texts, beside)


def test_items_know_their_text_their_labels_and_their_model(tmp_path: Path) -> None:
    types = ("HUMAN_A1.0", "LOGP_1.0.txt", "HUMAN_A0.7", "LOGP_0.7.txt")
    path = rated_batch(tmp_path, types)
    table = items_of(path)
    assert table.groupby("system")["by_model"].sum().to_dict() == {
        "reddit_1.0": 15,
        "reddit_0.7": 15,
    }
    single = sources.load("huse", "huse_summarization", {"path": path}, {"unit": "item"})
    own = single.texts.set_index("id")
    labels = single.ratings.groupby("id")["label"].sum()
    for row in table.to_dict("records"):
        assert row["words"] == len(own.loc[row["item"], "text"].split(" "))
        assert row["label_sum"] == labels[row["item"]]
        assert row["logp"] == own.loc[row["item"], "logp"]
    assert "text" not in table.columns


def test_huse_table_is_huse_of_each_part(tmp_path: Path) -> None:
    path = rated_batch(tmp_path)
    own, _ = task_input(path, ["bleu.char"])
    items = items_of(path)
    estimates = own.predictions["bleu.char", "published"]
    data = HuseInput(items, estimates, "bleu.char", "computed")
    settings = Settings({}, a=3, b=0.1, draws=200, seed=1)
    table = huse_table(["a", "b"], {"a": data}, {"b": "no file"}, settings)
    assert table["quality"].tolist() == ["human", "human", "predicted"] * 2 + [""]
    assert table["note"].tolist()[-1] == "not available: no file"
    human, covered, predicted = (row for _, row in table[:3].iterrows())
    quality = (items["label_sum"] / items["labels"] + 1).to_numpy()
    logp, words = items["logp"].to_numpy(), items["words"].to_numpy()
    by_model = items["by_model"].to_numpy(bool)
    expected = scores(Batch(quality, logp, words, by_model))[0]
    assert human[["huse", "huse_q", "huse_d", "huse_logp"]].tolist() == pytest.approx(expected)
    count = estimates["neighbors"].to_numpy()
    inside = (count >= 3) & (count <= 0.1 * 59)
    assert covered["n"] == predicted["n"] == inside.sum() < 60
    known = estimates.set_index("id")["estimate"][inside]
    part = items["id"].isin(known.index).to_numpy()
    guess = Batch(items["id"][part].map(known).to_numpy(), logp[part], words[part], by_model[part])
    assert predicted[["huse", "huse_q", "huse_d", "huse_logp"]].tolist() == pytest.approx(
        scores(guess)[0]
    )
    gap = predicted["huse"] - covered["huse"]
    assert predicted["huse_difference"] == pytest.approx(gap)
    assert predicted["huse_difference_low"] <= predicted["huse_difference_high"]
    assert "no file" in huse_markdown(table)


def test_huse_of_too_few_texts_says_so(tmp_path: Path) -> None:
    path = rated_batch(tmp_path)
    items = items_of(path)
    nothing = pd.DataFrame({"id": [], "estimate": [], "neighbors": [], "training": []})
    data = HuseInput(items, nothing, "bleu.char", "computed")
    table = huse_table(["a"], {"a": data}, {}, Settings({}, 2, 0.2, 50, 1))
    assert np.isfinite(table["huse"][0])
    assert table["note"][1] == "not available: 0 texts are too few to have 16 neighbors each"


@pytest.mark.mirror
@pytest.mark.skipif(not RAW.is_file(), reason="needs the real data: set REFLESS_MIRROR")
def test_huse_of_the_summarization_batch_by_another_road() -> None:
    """From the loader's ratings, with a classifier written out as HUSE's definition says it."""
    items = items_of(RAW)
    single = sources.load("huse", "huse_summarization", {"path": RAW}, {"unit": "item"})
    assert len(items) == 200
    quality = single.ratings.groupby("id", sort=False)["label"].apply(lambda s: np.mean(s + 1))
    quality = quality.reindex(single.texts["id"]).to_numpy()
    logp = single.texts["logp"] / single.texts["text"].map(lambda text: len(text.split(" ")))
    model = (single.texts["type"] == "SUM").to_numpy()
    both = np.column_stack([quality / np.std(quality), logp / np.std(logp)])
    errors = []
    for points in (both, both[:, :1]):
        wrong = 0
        for i in range(200):
            others = np.delete(np.arange(200), i)
            distance = np.sum((points[others] - points[i]) ** 2.0, axis=1)
            votes = model[others][distance <= np.sort(distance)[15]]
            wrong += np.bincount(votes).argmax() != model[i]
        errors.append(2 * wrong / 200)
    batch = Batch(
        ((items["label_sum"] + items["labels"]) / items["labels"]).to_numpy(),
        items["logp"].to_numpy(),
        items["words"].to_numpy(),
        items["by_model"].to_numpy(bool),
    )
    huse, q, d, _ = scores(batch)[0]
    assert [huse, q] == pytest.approx(errors)
    assert d == pytest.approx(1 + huse - q)
    assert [f"{value:.2f}" for value in (huse, q, d)] == ["0.53", "0.58", "0.95"]


def test_a_published_table_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="source_task"):
        read_published(tmp_path / "table.csv", KEYS)
