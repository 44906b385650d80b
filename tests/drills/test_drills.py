"""Harm done to a finished small run: the same bytes in the end or a refusal, and nothing
half-written. What one reader or one download does is tested beside it (tests/store, tests/data)."""

import ctypes
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from refless.store import sealed
from tests.conftest import OFFLINE, Project
from tests.workflow import small_data

SABOTEUR = str(Path(__file__).parent / "saboteur")
TASK = "huse_summarization"
RATINGS = f"results/ratings/{TASK}/texts.csv"
KERNEL = f"results/kernels/{TASK}/bleu.char/1of1.npy"
SUMMARIES = "huse/summarization_raw_outputs.csv"


def sabotaged(project: Project, script: str, deed: str, *targets: str) -> str:
    """A run in which the first job of ``script`` meets its fate (see `saboteur`); its output."""
    done = project.path / "drill.done"
    told = {"DRILL_SCRIPT": script, "DRILL_DEED": deed, "DRILL_DONE": str(done)}
    result = project.start(*targets, PYTHONPATH=SABOTEUR, **told)
    assert done.exists(), f"the drill did not happen:\n{result.stdout}"
    assert result.returncode != 0, result.stdout
    return result.stdout


def assert_nothing_half_written(project: Project, before: dict[str, bytes]) -> None:
    """What is there under a final name is what belongs there."""
    for path, content in project.contents().items():
        assert ".partial" in path or content == before[path], path


def keep_time(path: Path, content: bytes) -> None:
    """Write other bytes with the same times, which Snakemake does not look at again."""
    times = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["power", "kill", "terminate", "orphan"])
def test_a_killed_run_goes_on_to_the_same_bytes(changed, deed):
    before = changed.contents()
    (changed.path / KERNEL).unlink()
    sabotaged(changed, "compute_kernel.py", deed, KERNEL)
    assert_nothing_half_written(changed, before)
    first = changed.start(KERNEL)
    if first.returncode:
        assert "--unlock" in first.stdout
        changed.snakemake("--unlock")
        changed.snakemake(KERNEL)
    assert_nothing_half_written(changed, before)
    assert (changed.path / KERNEL).read_bytes() == before[KERNEL]


@pytest.mark.slow
def test_a_full_disk_is_named_and_leaves_nothing(changed):
    before = changed.contents()
    (changed.path / KERNEL).unlink()
    output = sabotaged(changed, "compute_kernel.py", "full", KERNEL)
    assert "No space left on device" in output
    assert "make room" in output
    assert "Traceback" not in output
    assert not list(changed.path.rglob("*.partial*"))
    assert_nothing_half_written(changed, before)


def forgo_privilege() -> None:
    """Root may write everywhere; without these capabilities it may not (prctl, PR_CAPBSET_DROP)."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if prctl(24, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "capabilities cannot be dropped here")


@pytest.mark.parametrize("folder", ["results/tables", ".", ".snakemake"])
def test_an_unwritable_folder_is_named(changed, folder):
    try:
        subprocess.run(["true"], preexec_fn=forgo_privilege, check=True)
    except subprocess.SubprocessError:
        pytest.skip("root may write everywhere, and may not forgo it here")
    for path in (changed.path / "results/tables").glob("bleu_neighbors_table3.*"):
        path.unlink()  # else it is Snakemake that fails to
    if folder == ".":
        shutil.rmtree(changed.path / ".snakemake")
    place = changed.path / folder
    place.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        result = changed.start("bleu_neighbors_table3", preexec_fn=forgo_privilege)
    finally:
        place.chmod(stat.S_IRWXU)
    assert result.returncode != 0, result.stdout
    assert "writable" in result.stdout or "cannot write here" in result.stdout
    assert "Permission denied" in result.stdout
    assert "Traceback" not in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["both", "no record"])
def test_what_is_refused_is_mended_by_what_the_error_says(changed, harm):
    """Another kernel's file and record (one of the two alone: tests/store), or no record."""
    target, path = f"results/neighbors/{TASK}/bleu.char.csv", changed.path / KERNEL
    other = path.parents[1] / "rouge_l.stem/1of1.npy"
    before = changed.contents()
    if harm == "both":
        for of in (Path, sealed.record_path):
            keep_time(of(path), of(other).read_bytes())
    else:
        sealed.record_path(path).unlink()
    (changed.path / target).unlink()
    output = changed.snakemake(target, ok=False)
    assert KERNEL in output
    assert "delete it and run again" in output
    assert "Traceback" not in output
    assert not (changed.path / target).exists()
    path.unlink()
    changed.snakemake(target)
    assert changed.contents() == before


