"""The plan: what is computed, shipped or absent, and why. No Snakemake."""

import csv
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refless.errors import FormatError, SettingError
from refless.fetch.places import Places, Source, read_sources
from refless.plan import RESULTS, Plan
from refless.run_messages import closing_lines
from refless.settings import read_settings
from refless.store.files import file_sum
from refless.store.manifest import MANIFEST
from refless.store.records import record_path
from refless.store.sealed import write_sidecar
from tests.conftest import ROOT
from tests.test_settings import CONFIG, changed

SOURCES = {
    path: Source(path, url="" if "reddit" in path else "https://example.org/x", sha256="0" * 64)
    for entry in CONFIG["data"].values()
    for path in entry["files"].values()
} | {"nltk/wordnet.zip": Source("nltk/wordnet.zip")}
ESSAYS, UNITS = "results/essays/estimates.csv", "results/delta_bleu/dstc7/units.csv"
OUTPUTS = "results/rnn_qe/outputs.csv"
SETUP = "results/rnn_qe/predictions/setup1/0.csv.gz"
BLEU, ROUGE = (f"results/neighbors/dstc7/{name}.csv" for name in ("bleu.char", "rouge_l.stem"))
CURVE = "results/curves/dstc7/data_size.csv"
CROSS = "results/cross_task/dstc7.huse_summarization.csv"
COMPARED = "results/comparison/nem.csv"
DSTC7 = "dstc7/dstc7-task2-human_eval.tgz"
REDDIT = "huse/reddit_results_reformatted.csv"
IN_RNN_QE = {"rnn_qe": {"role": "references"}}
EVERY = [ESSAYS, UNITS, OUTPUTS, SETUP, BLEU, ROUGE, CURVE, CROSS, COMPARED]


