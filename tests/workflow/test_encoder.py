"""BERTScore in the workflow: an encoder in the mirror, a missing one, a wrong one.

The encoder is a random one of two layers; where torch is not installed, what is missing is said.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from refless.store.kernel_files import read_kernel
from refless.store.numbers import read_numbers

from refless.kernels import kernel
from refless.store.tables import read_table
from tests.conftest import Project, copy_project, small_project
from tests.kernels.test_bertscore import TORCH, bert_folder, fake_model
from tests.serving import serving

pytestmark = pytest.mark.workflow

KERNEL = "bertscore.refless-tiny"
EMBEDDING = "embedding.refless-tiny"
FILE = f"results/kernels/huse_dialogue/{KERNEL}.npz"


def model_of(project: Project) -> Path:
    return Path(project.mirror) / "models/refless-tiny"


def cells(project: Project, task: str = "huse_dialogue") -> pd.DataFrame:
    table = pd.read_csv(project.path / "results/tables/bleu_neighbors_table1.csv")
    return table[(table["model"] == "bertscore") & (table["task"] == task)]


@pytest.fixture(scope="module")
def with_model(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Table 1 with the encoder in the mirror; a second kernel has no encoder, a task is skipped."""
    if TORCH:
        pytest.skip(TORCH)
    project = small_project(tmp_path_factory.mktemp("encoder"))
    bert_folder(model_of(project))
    config = project.path / "config/config.yaml"
    text = config.read_text()
    text = text.replace(f"kernels: [{KERNEL}]", f"kernels: [{KERNEL}, bertscore.roberta-large]")
    text = text.replace("skip_tasks: [dstc7]", "skip_tasks: [huse_summarization]")
    # the first: that of RNN-QE, which has no encoder, comes later
    text = text.replace("models: [bleu, rouge]\n", "models: [bleu, bertscore]\n", 1)
    text = text.replace("      - bleu_idf.word\n", f"      - {EMBEDDING}\n")
    config.write_text(text)
    project.snakemake("bleu_neighbors_table1")
    return project


def test_the_encoder_of_the_mirror_is_fetched_and_used(with_model: Project) -> None:
    folder = with_model.path / "resources/data/models/refless-tiny"
    assert set(json.loads((folder / "sums.json").read_text())) >= {"model.safetensors"}
    matrix, signature = read_kernel(with_model.path / FILE)
    path = with_model.path / "results/ratings/huse_dialogue/texts.csv"
    texts = read_table(path)["text"].tolist()
    np.testing.assert_allclose(
        matrix, kernel(KERNEL, texts, texts, model=folder, layer=2, device="cpu"), atol=1e-5
    )
    assert signature["options"] == {"layer": 2}
    row = cells(with_model).iloc[0]
    assert (row["kernel"], row["provenance"]) == (KERNEL, "computed")
    assert "refless-tiny (layer 2) has a scale of its own, and tau is 0.9 on it" in row["note"]
    assert with_model.planned("bleu_neighbors_table1") == {}


def test_the_other_rows_say_what_is_missing(with_model: Project) -> None:
    other = cells(with_model).set_index("kernel").loc["bertscore.roberta-large"]
    assert "the encoder roberta-large is not at hand" in other["note"]
    assert np.isnan(other["mse"])
    skipped = cells(with_model, "huse_summarization")
    assert skipped["note"].str.contains("skip_tasks").all()


def test_other_tables_are_computed_with_the_verified_encoder(with_model: Project) -> None:
    names = ["section53", "pareto", "ablation"]
    with_model.snakemake(*(f"bleu_neighbors_{name}" for name in names))
    section53, pareto, ablation = (
        pd.read_csv(
            with_model.path / f"results/tables/bleu_neighbors_{name}.csv",
            dtype=str,
            keep_default_na=False,
        )
        for name in names
    )
    row = section53[section53["model"] == "bertscore"].set_index("task").loc["huse_dialogue"]
    table1 = cells(with_model).iloc[0]
    assert (row["kernel"], row["provenance"]) == (KERNEL, "computed")
    assert row["note"].startswith("a stand-in")
    assert int(row["n_covered"]) == table1["n_covered"]
    rows = pareto[(pareto["model"] == "bertscore") & (pareto["rule"].isin(["", "default"]))]
    rows = rows.set_index("task")
    assert float(rows.loc["huse_dialogue", "tau"]) == 0.9
    assert float(rows.loc["huse_dialogue", "coverage"]) == pytest.approx(table1["coverage"])
    assert "skip_tasks" in rows.loc["huse_summarization", "note"]
    own = ablation[ablation["variant"] == EMBEDDING].set_index("task")
    assert own.loc["huse_dialogue", "provenance"] == "computed"
    verified = with_model.path / "results/verified/models/refless-tiny.json"
    for path in (f"pareto/huse_dialogue/{KERNEL}", f"ablation/huse_dialogue/{EMBEDDING}"):
        _, about = read_numbers(with_model.path / f"results/{path}.npz")
        sums = json.loads(verified.read_text())["resources"]
        assert about["signatures"][-1]["resources"] == sums
    assert with_model.planned(*(f"bleu_neighbors_{name}" for name in names)) == {}


