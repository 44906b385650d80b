"""Files changed, exchanged or deleted behind the back of a finished run: no other number comes out.

What one reader does is tested beside it (tests/store, tests/report, tests/data); here are the files
of a whole run, and what a user does next.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.task import rated_sums, read_task, text_sums
from refless.errors import ReflessError, StaleError
from refless.experiments.bleu_neighbors.curves import read_data_sizes
from refless.experiments.bleu_neighbors.essays import read_estimates
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.bleu_neighbors.table2 import read_pairs
from refless.experiments.delta_bleu.table2 import read_rows
from refless.store import signed
from refless.store.files import file_sum, list_sums
from tests.conftest import Project

KINDS = {
    *("texts", "ratings", "kernel", "sums", "predictions", "data size curve", "cross estimates"),
    *("essay estimates", "units", "rnn_qe outputs", "rnn_qe curve", "comparison"),
}
"""Of the files between stages; networks are not trained here."""
FLIPS = 24  # bits of each file of a run; every bit of small ones is tried in tests/store


def keep_time(path: Path, content: bytes) -> None:
    """Other bytes with the same times, which Snakemake does not look at again."""
    times = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def signed_files(project: Project) -> dict[str, Path]:
    """One file of each kind that lies between stages."""
    paths = [
        p for p in (project.path / "results").rglob("*") if p.suffix in (".csv", ".npz", ".gz")
    ]
    own = ("tables", "figures", "run", "benchmarks")
    paths = [
        p for p in sorted(paths) if p.relative_to(project.path / "results").parts[0] not in own
    ]
    return {signed.record_of(path)["kind"]: path for path in paths}


def test_flipped_bits_of_every_kind_of_file(small: Project, tmp_path: Path) -> None:
    files = signed_files(small)
    assert set(files) == KINDS
    draw, unclear = np.random.default_rng(13), 0
    for kind, path in files.items():
        raw = path.read_bytes()
        before = signed.read(path, kind)
        copy = tmp_path / path.name
        for bit in draw.integers(8 * len(raw), size=FLIPS):
            changed = bytearray(raw)
            changed[bit // 8] ^= 1 << bit % 8
            copy.write_bytes(changed)
            try:
                after = signed.read(copy, kind)
            except ReflessError as error:
                unclear += str(copy) not in str(error) or not error.remedy
                continue
            assert after.about == before.about
            if isinstance(after.content, pd.DataFrame):
                pd.testing.assert_frame_equal(after.content, before.content)
            else:
                for name, array in before.content.items():
                    np.testing.assert_array_equal(after.content[name], array)
    assert unclear == 0


READERS: dict[str, Callable[[Path, list[Path], dict[str, Any]], object]] = {
    "curves/dstc7/data_size.csv": lambda path, folders, _: read_data_sizes(
        [path], {"dstc7": {}}, folders
    ),
    "neighbors/mine.csv": lambda path, folders, settings: read_predicted(
        [folder for folder in folders if folder.name == "mine"], [path], settings["taus"]
    ),
    "cross_task/mine.dstc7.csv": lambda path, folders, settings: read_pairs(
        [path], {f.name: read_task(f) for f in folders}, settings["kernels"], 5, 0.66
    ),
    "essays/estimates.csv": lambda path, folders, _: read_estimates(
        path, text_sums([f for f in folders if f.name == "asap_sas"])
    ),
    "delta_bleu/usr_topicalchat/units.csv": lambda path, folders, settings: read_rows(
        path, {"usr_topicalchat": settings}, rated_sums(folders)
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_what_was_made_from_other_ratings_is_refused(
    small: Project, tmp_path: Path, name: str
) -> None:
    folders = sorted((small.path / "results/ratings").iterdir())
    own, other = small.path / "results" / name, tmp_path / name
    found = signed.read(own, signed.record_of(own)["kind"])
    READERS[name](own, folders, found.about["settings"])
    made_from = dict.fromkeys(found.about["made_from"], "0" * 64)
    signed.write(other, found.content, {**found.about, "made_from": made_from})
    with pytest.raises(StaleError, match="was made from other data"):
        READERS[name](other, folders, found.about["settings"])


def test_what_is_deleted_is_made_again(changed: Project) -> None:
    before = changed.contents()
    results = changed.path / "results"
    for path in ("neighbors/mine.csv", "tables/bleu_neighbors_table1.json"):
        (results / path).unlink()
    (results / "tables/reproducibility.csv").unlink()  # which reads table 1
    changed.snakemake("reproducibility")
    assert changed.contents() == before


def test_what_is_refused_is_mended_by_what_the_error_says(changed: Project) -> None:
    before = changed.contents()
    results = changed.path / "results"
    kernel = results / "kernels/mine/bleu.char.npz"
    table = results / "tables/bleu_neighbors_table3.csv"
    figure = results / "figures/bleu_neighbors_figure4.svg"
    keep_time(kernel, kernel.read_bytes()[:-50])
    keep_time(table, table.read_bytes().replace(b"0.", b"1.", 1))
    keep_time(figure, figure.read_bytes() + b" ")
    # the report is there, so that Snakemake misses nothing of what is deleted
    for path in ("neighbors/mine.csv", "tables/bleu_neighbors_table1.csv"):
        (results / path).unlink()
    named: set[str] = set()
    more = ["--keep-going", "--", "all"]
    asked: list[str] = []
    for _ in range(4):
        run = changed.start(*more)
        if run.returncode == 0:
            break
        assert "Traceback" not in run.stdout
        more = again(run.stdout)
        asked += more
        faults = r"^results/(?:\S+/)?(\S+): (?:(\S+) )?is no(?:t the file| whole)"
        named |= {inside or own for own, inside in re.findall(faults, run.stdout, re.M)}
    assert run.returncode == 0, run.stdout
    assert {kernel.name, figure.name} <= named
    # five faults are listed, and the table may not be among them
    assert "tabulate_bleu_neighbors_table3" in asked
    assert changed.contents() == before


def test_what_people_read_is_looked_at_though_nothing_reads_it(changed: Project) -> None:
    before = changed.contents()
    results = changed.path / "results"
    for path in (
        "tables/bleu_neighbors_table3.csv",
        "tables/bleu_neighbors_table3.md",
        "figures/bleu_neighbors_figure4.pdf",
        "report.html",
    ):
        raw = (results / path).read_bytes()
        keep_time(results / path, raw.replace(b"0", b"1", 1))
        said = changed.snakemake("all", ok=False)
        assert Path(path).name in said
        changed.snakemake(*again(said))
        assert (results / path).read_bytes() == raw
    assert changed.contents() == before


def test_a_run_builds_on_no_result_of_other_settings(changed: Project) -> None:
    own = changed.path / "mine.tsv"
    lines = own.read_text(encoding="utf-8").splitlines()
    turned = [re.sub(r"\t(\S+)$", lambda m: f"\t{6 - float(m[1]):g}", line) for line in lines[1:]]
    own.write_text("\n".join([lines[0], *turned]) + "\n", encoding="utf-8")
    said = changed.snakemake("--touch", "bleu_neighbors_table1")
    assert "none was made" in said
    assert "New in this run" not in said
    told = ("--forcerun", "tabulate_bleu_neighbors_table1", "--", "bleu_neighbors_table1")
    said = changed.snakemake(*told, ok=False)
    assert "results/ratings/mine/" in said
    # only these files tell of the other data: without them, what was made from the old ones stays
    for name in ("texts", "ratings"):
        (changed.path / f"results/ratings/mine/{name}.csv").unlink()
    said = changed.snakemake("bleu_neighbors_table1", ok=False)
    table = changed.path / "results/tables/bleu_neighbors_table1.csv"
    before = table.read_bytes()
    changed.snakemake(*again(said))
    assert table.read_bytes() != before


def again(said: str) -> list[str]:
    """What a remedy says to type behind `snakemake --cores 2`."""
    found = re.search(r"What to do: run again with --forcerun: (.*)", said)
    assert found, said
    typed = shlex.split(found[1])
    return typed[typed.index("--cores") + 2 :]


def test_a_remedy_keeps_the_settings_of_the_run(changed: Project) -> None:
    (changed.path / "own file.yaml").write_text("bleu_neighbors: {draws: 202}\n", encoding="utf-8")
    own = ("--configfile", "own file.yaml", "--", "bleu_neighbors_table1")
    changed.snakemake(*own)
    table = changed.path / "results/tables/bleu_neighbors_table1.csv"
    before = table.read_bytes()
    (changed.path / "results/neighbors/mine.csv").unlink()
    changed.snakemake(*again(changed.snakemake(*own, ok=False)))
    assert table.read_bytes() == before
    assert changed.planned(*own) == {}


def test_one_command_makes_all_that_is_of_other_settings(changed: Project) -> None:
    changed.configure("  draws: 200\n", "  draws: 201\n")
    targets = ("--", "bleu_neighbors_table1", "bleu_neighbors_table3")
    changed.snakemake("--touch", *targets[1:])
    typed = again(changed.snakemake("--touch", *targets, ok=False))  # of no use in the remedy
    assert {"tabulate_bleu_neighbors_table1", "tabulate_bleu_neighbors_table3"} <= {*typed}
    changed.snakemake(*typed)
    assert changed.planned(*targets) == {}


def test_published_numbers_with_an_older_time_are_read_again(changed: Project) -> None:
    published = changed.path / "resources/published"
    kept = published.resolve()
    published.unlink()
    shutil.copytree(kept, published)
    assert changed.planned("bleu_neighbors_table1") == {}
    path = published / "bleu_neighbors_table1.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("0.325", "0.777"), encoding="utf-8")
    list_sums(published, ".csv")
    for each in (path, published / "SHA256SUMS"):
        os.utime(each, (10**9, 10**9))
    assert changed.planned("bleu_neighbors_table1")["tabulate_bleu_neighbors_table1"] == 1


@pytest.mark.parametrize("known", [True, False])
def test_a_raw_file_of_a_new_release_is_read_again(changed: Project, known: bool) -> None:
    sources = changed.path / "resources/sources.csv"
    path = changed.path / "resources/data/usr/tc_usr_data.json"
    target = "results/ratings/usr_topicalchat/texts.csv"
    if not known:  # as of a batch that has no address
        listed = sources.read_text(encoding="utf-8")
        sources.write_text(listed.replace(file_sum(path), ""), encoding="utf-8")
        changed.mirror = ""  # which would have another one than lies here
        changed.snakemake(target)
    assert changed.planned(target) == {}
    before = file_sum(path)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    listed = sources.read_text(encoding="utf-8").replace(before, file_sum(path))
    sources.write_text(listed, encoding="utf-8")
    for each in (path, sources):
        os.utime(each, (10**9, 10**9))
    assert changed.planned(target)["normalize_ratings"] == 1


def test_nothing_to_be_done_holds_for_todays_settings(changed: Project) -> None:
    target = ("--", "bleu_neighbors_table1")
    other = "was made under other settings"
    assert "Nothing to be done" in changed.snakemake(*target)
    changed.configure("max_share: 0.66", "max_share: 0.6")
    assert other in changed.snakemake("--rerun-triggers", "mtime", *target, ok=False)
    profile = changed.path / "blind/config.yaml"
    profile.parent.mkdir()
    profile.write_text("rerun-triggers: [mtime]\n", encoding="utf-8")
    assert other in changed.snakemake("--workflow-profile", "blind", *target, ok=False)
    tables, kept = changed.path / "results/tables", changed.path / "kept"
    shutil.copytree(tables, kept)
    changed.snakemake(*target)
    for path in kept.iterdir():
        shutil.copyfile(path, tables / path.name)
    assert other in changed.snakemake(*target, ok=False)
    shutil.rmtree(tables)
    changed.snakemake(*target)
    shutil.move(changed.path / ".snakemake", changed.path / "elsewhere")
    assert "Nothing to be done" in changed.snakemake(*target)
    # of these the table itself is told nothing
    own = changed.path / "mine.tsv"
    content = own.read_text(encoding="utf-8")
    row = content.split("\n")[1]
    own.write_text(content.replace(row, row.replace("\t", "!\t", 1)), encoding="utf-8")
    os.utime(own, (10**9, 10**9))
    assert other in changed.snakemake(*target, ok=False)
    own.write_text(content, encoding="utf-8")
    os.utime(own, (10**9, 10**9))
    assert "Nothing to be done" in changed.snakemake(*target)


def test_shipped_numbers_in_use_are_those_of_today(quick: Project, tmp_path: Path) -> None:
    project = quick.copy(tmp_path / "project")
    path = project.path / "results/essays/estimates.csv"
    before = path.read_bytes()
    keep_time(path, before.replace(b"0.4", b"0.5"))
    shutil.rmtree(project.path / ".snakemake")
    own = ("--config", "network=False", "numbers=auto", "--", "bleu_neighbors_table3")
    said = project.snakemake(*own, ok=False)
    assert "estimates.csv: is another file than" in said
    project.snakemake(*again(said))
    assert path.read_bytes() == before
    assert project.planned(*own) == {}


def test_what_is_omitted_was_not_looked_at(changed: Project) -> None:
    own = changed.path / "mine.tsv"
    content = own.read_text(encoding="utf-8")
    own.write_text(content.replace("\t", "!\t"), encoding="utf-8")
    (changed.path / "results/tables/bleu_neighbors_table1.csv").unlink()
    allowed = ("tabulate_bleu_neighbors_table1", "bleu_neighbors_table1")
    said = changed.snakemake("--allowed-rules", *allowed, "--", "bleu_neighbors_table1")
    assert "--allowed-rules" in said
    assert "not looked at" in said
    own.write_text(content, encoding="utf-8")
    changed.configure("max_share: 0.66", "max_share: 0.6")
    said = changed.snakemake("--omit-from", "predict_neighbors", "--", "bleu_neighbors_table1")
    assert "--omit-from" in said
    assert "not looked at" in said
    said = changed.snakemake("--until", "predict_neighbors", "--", "bleu_neighbors_table1")
    assert "--until" in said
    assert "not looked at" in said


def test_an_own_file_with_an_older_time_is_read_again(changed: Project) -> None:
    path = changed.path / "mine.tsv"
    assert changed.planned("all") == {}
    content = path.read_text(encoding="utf-8")
    row = content.split("\n")[1]
    path.write_text(content.replace(row, row.replace("\t", "!\t", 1)), encoding="utf-8")
    os.utime(path, (10**9, 10**9))
    planned = changed.planned("bleu_neighbors_table1")
    assert planned["normalize_ratings"] == 1
    assert planned["predict_neighbors"] >= 1


def test_a_data_set_without_ratings_is_refused_where_they_are_needed(changed: Project) -> None:
    entry = "files: {path: bagel/ACL10-inform-training.txt}\n    experiments:\n"
    changed.configure(entry, f"{entry}      bleu_neighbors: {{}}\n")
    output = changed.snakemake("results/neighbors/bagel.csv", ok=False)
    assert "no text of bagel is rated, and bleu_neighbors needs ratings" in output
    assert "Traceback" not in output
    assert not (changed.path / "results/neighbors/bagel.csv").exists()


def test_another_loader_has_an_effect(changed: Project) -> None:
    changed.configure("    loader: nem\n", "    loader: usr\n")
    output = changed.snakemake("results/ratings/nem/texts.csv", ok=False)
    assert "emnlp_data_medians.csv" in output
    assert "Traceback" not in output


def test_a_misspelt_mirror_is_said_at_the_end(changed: Project) -> None:
    changed.mirror += "s"
    shutil.rmtree(changed.path / "resources/data/usr")
    (changed.path / "results/tables/reproducibility.csv").unlink()
    output = changed.snakemake("reproducibility", "--config", "numbers=auto")
    last = output[output.index("refless: done") :]
    assert f"The mirror {changed.mirror} has none of the raw files" in last
    (computed,) = re.findall(r"From the raw data: (.*)\.", last)
    assert "huse_summarization" in computed
    assert "usr_topicalchat" not in computed