def plan(folder: Path, changes: dict[str, Any] | None = None, network: bool = False) -> Plan:
    """Of the configuration with some of its settings changed, by dotted paths."""
    raw = CONFIG
    for path, value in (changes or {}).items():
        raw = changed(path, value, raw)
    places = Places(folder / "data", folder / "manual", network=network)
    return Plan(read_settings(raw), SOURCES, places, folder / "shipped")


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A folder with a shipped file for each of `EVERY`, of the settings of the configuration."""
    rows = [("path", "sha256", "digest")]
    for path in EVERY:
        place = tmp_path / "shipped" / path.removeprefix("results/")
        write_sidecar({place: path.encode()}, {})
        rows.append((path.removeprefix("results/"), file_sum(place), plan(tmp_path).digest(path)))
    with open(tmp_path / "shipped" / MANIFEST, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
    return tmp_path


def place(folder: Path, path: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("x", encoding="utf-8")


def mine(path: str | Path) -> dict[str, Any]:
    return {"loader": "table", "files": {"path": str(path)}}


def test_what_can_be_computed_is_and_the_rest_is_read_where_it_lies(shipped):
    assert plan(shipped, network=True).find(UNITS) == UNITS
    assert plan(shipped).find(UNITS) == str(shipped / "shipped/delta_bleu/dstc7/units.csv")
    place(shipped, f"manual/{DSTC7}")
    assert plan(shipped).find(UNITS) == UNITS
    assert plan(shipped).raw_path(DSTC7).startswith(f"{shipped}/manual")
    assert plan(shipped).find(ESSAYS) == str(shipped / "shipped/essays/estimates.csv")


def test_networks_of_the_chosen_schedule_are_trained_where_torch_is(shipped, monkeypatch):
    come = str(shipped / "shipped" / SETUP.removeprefix("results/"))
    for there in (False, True):
        monkeypatch.setattr("refless.availability.installed", lambda _, torch=there: torch)
        for train in ("auto", "never"):
            found = plan(shipped, {"rnn_qe.train": train}, network=True)
            assert found.find(SETUP) == (SETUP if there and train == "auto" else come)
    names = plan(shipped, {"rnn_qe.schedule": "paper"}).trained_now()
    assert {name.split("_")[0] for name in names} == {"paper"}


@pytest.mark.parametrize(
    ("changed", "gone"),
    [
        ({"bleu_neighbors.models.bleu.tau": 0.09}, {BLEU, CURVE, CROSS}),
        ({"bleu_neighbors.models.rouge.tau": 0.09}, {ROUGE}),
        ({"bleu_neighbors.max_share": 0.5}, {CURVE}),
        ({"delta_bleu.seed": 1}, {UNITS}),
        ({"rnn_qe.seed": 1}, {OUTPUTS, SETUP}),
        ({"data.nem.experiments.rnn_qe.system": "TGen"}, {OUTPUTS, SETUP}),
        ({"data.sfrest.experiments": {}}, {OUTPUTS, SETUP}),
        ({"data.asap_sas.options.raters": "first"}, {ESSAYS}),
        ({"data.nem.files.path": "mine.csv"}, {OUTPUTS, SETUP, COMPARED}),
        ({"comparison.kernels": ["bleu.char"]}, {COMPARED}),
        ({"data.nem.experiments.comparison.human_systems": ["TGen"]}, {COMPARED}),
        ({"data.dstc7.colour": "#000000", "data.nem.name": "NEM", "rnn_qe.device": "cuda"}, set()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "gone",
)
def test_a_shipped_file_fits_its_settings(shipped, changed, gone):
    found = plan(shipped, changed)
    assert {path for path in EVERY if found.find(path) is None} == gone
    codes = {reason.code for path in gone if (reason := found.why_not(path))}
    assert codes <= {"settings", "raw_file_missing"}
    assert "data.nem.files.path" in changed or codes <= {"settings"}


@pytest.mark.parametrize(
    ("path", "changed", "code"),
    [
        ("results/neighbors/huse_dialogue/bleu.char.csv", {}, "raw_file_missing"),
        ("results/ratings/mine/texts.csv", {"data.mine": mine("/nowhere")}, "raw_file_missing"),
        ("results/neighbors/dstc7/bertscore.roberta-large.csv", {}, "left_out"),
        ("results/rnn_qe/predictions/paper_setup1/0.csv.gz", {}, "not_trained"),
        ("results/comparison/networks/nem.csv", {}, "not_trained"),
        ("results/essays/estimates.csv", {"data.asap_sas.experiments": {}}, "no_data_set"),
        ("results/neighbors/taken_out/bleu.char.csv", {}, "no_data_set"),
    ],
)
def test_one_reason_says_why_not(shipped, path, changed, code):
    found = plan(shipped, changed)
    (reason,) = found.missing([path])
    assert reason["code"] == code
    assert reason["sentence"]
    assert found.available([path]) == []


@pytest.mark.parametrize(
    ("path", "code", "raw"),
    [
        # one file of HUSE has no address
        ("ratings/huse_dialogue/texts.csv", "raw_file_missing", REDDIT),
        ("neighbors/dstc7/meteor.nltk35.csv", "raw_file_missing", "nltk/wordnet.zip"),
    ],
)
def test_some_files_no_network_gives(shipped, path, code, raw):
    reason = plan(shipped, network=True).why_not(f"results/{path}")
    assert reason is not None
    assert reason.code == code
    place(shipped, f"data/{raw}")
    assert plan(shipped, network=True).find(f"results/{path}") == f"results/{path}"


def test_a_mirror_may_have_a_file_without_a_public_address(tmp_path):
    """Of a base URL nobody knows before it is asked; of a folder, the disk knows."""
    web = Places(tmp_path / "data", tmp_path / "manual", "https://mirror.example.org", False)
    folder = replace(web, mirror=str(tmp_path / "mirror"))
    for places, code in ((web, None), (folder, "raw_file_missing")):
        reason = replace(plan(tmp_path), places=places).raw_file(REDDIT)
        assert (reason.code if reason else None) == code


@pytest.mark.parametrize("harm", ["damaged", "deleted", "no record", "no manifest"])
def test_shipped_files_are_those_of_the_manifest(shipped, harm):
    path = shipped / "shipped/essays/estimates.csv"
    if harm == "damaged":
        path.write_text("other", encoding="utf-8")
    elif harm == "deleted":
        path.unlink()
    elif harm == "no record":
        record_path(path).unlink()
    else:
        path = shipped / "shipped" / MANIFEST
        path.unlink()
    with pytest.raises(FormatError) as caught:
        plan(shipped).find(ESSAYS)
    assert str(path) in str(caught.value)


def test_sums_of_raw_files_are_the_published_or_those_that_lie_here(tmp_path):
    own = tmp_path / "mine.tsv"
    own.write_text("text\tquality\n", encoding="utf-8")
    found = plan(tmp_path, {"data.mine": mine(own)})
    assert found.sums("mine") == {str(own): file_sum(own)}
    assert found.sums("nem") == {"nem/emnlp_data_medians.csv": "0" * 64}


def test_what_a_user_names_must_be_there(tmp_path):
    """A mirror's folder and files of one's own, before anything runs."""
    own = tmp_path / "mine.tsv"
    changes = {"data.mine": mine(own)}
    with pytest.raises(SettingError, match=r"data\.mine\.files\.path: .*mine\.tsv"):
        plan(tmp_path, changes).check()
    own.touch()
    plan(tmp_path, changes).check()
    for mirror, there in (("http://127.0.0.1:9", True), (str(tmp_path), True), ("/nowhere", False)):
        found = replace(plan(tmp_path), places=Places(mirror=mirror))
        with nullcontext() if there else pytest.raises(SettingError, match="/nowhere"):
            found.check()


@pytest.mark.parametrize(
    ("path", "value", "same"),
    [
        ("network", False, True),
        ("data.mine", mine("mine.tsv"), True),
        ("data.nem.name", "NEM", True),
        ("rnn_qe.train", "never", True),
        ("bleu_neighbors.min_neighbors", 4, False),
        ("comparison.seed", 4, False),
        ("data.dstc7.experiments.delta_bleu", None, False),
        ("data.mine", {**mine("mine.tsv"), "experiments": IN_RNN_QE}, False),
    ],
)
def test_findings_hang_on_what_decides_their_numbers(path, value, same):
    digests = {plan(Path(), changes).digest_of_findings() for changes in ({}, {path: value})}
    assert len(digests) == (1 if same else 2)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of two tables of a run, and an earlier report."""
    monkeypatch.chdir(tmp_path)
    made = []
    for name, reasons in (("one", {"left_out": 3, "no_draws": 1}), ("two", {"settings": 2})):
        counts = {"absent": sum(reasons.values()), "shipped": 4}
        metadata = {"provenance_counts": counts, "reason": reasons}
        write_sidecar({Path(f"results/tables/{name}.csv"): b""}, metadata)
        made.append(f"results/tables/{name}.csv")
    Path("results/report.html").touch()
    os.utime("results/report.html", (1, 1))
    return made


