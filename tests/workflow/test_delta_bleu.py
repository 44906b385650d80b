"""ΔBLEU from raw files to tables, figure and report, on small dialogues; and what comes with it."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from tests.conftest import Project, copy_project

pytestmark = pytest.mark.workflow


def test_everything_of_delta_bleu_is_computed(small: Project) -> None:
    results = small.path / "results"
    table = pd.read_csv(results / "tables/delta_bleu_table2.csv")
    for task, pairs in (("dstc7", 3), ("usr_topicalchat", 1)):
        own = table[table["task"] == task]
        assert set(own["provenance"]) == {"computed"}
        assert set(own["pairs"]) == {pairs}
        assert set(own["n"]) <= {pairs * units for units in range(1, 7)}
        assert own["spearman"].dropna().between(-1, 1).all()
    assert set(table.loc[table["task"] == "dstc7", "gold"]) == {0, 1}
    assert set(table.loc[table["task"] == "usr_topicalchat", "gold"]) == {0}
    tests = pd.read_csv(results / "tables/delta_bleu_table2_tests.csv")
    assert set(tests["task"]) == {"dstc7", "usr_topicalchat"}
    predictor = pd.read_csv(results / "tables/delta_bleu_predictor.csv")
    assert predictor.groupby("task")["n"].first().to_dict() == {
        "dstc7": 96,
        "nem": 440,
        "usr_topicalchat": 48,
    }
    # NEM: other outputs of the MR and human utterances
    assert predictor.loc[predictor["task"] == "nem", "references"].ge(2).all()
    for ending in ("pdf", "svg", "png"):
        assert (results / f"figures/delta_bleu_figure2.{ending}").stat().st_size > 1000
    assert "delta_bleu_table2" in (results / "report.html").read_text(encoding="utf-8")


def test_a_changed_setting_rebuilds_what_hangs_on_it(small: Project) -> None:
    config = small.path / "config/config.yaml"
    text = config.read_text()
    assert "seeds: [2015, 2016," in text
    config.write_text(text.replace("seeds: [2015, 2016,", "seeds: [2014, 2016,"))
    try:
        assert small.planned("delta_bleu") == {
            "score_delta_bleu": 2,
            "tabulate_delta_bleu_table2": 1,
            "plot_delta_bleu_figure2": 1,
            "delta_bleu": 1,
        }
    finally:
        config.write_text(text)


def test_a_changed_model_rebuilds_its_numbers(small: Project) -> None:
    module = small.path / "workflow/refless/models/delta_bleu.py"
    before = module.stat()
    small.touch("workflow/refless/models/delta_bleu.py")
    try:
        planned = small.planned("all")
        assert planned["score_delta_bleu"] == 2
        assert planned["predict_delta_bleu"] == 3
        assert "predict_neighbors" not in planned
    finally:
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_without_numbers_the_tables_say_why(small: Project) -> None:
    bare = copy_project(small.path.parent / "bare_delta_bleu")
    for path in (bare.path / "resources/shipped").glob("*/delta_bleu/*"):
        path.unlink()
    bare.snakemake("delta_bleu", "--config", "numbers=auto", "network=False")
    table = pd.read_csv(bare.path / "results/tables/delta_bleu_table2.csv")
    assert table["spearman"].isna().all()
    assert table["note"].str.contains("resources/manual/dstc7/").any()
    predictor = pd.read_csv(bare.path / "results/tables/delta_bleu_predictor.csv")
    assert predictor["note"].str.contains("resources/manual/bagel/").any()
    assert (bare.path / "results/figures/delta_bleu_figure2.pdf").is_file()


def test_a_task_that_is_no_data_set_is_named(fresh: Project) -> None:
    config = fresh.path / "config/config.yaml"
    text = config.read_text()
    config.write_text(text.replace("    dstc7: {unit", "    dstc8: {unit"))
    assert "delta_bleu.tasks names 'dstc8'" in fresh.snakemake("--dry-run", "all", ok=False)
    models = "[bleu, rouge]\n    references"
    config.write_text(text.replace(models, models.replace("rouge", "rogue")))
    assert "delta_bleu.predictor.models names 'rogue'" in fresh.snakemake(
        "--dry-run", "all", ok=False
    )


def test_shipped_numbers_build_table_and_figure(small: Project) -> None:
    quick = copy_project(small.path.parent / "quick_delta_bleu")
    quick.snakemake("delta_bleu", "--config", "numbers=auto", "network=False")
    table = pd.read_csv(quick.path / "results/tables/delta_bleu_table2.csv")
    there = table[table["spearman"].notna()]
    assert set(there["task"]) == {"dstc7", "usr_topicalchat", "usr_personachat"}
    assert set(there["provenance"]) == {"shipped"}
    first = there[(there["task"] == "dstc7") & (there["metric"] == "bleu")].iloc[0]
    assert first["spearman"] == pytest.approx(0.28, abs=0.01)
    predictor = pd.read_csv(quick.path / "results/tables/delta_bleu_predictor.csv")
    # WordNet is not at hand, but what was shipped has METEOR
    assert set(predictor["against"].dropna()) == {"bleu.char", "rouge_l.stem", "meteor.nltk35"}
    assert predictor["note"].isna().all()
    assert not (quick.path / "resources/data").exists()