def test_a_changed_option_computes_that_kernel_again(with_model: Project) -> None:
    config = with_model.path / "config/config.yaml"
    text = config.read_text()
    config.write_text(text.replace("{layer: 2}", "{layer: 1}"))
    try:
        assert with_model.planned("bleu_neighbors_table1") == {
            "compute_bertscore_refless_tiny_kernels": 1,
            "sum_bertscore_refless_tiny_neighbors": 1,
            "predict_neighbors": 2,
            "tabulate_bleu_neighbors_table1": 1,
            "bleu_neighbors_table1": 1,
        }
    finally:
        config.write_text(text)


def test_other_weights_than_those_that_were_fetched_are_refused(with_model: Project) -> None:
    folder = with_model.path / "resources/data/models/refless-tiny"
    before = folder / "vocab.txt" if (folder / "vocab.txt").is_file() else folder / "config.json"
    content = before.read_bytes()
    before.write_bytes(content + b"\n")
    try:
        output = with_model.snakemake(FILE, "--force", ok=False)
        assert "are not those that were verified" in output
        output = with_model.snakemake(
            "results/verified/models/refless-tiny.json", "--force", ok=False
        )
        assert "is not the file that was fetched" in output
    finally:
        before.write_bytes(content)


def test_without_its_encoder_the_table_builds_and_says_why(small: Project) -> None:
    row = cells(small).iloc[0]
    assert np.isnan(row["mse"])
    wanted = f"{KERNEL} needs torch" if TORCH else "the encoder refless-tiny is not at hand"
    assert row["note"].startswith(f"not available: {wanted}")


def test_who_asks_for_the_kernel_alone_gets_an_error(fresh: Project) -> None:
    output = fresh.snakemake(FILE, "--config", "network=False", ok=False)
    assert "the encoder could not be had" in output
    assert "resources/manual/models/refless-tiny" in output
    assert not (fresh.path / "resources/data/models/refless-tiny").exists()


def test_a_wrong_encoder_leaves_the_table_whole(with_model: Project) -> None:
    fake_model(model_of(with_model).parent / "roberta-large")
    with_model.snakemake("bleu_neighbors_table1")
    other = cells(with_model).set_index("kernel").loc["bertscore.roberta-large"]
    assert "the folder given for roberta-large does not hold it" in other["note"]
    assert cells(with_model).iloc[0]["provenance"] == "computed"
    alone = f"results/kernels/huse_dialogue/{other.name}.npz"
    assert "is not the encoder roberta-large" in with_model.snakemake(alone, ok=False)


def test_fetch_brings_the_encoder_that_is_at_hand(fresh: Project) -> None:
    assert "fetch_encoder" not in fresh.planned("fetch", "--config", "network=False")
    fake_model(model_of(fresh))
    assert fresh.planned("fetch", "--config", "network=False")["fetch_encoder"] == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{layer: 2}", "{layers: 2}", "refless-tiny.layers is no setting; known are: model, layer"),
        ("{layer: 2}", "{rescale: false}", "of which layer of the model does bertscore.refless"),
        ("{layer: 2}", "{layer: 2}, bertscore.tiny: {}", "has options for 'bertscore.tiny'"),
        ("skip_tasks: [dstc7]", "skip_tasks: [dstc]", "skip_tasks names 'dstc'"),
        ("draws: 2000", "draws: 10", "bootstrap.draws is 10; it must be at least 1000"),
    ],
)
def test_a_wrong_setting_is_one_readable_line(
    fresh: Project, old: str, new: str, said: str
) -> None:
    config = fresh.path / "config/config.yaml"
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    output = fresh.snakemake("--dry-run", "all", ok=False)
    assert [line for line in output.splitlines() if line.startswith("config: ") and said in line]
    assert len(output.splitlines()) < 15, output


def test_the_report_has_the_settings_of_the_run_around_it(small: Project) -> None:
    """The run inside the report's job plans with the outer run's settings, whatever gave them."""
    settings = yaml.safe_load((small.path / "config/config.yaml").read_text())
    for draws, wanted in ((2000, set()), (1500, {"tabulate_bleu_neighbors_table1"})):
        settings["bleu_neighbors"]["bootstrap"]["draws"] = draws
        inner = {"REFLESS_NESTED": "1", "REFLESS_CONFIG": json.dumps(settings)}
        planned = small.planned("bleu_neighbors_table1", **inner)
        assert set(planned) - {"bleu_neighbors_table1"} == wanted


def test_a_mirror_behind_a_url_may_have_what_has_no_public_address(
    small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    project = copy_project(tmp_path / "project")
    with serving(Path(small.mirror)) as project.mirror:
        planned = project.planned("bleu_neighbors_table1", "--config", "network=False")
        # summarization, dialogue and chit-chat; no generation
        assert planned["normalize_ratings"] == 3
        auto = project.planned("bleu_neighbors_table1", "--config", "numbers=auto")
        assert auto["normalize_ratings"] == 2