def test_a_run_counts_reasons_and_says_that_the_report_is_older(run):
    """What a setting took away stands first."""
    report, _, rows, *_ = closing_lines(run, run, 3.0)
    assert "0 computed, 8 shipped, 6 absent (2 settings, 3 left_out, 1 no_draws)" in rows
    assert report.startswith("report")
    assert "older" in report
    os.utime("results/report.html")
    assert not closing_lines(run, run, 3.0)[0].startswith("report")
    with_report = [*run, "results/report.html"]
    assert closing_lines(with_report, with_report, 3.0)[0].endswith("results/report.html")


def test_a_result_that_nothing_is_known_of_is_a_fault_of_ours(tmp_path):
    with pytest.raises(KeyError, match="RESULTS"):
        plan(tmp_path).find("results/elsewhere.csv")


def test_the_shipped_files_fit_the_configuration():
    """Of each kind of result but those of one data set's kernels, something is shipped."""
    nowhere = Places(Path("/nowhere"), Path("/nowhere"), network=False)
    found = Plan(read_settings(CONFIG), read_sources(), nowhere, ROOT / "resources/shipped")
    with open(ROOT / "resources/shipped" / MANIFEST, newline="", encoding="utf-8") as handle:
        listed = [row["path"] for row in csv.DictReader(handle)]
    assert [path for path in listed if not found.find(f"results/{path}")] == []
    files = (p for p in (ROOT / "resources/shipped").rglob("*.*") if p.is_file())
    there = {path.relative_to(ROOT / "resources/shipped").as_posix() for path in files}
    records = {record_path(path).as_posix() for path in listed}
    assert there == {*listed, *records, MANIFEST}
    kinds, known = ({path.split("/")[0] for path in paths} for paths in (listed, RESULTS))
    assert len(kinds) >= len(known)
