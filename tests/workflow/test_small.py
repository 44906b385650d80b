"""The whole workflow on small data: what it builds, what it rebuilds, what it refuses."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
import os
import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT, Project

pytestmark = pytest.mark.workflow

FIGURES = [
    *(f"bleu_neighbors_figure{n}" for n in (2, 3, 4)),
    *("bleu_neighbors_essays", "bleu_neighbors_ablation", "bleu_neighbors_pareto"),
    "rnn_qe_data_size",
]
RNN_QE = [*(f"rnn_qe_table{n}" for n in (1, 2, 3, 4, 5)), "rnn_qe_training"]
TARGETS = [
    "all",
    "kernels",
    "report",
    "bleu_neighbors",
    "bleu_neighbors_table1",
    "bleu_neighbors_table2",
    "bleu_neighbors_table3",
    "bleu_neighbors_section53",
    "bleu_neighbors_huse",
    "bleu_neighbors_agreement",
    "rnn_qe",
    *RNN_QE,
    *FIGURES,
]


def test_tables_figures_and_report_are_built(small: Project) -> None:
    table = pd.read_csv(small.path / "results/tables/bleu_neighbors_table1.csv")
    for task in ("huse_summarization", "huse_dialogue", "dstc7"):
        rows = table[table["task"] == task]
        models = rows[rows["model"] != "bertscore"]
        assert set(models["provenance"]) == {"computed"}
        assert models.loc[models["kernel"] == "bleu.char", "coverage"].between(0, 1).all()
        assert models.loc[models["model"] == "human_average", "spearman"].notna().all()
    absent = table[table["task"] == "huse_generation"]
    assert absent["mse"].isna().all()
    assert absent["note"].str.contains("resources/manual/huse/lm_results.csv").all()
    for name in FIGURES:
        for ending in ("pdf", "svg", "png"):
            assert (small.path / f"results/figures/{name}.{ending}").stat().st_size > 1000
    report = (small.path / "results/report.html").read_text(encoding="utf-8")
    assert all(name in report for name in ["bleu_neighbors_table1", *RNN_QE, *FIGURES])


def test_a_streamed_task_keeps_sums_and_no_matrix(small: Project) -> None:
    results = small.path / "results"
    assert not list(results.glob("kernels/dstc7/*"))
    assert len(list(results.glob("sums/dstc7/*.npz"))) == 4
    texts = pd.read_csv(results / "ratings/dstc7/texts.csv")
    assert len(texts) == 93  # 24 contexts, four systems, three pairs of one text
    predictions = pd.read_csv(results / "neighbors/dstc7.csv", keep_default_na=False)
    number = predictions[predictions["kernel"] == "bleu.char"]["reading"].value_counts()
    assert number.to_dict() == {"published": 93, "exact": 93, "item": 96}
    curve = pd.read_csv(results / "curves/dstc7/bleu.char.data_size.csv")
    assert sorted(set(curve["size"])) == [20, 50, 93]


def test_the_ablation_starts_from_the_row_of_table_1(small: Project) -> None:
    tables = small.path / "results/tables"
    ablation = pd.read_csv(tables / "bleu_neighbors_ablation.csv")
    pareto = pd.read_csv(tables / "bleu_neighbors_pareto.csv")
    first = pd.read_csv(tables / "bleu_neighbors_table1.csv")
    first = first[(first["kernel"] == "bleu.char") & (first["reading"] == "published")]
    for task in ("huse_summarization", "huse_dialogue"):
        own = first.set_index("task").loc[task]
        plain = ablation[(ablation["task"] == task) & (ablation["variant"] == "plain")]
        default = pareto[
            (pareto["task"] == task) & (pareto["model"] == "bleu") & (pareto["rule"] == "default")
        ]
        for rows, digits in ((plain, 1e-12), (default, 1e-5)):
            assert set(rows["provenance"]) == {"computed"}
            for column in ("mse", "spearman", "coverage"):
                assert rows[column].item() == pytest.approx(own[column], abs=digits), column
    absent = ablation[ablation["task"] == "huse_generation"]
    assert absent["note"].str.contains("resources/manual/huse/lm_results.csv").all()


def test_without_torch_the_rows_say_so(small: Project) -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("torch is installed")
    table = pd.read_csv(small.path / "results/tables/bleu_neighbors_ablation.csv")
    rows = table[table["variant"].str.startswith("embedding.")]
    assert set(rows["task"]) == {"huse_summarization", "huse_dialogue", "dstc7"}
    assert rows["spearman"].isna().all()
    # what is shipped is of the real summaries, not of these
    why = rows.set_index("task")["note"]
    assert "other texts" in why["huse_summarization"]
    assert "make torch" in why["huse_dialogue"]


def test_essays_are_computed_and_compared(small: Project) -> None:
    table = pd.read_csv(small.path / "results/tables/bleu_neighbors_table3.csv", dtype=str)
    own = table[(table["model"] == "bleu_neighbors") & (table["kernel"] == "bleu.char")]
    assert set(own["provenance"]) == {"computed"}
    assert set(own["n"]) == {"6"}  # 8, and two of them have too few or too many sentences
    assert set(own[own["train_topic"] == "8"]["n_train"]) == {"10"}
    tables = small.path / "results/tables"
    changed = pd.read_csv(tables / "bleu_neighbors_table3_sensitivity.csv")
    assert set(changed["choice"]) == {
        *("reading", "sentences", "cut", "raters", "kernel", "tau", "means")
    }
    assert len(pd.read_csv(tables / "bleu_neighbors_table3_williams.csv")) == 85
    assert len(pd.read_csv(tables / "bleu_neighbors_essays.csv")) == 200


def test_rated_outputs_are_counted_and_compared(small: Project) -> None:
    tables = small.path / "results/tables"
    first = pd.read_csv(tables / "rnn_qe_table1.csv").set_index("system")
    assert first.loc["total", "total"] == 440
    assert first.loc["LOLS", "total"] == first.loc["total", "sfhot"] == 220
    second = pd.read_csv(tables / "rnn_qe_table2.csv").set_index(["synthesise", "setup"])
    sizes = second["training_instances"].round().astype(int)
    assert sizes["first_part", 1] == 264
    assert sizes["first_part", 2] == 264 + 5 * 88
    assert sizes["all_parts", 2] == 264 + 5 * 264
    # 220 less 200; equal outputs stay together, so that a few go to the other parts
    for name, fewest, most in (("3", 440, 440), ("4", 1, 20), ("5", 1, 20)):
        table = pd.read_csv(tables / f"rnn_qe_table{name}.csv", dtype={"setup": str})
        assert table.loc[table["setup"] == "bleu", "n"].between(fewest, most).all()
        trained = table[table["setup"].isin([str(n) for n in range(1, 7)])]
        assert trained["pearson"].isna().all()
        # those that are shipped are of the real outputs, not of these
        shipped = trained["note"].str.contains("shipped predictions are of other texts")
        assert shipped.any() or name != "3"
        assert (shipped | trained["note"].str.startswith("not run: ")).all()
        assert trained["note"].str.contains("results/rnn_qe/predictions/").all()
        own = table[(table["setup"] == "bleu_neighbors") & (table["reading"] == "dev")]
        assert own["mae"].between(0, 5).all()


def test_predictions_at_hand_fill_their_row_without_training(small: Project) -> None:
    """What a trainer left is read; it is refused if it was made from other data."""
    ratings = pd.read_csv(small.path / "results/rnn_qe/outputs.csv")[["id", "fold", "rating"]]
    seeds = [ratings.assign(seed=seed) for seed in range(5)]
    table = pd.concat(seeds).rename(columns={"rating": "prediction"})
    table = table.assign(
        experiment="cross_validation", setup=1, part="test", raw=table["prediction"]
    )
    path = small.path / "results/rnn_qe/predictions/setup1.csv"
    path.parent.mkdir(parents=True)
    table.to_csv(path, index=False)
    about = {
        "provenance": "computed",
        "settings": {"data": {"seed": 2017, "synthesise": "first_part"}},
        "texts": json.loads((small.path / "results/rnn_qe/outputs.json").read_text())["texts"],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    try:
        path.with_suffix(".json").write_text(json.dumps(about))
        assert set(small.planned("rnn_qe_table3")) == {"tabulate_rnn_qe_table3", "rnn_qe_table3"}
        small.snakemake("rnn_qe_table3")
        rows = pd.read_csv(small.path / "results/tables/rnn_qe_table3.csv", dtype={"setup": str})
        row = rows[rows["setup"] == "1"].iloc[0]
        assert (row["pearson"], row["mae"], row["seeds"]) == (pytest.approx(1), 0, 5)
        about["settings"] = {"data": {"seed": 1, "synthesise": "first_part"}}
        path.with_suffix(".json").write_text(json.dumps(about | {"sha256": about["sha256"]}))
        output = small.snakemake("rnn_qe_table3", "--forcerun", "tabulate_rnn_qe_table3", ok=False)
        assert "was trained on other data" in output
        about["settings"] = {"data": {"seed": 2017, "synthesise": "first_part"}}
        path.with_suffix(".json").write_text(json.dumps(about | {"texts": "another"}))
        output = small.snakemake("rnn_qe_table3", "--forcerun", "tabulate_rnn_qe_table3", ok=False)
        assert "was trained on other rated outputs" in output
    finally:
        path.unlink()
        path.with_suffix(".json").unlink()
        small.snakemake("all")


def test_the_papers_schedule_has_a_name_of_its_own(small: Project) -> None:
    """It trains on the data of the set-up; shipped models of other texts are not in the table."""
    output = small.snakemake(
        "--dry-run", "--printshellcmds", "results/rnn_qe/predictions/paper_setup4.csv"
    )
    (command,) = (
        line for line in output.splitlines() if "train_rnn_qe.py" in line and "--s" in line
    )
    assert "results/rnn_qe/data/setup4 --schedule paper --seeds 0 --arch" in command
    assert "results/rnn_qe/data/paper_setup4" not in output
    table = pd.read_csv(small.path / "results/tables/rnn_qe_training.csv")
    assert table["seed"].isna().all()
    assert table["note"].str.startswith("not run: `snakemake").all()


def test_a_changed_recipe_rebuilds_the_essays_alone(small: Project) -> None:
    config = small.path / "config/config.yaml"
    text = config.read_text()
    config.write_text(text.replace("    cut: cut\n", "    cut: whole\n"))
    try:
        assert set(small.planned("bleu_neighbors")) == {
            *("predict_essays", "sum_essay_sets", "tabulate_bleu_neighbors_table3"),
            *("tabulate_bleu_neighbors_essays", "plot_bleu_neighbors_essays", "bleu_neighbors"),
            "tabulate_bleu_neighbors_agreement",
        }
    finally:
        config.write_text(text)


def test_without_essays_the_tables_say_why(small: Project) -> None:
    """Nothing at hand, nothing shipped: cells with a reason, and no error."""
    from tests.conftest import copy_project

    bare = copy_project(small.path.parent / "bare")
    for path in (bare.path / "resources/shipped/asap_sas/essays").iterdir():
        path.unlink()
    bare.snakemake(
        "bleu_neighbors_table3",
        "bleu_neighbors_essays",
        "--config",
        "numbers=auto",
        "network=False",
    )
    for name in ("table3", "table3_williams", "table3_sensitivity", "essays"):
        table = pd.read_csv(bare.path / f"results/tables/bleu_neighbors_{name}.csv")
        assert table["spearman"].isna().all()
        assert table["note"].str.contains("resources/manual/asap-sas/train_rel_2.tsv").any()
    assert (bare.path / "results/figures/bleu_neighbors_essays.pdf").is_file()


def test_markdown_quotes_the_signatures(small: Project) -> None:
    table = (small.path / "results/tables/bleu_neighbors_table1.md").read_text(encoding="utf-8")
    assert re.search(
        r"`rouge_l\.stem` on huse_dialogue: computed; code \w{12}, texts \w{12}", table
    )


def test_a_second_run_does_nothing(small: Project) -> None:
    assert small.planned(*TARGETS) == {}


def test_without_a_target_everything_is_built(fresh: Project) -> None:
    planned = fresh.planned()
    assert planned.pop("all") == 1
    named = fresh.planned("all")
    assert named.pop("all") == 1
    assert planned == named
    assert planned["make_report"] == 1


def test_every_named_target_can_be_asked_for(small: Project) -> None:
    listed = small.snakemake("--list-target-rules").split()
    assert {*TARGETS, "quickstart", "fetch"} <= set(listed)


def test_touching_a_figure_script_rebuilds_that_figure_alone(small: Project) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(small.path, "results").rglob("*.*")}
    small.touch("workflow/scripts/plot_bleu_neighbors_figure3.py")
    assert small.planned("bleu_neighbors") == {
        "plot_bleu_neighbors_figure3": 1,
        "bleu_neighbors": 1,
    }
    small.snakemake("bleu_neighbors")
    rebuilt = {path.stem for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert rebuilt == {"bleu_neighbors_figure3", "plot_bleu_neighbors_figure3"}  # figure and log


def test_a_changed_kernel_module_rebuilds_that_kernel_and_what_hangs_on_it(small: Project) -> None:
    module = small.path / "workflow/refless/kernels/rouge_l.py"
    before = module.stat()
    small.touch(str(module.relative_to(small.path)))
    try:
        assert small.planned("bleu_neighbors") == {
            "compute_rouge_l_kernels": 2,  # stemmed and plain at once, on two tasks
            "sum_rouge_l_neighbors": 1,
            "predict_neighbors": 3,
            "tabulate_bleu_neighbors_table1": 1,
            "tabulate_bleu_neighbors_section53": 1,
            "tabulate_bleu_neighbors_huse": 1,
            "tabulate_bleu_neighbors_agreement": 1,
            "compute_pareto_sums": 3,
            "tabulate_bleu_neighbors_pareto": 1,
            "plot_bleu_neighbors_pareto": 1,
            "bleu_neighbors": 1,
        }
    finally:
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_changed_loader_rebuilds_its_ratings_and_fetches_nothing(small: Project) -> None:
    module = small.path / "workflow/refless/sources/huse.py"
    before = module.stat()
    small.touch(str(module.relative_to(small.path)))
    try:
        planned = small.planned("bleu_neighbors")
        assert planned["normalize_ratings"] == 2
        assert not {"fetch_source", "verify_source"} & set(planned)
    finally:
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_changed_setting_rebuilds_what_hangs_on_it(small: Project) -> None:
    config = small.path / "config/config.yaml"
    text = config.read_text()
    config.write_text(text.replace("subsets: 20", "subsets: 19"))
    try:
        assert small.planned("bleu_neighbors") == {
            "compute_data_size_curve": 3,
            "plot_bleu_neighbors_figure4": 1,
            "bleu_neighbors": 1,
        }
    finally:
        config.write_text(text)


@pytest.mark.drill
def test_same_input_gives_the_same_bytes(small: Project) -> None:
    paths = [
        *(small.path / "results/kernels").rglob("*.npz"),
        *(small.path / "results/sums").rglob("*.npz"),
        *(small.path / "results/curves").rglob("*.*"),
        *(small.path / "results/tables").glob("*"),
        *(small.path / "results/figures").glob("*"),
        *(small.path / "results/ratings").rglob("*.*"),
    ]
    before = {path: path.read_bytes() for path in paths}
    small.snakemake("bleu_neighbors", "delta_bleu", "rnn_qe", "--forceall")
    assert len(before) > 20
    assert [str(p) for p, content in before.items() if p.read_bytes() != content] == []


def test_sharded_kernels_are_the_unsharded_ones_bit_for_bit(small: Project) -> None:
    """And so are sums: shards are rows of candidates in both."""
    results = small.path / "results"
    paths = sorted([*results.glob("kernels/*/*.npz"), *results.glob("sums/*/*.npz")])
    before = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.unlink()
    output = small.snakemake("kernels", "--set-scatter", "kernel=3")
    assert len(before) == 12
    assert {path: path.read_bytes() for path in paths} == before
    assert len(re.findall(r"(?m)^(?:local)?rule compute_bleu_kernels:", output)) == 6
    assert len(re.findall(r"(?m)^(?:local)?rule sum_bleu_neighbors:", output)) == 3
    assert not list((small.path / "results/shards").rglob("*.npz"))


SETTINGS = [
    ("min_neighbors: 5", "min_neighbours: 5", "min_neighbours"),
    ("min_neighbors: 5", "min_neighbors: 0", "0 is less than the minimum of 1"),
    ("tau: 0.08", "tau: eight", "'eight' is not of type 'number'"),
    ("bleu.char, bleu.word", "bleu.char, bleu", "'bleu' does not match"),
    ("numbers: computed", "numbers: perhaps", "perhaps"),
    ("draws: 2000", "draws: 10", "10 is less than the minimum of 1000"),
    ("mirror: ", "mirrors: ", "mirrors"),
    ("streamed: [20, ", "streamed: [1, ", "1 is less than the minimum of 2"),
    ("  streamed: [dstc7]\n", "", "'streamed' is a required property"),
    ("halves: 20", "halves: 1", "1 is less than the minimum of 2"),
    ("tau_factors: [0.25, 0.5, 0.75, 1, ", "tau_factors: [0.25, 0.5, 0.75, ", "contain"),
]


@pytest.mark.parametrize(("old", "new", "named"), SETTINGS)
def test_the_schema_names_a_wrong_setting(old: str, new: str, named: str) -> None:
    text = (ROOT / "config/config.yaml").read_text()
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    jsonschema.validate(yaml.safe_load(text), schema)
    assert old in text
    with pytest.raises(jsonschema.ValidationError, match=re.escape(named)):
        jsonschema.validate(yaml.safe_load(text.replace(old, new, 1)), schema)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        SETTINGS[0],
        ("bleu.char, bleu.word", "bleu.char, bleu.wurd", "'bleu.wurd'"),
        ("loader: huse\n", "loader: house\n", "'house'"),
        ("huse/lm_results.csv", "huse/ml_results.csv", "'huse/ml_results.csv'"),
        ("tasks: [huse_dialogue,", "tasks: [huse_dialog,", "'huse_dialog'"),
        ("streamed: [dstc7]", "streamed: [dstc8]", "bleu_neighbors.streamed names 'dstc8'"),
        ("- bleu_idf.char", "- bleu_idf.chars", "'bleu_idf.chars'"),
        ("models: [bleu, rouge]", "models: [bleu, rogue]", "'rogue'"),
    ],
)
def test_a_wrong_setting_stops_the_workflow(fresh: Project, old: str, new: str, named: str) -> None:
    config = fresh.path / "config/config.yaml"
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    assert named in fresh.snakemake("--dry-run", "all", ok=False)


def raw(project: Project) -> Path:
    return Path(project.mirror) / "huse/summarization_raw_outputs.csv"


@pytest.mark.drill
def test_a_wrong_file_in_the_mirror_is_refused(fresh: Project) -> None:
    raw(fresh).write_bytes(raw(fresh).read_bytes() + b"x")
    output = fresh.snakemake("results/verified/huse/summarization_raw_outputs.csv.json", ok=False)
    assert "sha256" in output
    assert "What to do:" in output
    assert not (fresh.path / "resources/data/huse/summarization_raw_outputs.csv").exists()


@pytest.mark.drill
def test_a_truncated_file_placed_by_hand_is_refused(fresh: Project) -> None:
    target = fresh.path / "resources/data/huse/summarization_raw_outputs.csv"
    target.parent.mkdir(parents=True)
    target.write_bytes(raw(fresh).read_bytes()[:-100])
    output = fresh.snakemake("bleu_neighbors_table1", ok=False)
    assert "is not huse/summarization_raw_outputs.csv: sha256" in output
    assert not (fresh.path / "results/tables").exists()


def damage(project: Project) -> int:
    """Put an unknown label into the mirrored file; the line where it stands."""
    from tests.workflow import small_data

    with open(raw(project), newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle))
    rows[7][rows[0].index("Answer.2")] = "Splendid"
    with open(raw(project), "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, quoting=csv.QUOTE_ALL).writerows(rows)
    small_data.register(project.path, {"huse/summarization_raw_outputs.csv": raw(project)})
    return 8


@pytest.mark.drill
def test_a_malformed_row_is_an_error_that_names_it(fresh: Project) -> None:
    line = damage(fresh)
    output = fresh.snakemake("results/ratings/huse_summarization/texts.csv", ok=False)
    assert f"summarization_raw_outputs.csv:{line}: " in output
    assert "Splendid" in output
    assert "malformed_rows: skip" in output
    assert not (fresh.path / "results/ratings/huse_summarization/texts.csv").exists()


@pytest.mark.drill
def test_malformed_rows_can_be_skipped_and_are_listed_and_counted(fresh: Project) -> None:
    line = damage(fresh)
    fresh.snakemake("bleu_neighbors_table1", "--config", "malformed_rows=skip")
    table = (fresh.path / "results/tables/bleu_neighbors_table1.md").read_text()
    assert "- huse_summarization: 1 malformed row of the raw files skipped" in table
    assert "huse_dialogue: 1 malformed" not in table
    listed = (fresh.path / "results/ratings/huse_summarization/malformed.txt").read_text()
    assert listed.count("\n") == 1
    assert f":{line}: " in listed


@pytest.mark.drill
def test_without_data_and_network_the_error_says_what_to_do(fresh: Project) -> None:
    fresh.mirror = ""
    output = fresh.snakemake("bleu_neighbors_table1", "--config", "network=False", ok=False)
    assert "huse/summarization_raw_outputs.csv: could not be had" in output
    assert "REFLESS_MIRROR" in output
    assert "resources/manual/huse/summarization_raw_outputs.csv" in output