@pytest.mark.slow
def test_an_exchanged_raw_file_is_refused_or_read_again(changed):
    """One with a published sum is refused; a user's own is another file, whatever its time."""
    placed = changed.path / "resources/manual" / SUMMARIES
    own = changed.path / "mine.tsv"
    for path in (placed, own):
        keep_time(path, path.read_bytes().replace(b"Rare", b"Average", 1) + b"\n")
    mine = "results/ratings/mine/texts.csv"
    assert changed.planned(mine) == {"normalize_ratings": 1}
    shutil.rmtree((changed.path / RATINGS).parent)
    said = changed.snakemake(RATINGS, ok=False)
    assert f"is not {SUMMARIES}: sha256" in said
    assert not (changed.path / RATINGS).exists()
    # a new release: with its sum in the table of sources, it is read
    small_data.register(changed.path, {SUMMARIES: placed})
    changed.snakemake(RATINGS)
    assert (changed.path / RATINGS).exists()


def test_a_dead_mirror_is_named_and_leaves_nothing(fresh):
    fresh.mirror = "http://127.0.0.1:9"
    said = fresh.snakemake(*OFFLINE, "--", "results/ratings/nem/texts.csv", ok=False)
    assert "http://127.0.0.1:9/nem/emnlp_data_medians.csv" in said
    assert "resources/manual/nem/emnlp_data_medians.csv" in said
    assert "Traceback" not in said
    assert not list((fresh.path / "resources").rglob("emnlp*"))


def test_without_a_network_one_line_names_all_that_is_not_there(fresh):
    """And that `make` needs none; what one job has to say, its log says once."""
    fresh.mirror = "http://127.0.0.1:9"
    said = fresh.snakemake(*OFFLINE, "--", "rnn_qe", ok=False)
    (line,) = re.findall(r".* were not fetched: (.*)", said)
    assert len(line.split(", ")) == 8
    assert "nem/emnlp_data_medians.csv" in line
    assert "`make`" in said
    failed = re.findall(r"failed: fetch_source", said)
    assert said.count("could not be had") == len(failed)


def test_a_run_that_fails_before_its_jobs_has_no_lines_of_success(changed):
    """All that it would make is there, but conda is not."""
    item = "bleu_neighbors_figure3"
    told = ["--forcerun", item, "--sdm", "conda", "--conda-prefix", "conda", "--", item]
    if shutil.which("conda", path=(system := "/usr/bin:/bin")):
        pytest.skip("conda is installed for all")
    said = changed.snakemake(*told, ok=False, PATH=system)
    assert "conda" in said
    assert "\nfigures " not in said
    assert "\nfigures " in changed.snakemake("--forcerun", item, "--", item)


def test_a_wrong_setting_is_one_message(fresh):
    fresh.change("  min_neighbors: 5\n", "  min_neighbours: 5\n")
    said = fresh.snakemake("--dry-run", "all", ok=False)
    assert "bleu_neighbors.min_neighbours" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) < 15


def test_a_file_of_ones_own_that_is_not_there_stops_a_run_before_it_begins(fresh):
    (fresh.path / "mine.tsv").unlink()
    said = fresh.snakemake("all", ok=False)
    assert "data.mine.files.path" in said
    assert "Traceback" not in said
    assert not (fresh.path / "results").exists()
