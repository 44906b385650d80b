"""Table 2 of ΔBLEU and its tests: from files of numbers to rows, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.normalize import read_gold
from refless.errors import SettingError, StaleError
from refless.experiments.delta_bleu.dialogues import ALL, CONTROL, HIGH, METRICS, SINGLE
from refless.experiments.delta_bleu.table2 import (
    KEYS,
    NOT_PUBLIC,
    Units,
    comparison_table,
    finding,
    read_units,
    table2,
)
from refless.experiments.delta_bleu.units import main_cells, write_units
from refless.report.published import read_published
from refless.report.tables import publish
from refless.statistics import holm
from refless.store import signed
from tests.experiments.delta_bleu.small import SETTINGS, as_task, small_gold, small_texts

PUBLISHED = Path(__file__).parents[3] / "resources/published/delta_bleu_table2.csv"
LOOKS: dict[str, dict[str, Any]] = {
    "small": {"name": "Small", "note": ""},
    "other": {"name": "Other", "note": "said of this data set"},
}
MISSING = {"of": {"task": "other"}, "code": "no_file", "sentence": "no file", "remedy": "fetch it"}
FACTS = {"finding": "found", "assignments": 30, "seeds": [1, 2], "bootstrap": {"draws": 100}}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    texts = small_texts(contexts=24)
    texts.loc[texts["context_id"].isin(["c4", "c7"]), "quality"] /= 4  # no good reference
    folder = tmp_path_factory.mktemp("ratings") / "small"
    paths = [folder.parent / f"results/small/{name}.csv" for name in ("units", "tests")]
    write_units(paths[0], paths[1], as_task(folder, texts), small_gold(), SETTINGS)
    return paths


@pytest.fixture(scope="module")
def units(files: list[Path]) -> dict[str, Units]:
    return read_units(files[:1], files[1:], {"small": SETTINGS})


@pytest.fixture(scope="module")
def table(units: dict[str, Units]) -> pd.DataFrame:
    return table2(LOOKS, units, read_published(PUBLISHED, KEYS))


def test_every_cell_stands_beside_the_paper(table: pd.DataFrame) -> None:
    paper = table[table["task"] == "twitter"]
    assert paper["paper_spearman_ci95_low"].tolist() == ["0.265", "0.415"]
    assert paper["spearman"].isna().all()
    cells = table[(table["task"] == "small") & (table["choices"] == "")]
    named = [[cell.metric, cell.references] for cell in main_cells()]
    assert cells[KEYS].to_numpy().tolist() == named
    assert cells["references_per_context"].between(1, 3).all()
    noted = cells["note"].map(lambda note: any("machine outputs" in one for one in note))
    assert cells.loc[noted, KEYS].to_numpy().tolist() == [[metric, ALL] for metric in METRICS]
    assert (cells["spearman_low"] <= cells["spearman"] + 0.1).all()
    assert (cells["spearman_seeds_low"] <= cells["spearman"]).all()
    assert (cells["spearman_seeds_high"] >= cells["spearman"]).all()
    assert set(cells["n"]) == {6 * 6}
    assert set(cells["systems"]) == {4}
    width, anew = (
        cells[f"spearman{name}_high"] - cells[f"spearman{name}_low"] for name in ("", "_systems")
    )
    assert anew.mean() > width.mean()
    assert (cells["spearman_without_one_low"] <= cells["spearman"] + 0.05).all()
    assert (cells["spearman_without_one_high"] >= cells["spearman"] - 0.05).all()
    assert cells["spearman_within_pairs"].abs().le(1).all()
    np.testing.assert_allclose(cells["pairwise_accuracy"] * 6 % 1, 0, atol=1e-9)
    assert set(cells["provenance"]) == {"computed"}
    printed = table[(table["task"] == "small") & (table["paper_spearman_ci95_low"] != "")]
    assert printed[KEYS].to_numpy().tolist() == [["bleu", HIGH], ["delta_bleu", ALL]]
    assert set(printed["choices"]) == {""}
    other = table[table["task"] == "other"]
    assert other[KEYS].to_numpy().tolist() == named
    assert set(other["provenance"]) == {""}


def test_other_choices_are_named(table: pd.DataFrame) -> None:
    own = table[(table["task"] == "small") & (table["choices"] != "")].set_index("choices")
    assert set(own.loc["first fixed", "metric"]) == set(METRICS)
    assert own.loc["rule signed, centre mean, gold added", "gold"] == 1
    assert set(own.loc["references w>=0", "references"]) == {"w>=0"}
    # what is left out where no reference is good are the two contexts made so
    assert set(own.loc["lacking left_out", "contexts"]) == {22}
    assert len(own.loc["lacking left_out"]) == len(main_cells())


def test_the_tests_compare_the_same_units(units: dict[str, Units], table: pd.DataFrame) -> None:
    tests = comparison_table(LOOKS, units)
    rows = tests[tests["task"] == "small"]
    assert (rows["difference_low"] <= rows["difference_high"]).all()
    assert rows["p_bootstrap"].between(0, 1).all()
    own = table[(table["task"] == "small") & (table["references"] == SINGLE)]
    row = rows[(rows["metric_b"] == "bleu") & (rows["references_b"] == SINGLE)].iloc[0]
    assert row["spearman_b"] == own.loc[own["metric"] == "bleu", "spearman"].iloc[0]
    assert row["difference"] == pytest.approx(row["spearman_a"] - row["spearman_b"])
    assert tests.loc[tests["task"] == "other", "provenance"].tolist() == [""]


def test_tests_of_two_metrics_are_corrected_together(units: dict[str, Units]) -> None:
    """By themselves, without fallback, and all other choices as one family."""
    tests = comparison_table(LOOKS, units)
    rows = tests[(tests["task"] == "small") & (tests["metric_a"] == "delta_bleu")]
    rows = rows[(rows["metric_b"] == "bleu") & (rows["tokens"] == "words")]
    plain = (rows["rule_a"] == "smooth") & (rows["centre_a"] == "scale") & (rows["gold_a"] == 0)
    ignored = rows["lacking_a"] == "ignored"
    main = plain & (rows["lacking_a"] == "raised") & (rows["references_a"] != "w>=0")
    families = [rows[main], rows[ignored], rows[~main & ~ignored]]
    assert {"raised", "written"} == set(families[2]["lacking_a"])
    for own in families:
        np.testing.assert_allclose(own["p_holm"], holm(own["p_systems"].to_numpy(float)))


def test_both_tables_are_published_with_reasons(
    units: dict[str, Units], table: pd.DataFrame, tmp_path: Path
) -> None:
    for name, own in (
        ("delta_bleu_table2", table),
        ("delta_bleu_table2_tests", comparison_table(LOOKS, units)),
    ):
        notes = units["small"].notes
        publish(name, own, tmp_path, missing=[MISSING, NOT_PUBLIC], facts=FACTS, notes=notes)
        written = pd.read_csv(tmp_path / f"{name}.csv").set_index("task")
        assert set(written.loc[["other"], "reason"]) == {"no_file"}
        assert written.loc[["small"], "reason"].isna().all()
        page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "no file; fetch it" in page
        assert all(note in page for note in notes)


def test_without_any_numbers_there_are_still_rows() -> None:
    table = table2(LOOKS, {}, read_published(PUBLISHED, KEYS))
    assert len(table) == 2 + 2 * len(main_cells())
    assert comparison_table(LOOKS, {})["task"].tolist() == ["small", "other"]


def test_numbers_of_other_settings_or_code_are_refused(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(StaleError):
        read_units(files[:1], files[1:], {"small": {**SETTINGS, "unit": 5}})
    old = tmp_path / "small/tests.csv"
    found = signed.read(files[1], "unit tests")
    signatures = [{**one, "fingerprint": "0"} for one in found.about["signatures"]]
    signed.write(old, found.content, {**found.about, "signatures": signatures})
    with pytest.raises(StaleError):
        read_units(files[:1], [old], {"small": SETTINGS})


def test_gold_references_of_a_loader_that_has_none_are_a_wrong_setting() -> None:
    with pytest.raises(SettingError):
        read_gold("usr", {"path": "nowhere.json"})


def test_the_panels_of_figure_2(units: dict[str, Units]) -> None:
    rows = units["small"].rows.set_index("kind")
    assert set(rows.loc["threshold", "references"]) == {"w>=0.6", "w>=0", "w>=-1"}
    assert set(rows.loc["unit", "unit"]) == {1, 4}
    assert set(rows.loc["order", "order"]) == {1, 2, 3}
    points = rows.loc[["threshold", "unit", "order"]]
    assert (points["spearman_low"] < points["spearman_high"]).all()
    everything = rows.loc["threshold"]
    everything = everything[everything["references"] == "w>=-1"].set_index("metric")["spearman"]
    table = rows.loc["table"].drop_duplicates(KEYS)
    table = table[table["references"] == ALL].set_index("metric")["spearman"]
    # fewer assignments, so equal by and large
    for metric in ("bleu", "sbleu"):
        assert everything[metric] == pytest.approx(table[metric], abs=0.2)


Interval = tuple[float, float]
AHEAD, BEHIND, OPEN, NONE = (0.01, 0.2), (-0.2, -0.01), (-0.1, 0.2), (np.nan, np.nan)


@pytest.mark.parametrize(
    ("bleu", "control", "contexts", "said"),
    [
        (AHEAD, OPEN, AHEAD, ["is ahead of BLEU (", "is not shown to differ from BLEU whose"]),
        (OPEN, OPEN, AHEAD, ["is not shown to differ from BLEU (", "On these systems alone"]),
        (OPEN, OPEN, OPEN, ["is not shown to differ from BLEU ("]),
        (AHEAD, AHEAD, AHEAD, ["is ahead of BLEU (", "is ahead of BLEU whose"]),
        (BEHIND, BEHIND, BEHIND, ["is behind BLEU (", "is behind BLEU whose"]),
        # with three systems there is no interval over them
        (NONE, NONE, AHEAD, ["is ahead of BLEU (", "contexts alone drawn anew"]),
        (NONE, NONE, OPEN, ["is not shown to differ from BLEU (", "contexts alone drawn anew"]),
    ],
)
def test_the_sentence_about_the_claim_follows_from_the_tests(
    units: dict[str, Units],
    bleu: Interval,
    control: Interval,
    contexts: Interval,
    said: list[str],
) -> None:
    table = comparison_table(LOOKS, units)
    ends = [f"difference{over}_{end}" for over in ("_systems", "") for end in ("low", "high")]
    for against, systems in (("bleu", bleu), (CONTROL, control)):
        own = (table["metric_a"] == "delta_bleu") & (table["metric_b"] == against)
        table.loc[own, ["difference", *ends]] = [sum(contexts) / 2, *systems, *contexts]
    sentence = finding(LOOKS, table)
    assert all(words in sentence for words in said)
    assert ("On these systems alone" in sentence) == ("On these systems alone" in said)
    assert "the human response stands in" not in sentence  # without them nothing is otherwise
    own = (table["lacking_a"] == "ignored") & (table["metric_b"] == "bleu")
    table.loc[own, ["difference", *ends]] = [0.01, *OPEN, *OPEN]
    without = finding(LOOKS, table).split("Without the contexts")[1]
    assert "is not shown to differ from BLEU (" in without
    main = table[(table["metric_a"] == "delta_bleu") & (table["tokens"] == "words")]
    main = main[(main["metric_b"] == CONTROL) & (main["task"] == "small")]
    best = main.loc[main["spearman_a"].idxmax()]
    assert f"references {best['references_a']}" in sentence
    assert f"({best['spearman_b']:.2f}" in sentence
    assert finding(LOOKS, comparison_table(LOOKS, {})) == "There are no numbers."
