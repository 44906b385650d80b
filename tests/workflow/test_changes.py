"""What a change rebuilds, what it leaves alone, and that it does not matter how jobs are cut."""

from __future__ import annotations

import os
import re

import pytest

from tests.conftest import Project

KERNELS = [f"results/kernels/{task}/bleu.char.npz" for task in ("mine", "dstc7")]
SHARDED = ["--set-scatter", "kernel=2", "--"]

# What is edited, how, the target; jobs that must be planned with their number, and jobs that must
# not.
EDITS = [
    pytest.param(
        "workflow/refless/kernels/rouge_l.py",
        "\nCHANGED = 1\n",
        "all",
        {"compute_kernel": 3, "predict_neighbors": 3, "tabulate_bleu_neighbors_table1": 1},
        {"normalize_ratings", "compute_data_size_curve", "predict_essays", "score_delta_bleu"},
        id="kernel",
    ),
    pytest.param(
        "workflow/refless/models/delta_bleu.py",
        "\nCHANGED = 1\n",
        "all",
        {"score_delta_bleu": 2, "tabulate_delta_bleu_table2": 1},
        {"compute_kernel", "predict_neighbors", "predict_essays"},
        id="model",
    ),
    pytest.param(
        "workflow/refless/data/sources/usr.py",
        "\nCHANGED = 1\n",
        "all",
        {"normalize_ratings": 1, "score_delta_bleu": 1},
        {"fetch_source", "compute_kernel", "predict_essays"},
        id="loader",
    ),
    pytest.param(
        "workflow/scripts/plot_bleu_neighbors_figure4.py",
        "\nCHANGED = 1\n",
        "bleu_neighbors",
        {"plot_bleu_neighbors_figure4": 1},
        {"compute_data_size_curve", "plot_bleu_neighbors_thresholds"},
        id="figure script",
    ),
    pytest.param(
        "workflow/refless/kernels/rouge_l.py",
        "\n# a comment\n",
        "all",
        {},
        {"compute_kernel", "predict_neighbors", "tabulate_bleu_neighbors_table1"},
        id="comment",
    ),
]


@pytest.mark.parametrize(("path", "more", "target", "again", "kept"), EDITS)
def test_an_edited_module_rebuilds_what_hangs_on_it(
    changed: Project, path: str, more: str, target: str, again: dict[str, int], kept: set[str]
) -> None:
    changed.own_modules()
    with open(changed.path / path, "a", encoding="utf-8") as handle:
        handle.write(more)
    planned = changed.planned(target)
    assert {name: planned.get(name) for name in again} == again
    assert kept & set(planned) == set()
    if not again:
        assert planned == {}


SETTINGS = [
    pytest.param(
        "seed: 2015",
        "seed: 2014",
        {
            *("score_delta_bleu", "tabulate_delta_bleu_table2", "plot_delta_bleu_figure2"),
            *("tabulate_reproducibility", "plot_reproducibility_cells", "tabulate_claims"),
            "make_report",
        },
        id="seed",
    ),
]


@pytest.mark.parametrize(("old", "new", "again"), SETTINGS)
def test_a_changed_setting_rebuilds_what_hangs_on_it(
    changed: Project, old: str, new: str, again: set[str]
) -> None:
    changed.configure(old, new)
    planned = set(changed.planned("all"))
    # the plots of a paper may come with their tables
    assert again <= planned
    assert {name for name in planned - again if not name.startswith("plot_")} == set()


@pytest.mark.parametrize(
    "kernels", ["[bleu.char], taus: {bleu.char: 0.1}", "[bleu.word, bleu.char]"]
)
def test_what_hangs_on_the_published_kernel_is_made_again(changed: Project, kernels: str) -> None:
    changed.configure("kernels: [bleu.char]}", f"kernels: {kernels}}}")
    planned = set(changed.planned("bleu_neighbors"))
    assert {
        *("predict_neighbors", "compute_data_size_curve"),
        *("estimate_cross_task", "plot_bleu_neighbors_figure4"),
    } <= planned


def test_shards_are_the_unsharded_kernel_and_nothing_hangs_on_their_number(
    changed: Project,
) -> None:
    assert changed.planned(*SHARDED, "kernels") == {}
    before = {path: (changed.path / path).read_bytes() for path in KERNELS}
    for path in KERNELS:
        (changed.path / path).unlink()
    output = changed.snakemake(*SHARDED, *KERNELS)
    assert len(re.findall(r"(?m)^(?:local)?rule compute_shard:", output)) == 4
    assert {path: (changed.path / path).read_bytes() for path in KERNELS} == before
    assert not list((changed.path / "results/shards").rglob("*.*"))
    # what hangs on them is made again for a time, not for a number of shards
    assert "compute_kernel" not in changed.planned("kernels")
    assert changed.planned(*KERNELS) == {}
    assert changed.planned(*SHARDED, *KERNELS) == {}


def test_a_jobs_plan_is_that_of_the_run_that_started_it(fresh: Project) -> None:
    """A cluster's node may reach neither the mirror nor the network."""
    target = "bleu_neighbors_table1"
    (fresh.path / "Told").write_text(
        'include: "Snakefile"\nprint(os.environ["REFLESS_PLAN"], file=open("plan.json", "w"))\n',
        encoding="utf-8",
    )
    fresh.configure("\ndata:\n", "\nnumbers: auto\nnetwork: false\ndata:\n")
    wanted = fresh.planned("--snakefile", "Told", target)
    assert wanted["normalize_ratings"] == 3
    told = (fresh.path / "plan.json").read_text(encoding="utf-8").strip()
    fresh.mirror = ""
    assert fresh.planned("--mode", "remote", "--", target, REFLESS_PLAN=told) == wanted
    assert fresh.planned(target)["normalize_ratings"] == 1  # a user's own file


@pytest.mark.slow
def test_the_same_bytes_again_and_elsewhere(small: Project, changed: Project) -> None:
    """Once more in place; then with one thread a job, two shards a kernel, and from nothing.

    Also another path (with a blank and an umlaut), order of jobs, language, time zone and seed of
    Python's hashes.
    """
    before = small.contents()
    changed.snakemake("bleu_neighbors", "delta_bleu", "rnn_qe", "--forceall")
    again = changed.contents()
    assert [path for path in before if again.get(path) != before[path]] == []

    elsewhere = changed.copy(changed.path.parent / "einen längeren Weg entlang")
    for name in ("results", ".snakemake"):
        os.rename(elsewhere.path / name, changed.path.parent / f"old{name}")
    tables = [path for path in before if path.startswith("results/tables/")]
    elsewhere.snakemake(
        *("--max-threads", "1", *SHARDED, *tables),
        LC_ALL="C",
        TZ="Asia/Kathmandu",
        PYTHONHASHSEED="7",
    )
    there = elsewhere.contents()
    assert set(tables) <= set(there)
    assert [path for path, content in there.items() if before[path] != content] == []
