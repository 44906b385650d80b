"""What a run refuses: wrong settings, wrong raw files, and results that are not what they seem.

Each with a message that names the file or setting, and without a traceback. Never other numbers.
"""

from __future__ import annotations

import csv
import os
import shutil
import time
from pathlib import Path

from tests.conftest import Project
from tests.workflow import small_data

SUMMARIES = "huse/summarization_raw_outputs.csv"
RATINGS = "results/ratings/huse_summarization/ratings.csv"


def refused(project: Project, *arguments: str) -> str:
    """The whole output of a run that must fail: one message for users, no traceback."""
    output = project.snakemake(*arguments, ok=False)
    assert "Traceback" not in output
    return output


# ---- settings ------------------------------------------------------------------------------------


def test_a_wrong_setting_is_one_line(fresh: Project) -> None:
    """Which ones are wrong is tested without Snakemake, in tests/test_settings.py."""
    fresh.configure("  min_neighbors: 5\n  max_share: 0.66", "  min_neighbours: 5\n  max_share: 1")
    output = refused(fresh, "--dry-run", "all")
    assert "config: bleu_neighbors.min_neighb" in output
    assert "bleu_neighbors.min_neighbours" in output
    assert len(output.splitlines()) < 15, output


# ---- raw files -----------------------------------------------------------------------------------


def test_wrong_raw_files_are_refused_and_nothing_is_left(fresh: Project) -> None:
    """In the mirror, or placed by hand; and what cannot be had at all says what to do."""
    mirrored = Path(fresh.mirror) / SUMMARIES
    right = mirrored.read_bytes()
    mirrored.write_bytes(right + b"x")
    essays = fresh.path / "resources/data/asap-sas/train_rel_2.tsv"
    essays.parent.mkdir(parents=True)
    essays.write_bytes((Path(fresh.mirror) / "asap-sas/train_rel_2.tsv").read_bytes()[:-100])
    output = refused(
        fresh,
        *("--keep-going", "--config", "network=False", "--"),
        *(f"results/ratings/{task}/texts.csv" for task in ("huse_summarization", "asap_sas")),
        "results/ratings/huse_generation/texts.csv",
    )
    assert f"{SUMMARIES}: could not be had" in output
    assert "is not asap-sas/train_rel_2.tsv: sha256" in output
    assert "huse/lm_results.csv: could not be had" in output
    assert "REFLESS_MIRROR" in output
    assert "resources/manual/huse/lm_results.csv" in output
    assert not (fresh.path / "resources/data" / SUMMARIES).exists()
    assert not list((fresh.path / "results/ratings").rglob("*.csv"))


def test_a_raw_file_exchanged_for_another_is_refused_where_it_is_read(changed: Project) -> None:
    """Also with an older time, which is no change to Snakemake."""
    path = changed.path / "resources/data" / SUMMARIES
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Rare", b"Average", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns - 10**6))
    shutil.rmtree(changed.path / "results/ratings/huse_summarization")
    output = refused(changed, RATINGS)
    assert f"resources/data/{SUMMARIES}: is not {SUMMARIES}: sha256" in output
    assert not (changed.path / RATINGS).exists()


def test_a_file_of_the_future_is_refused(fresh: Project) -> None:
    """What is made from it would count as older than it, at once and in each run."""
    path = fresh.path / "mine.tsv"
    os.utime(path, (time.time() + 9999,) * 2)
    output = refused(fresh, "results/ratings/mine/texts.csv")
    assert "mine.tsv: is dated in the future" in output
    assert "touch mine.tsv" in output
    os.utime(path)
    assert fresh.planned("results/ratings/mine/texts.csv") == {"normalize_ratings": 1}


def test_what_a_user_placed_is_taken_whatever_its_time(fresh: Project) -> None:
    """Raw files that are older than the workflow, under their final name."""
    mirrored = Path(fresh.mirror) / "usr/tc_usr_data.json"
    path = fresh.path / "resources/data/usr/tc_usr_data.json"
    path.parent.mkdir(parents=True)
    shutil.copy(mirrored, path)
    os.utime(path, (10**9, 10**9))
    fresh.mirror = ""
    planned = fresh.planned("results/ratings/usr_topicalchat/texts.csv")
    assert planned == {"normalize_ratings": 1}


def test_a_malformed_row_is_named(fresh: Project) -> None:
    mirrored = Path(fresh.mirror) / SUMMARIES
    with open(mirrored, newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle))
    rows[7][rows[0].index("Answer.2")] = "Splendid"
    with open(mirrored, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, quoting=csv.QUOTE_ALL).writerows(rows)
    small_data.register(fresh.path, {SUMMARIES: mirrored})
    output = refused(fresh, RATINGS)
    assert "summarization_raw_outputs.csv:8: " in output
    assert "splendid" in output
    assert not (fresh.path / RATINGS).exists()


# ---- results -------------------------------------------------------------------------------------


def harm(project: Project, path: str, content: bytes) -> None:
    """Other bytes under a result's name and time, which Snakemake does not look at again."""
    times = (project.path / path).stat()
    (project.path / path).write_bytes(content)
    os.utime(project.path / path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_results_that_are_not_what_they_seem_are_refused_by_name(changed: Project) -> None:
    ratings, chat, summaries, other = (
        "results/ratings/mine/ratings.csv",
        "results/kernels/dstc7/bleu.char.npz",
        "results/kernels/huse_summarization/bleu.char.npz",
        "results/kernels/huse_summarization/rouge_l.stem.npz",
    )
    content = {path: (changed.path / path).read_bytes() for path in (ratings, chat, other)}
    harm(changed, ratings, content[ratings][: len(content[ratings]) // 2])
    harm(changed, chat, content[chat][:-200] + bytes(200))
    harm(changed, summaries, content[other])
    targets = [f"results/neighbors/{task}.csv" for task in ("mine", "dstc7", "huse_summarization")]
    for path in targets:
        (changed.path / path).unlink()
    # what a record tells is known before the first job
    output = refused(changed, "--keep-going", *targets)
    for path, fault in (
        (ratings, "is no whole signed file"),
        (chat, "is no whole signed file"),
        (summaries, "was made under other settings"),
    ):
        assert f"{path}: {fault}" in output
    assert "--forcerun compute_kernel normalize_ratings" in output
    assert [path for path in targets if (changed.path / path).exists()] == []
    (changed.path / summaries).unlink()
    (changed.path / ratings).write_bytes(content[ratings])
    # the content is seen by its reader alone
    first = content[chat].index(b"sums.npy") + 100
    harm(changed, chat, content[chat][:first] + bytes(8) + content[chat][first + 8 :])
    output = refused(changed, "--keep-going", *targets)
    assert f"{chat}: is no whole signed file" in output
    assert [path for path in targets if (changed.path / path).exists()] == targets[::2]


def test_an_edited_result_is_refused_and_made_again_when_it_is_deleted(changed: Project) -> None:
    path, table = "results/neighbors/mine.csv", "results/tables/bleu_neighbors_table1.csv"
    before = {name: (changed.path / name).read_bytes() for name in (path, table)}
    record, _, rows = before[path].partition(b"\n")
    harm(changed, path, record + b"\n" + rows.replace(b"0.", b"0.1", 1)[:-1] + b"1\n")
    (changed.path / table).unlink()
    assert f"error: {path}: is no whole signed file" in refused(changed, table)
    assert not (changed.path / table).exists()
    (changed.path / path).unlink()
    changed.snakemake(table)
    assert {name: (changed.path / name).read_bytes() for name in before} == before
