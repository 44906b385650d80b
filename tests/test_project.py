"""What the project promises about itself: names, locks, no machine's path."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import refless
from tests.conftest import ROOT


def lock(name: str) -> dict[str, set[str]]:
    """Package -> versions in a lock (one for each range of Python versions)."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(
        r"(?m)^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;]+)", (ROOT / "envs/lock" / name).read_text()
    ):
        found.setdefault(package, set()).add(version)
    return found


def wanted(name: str) -> list[str]:
    lines = (ROOT / "envs" / name).read_text().splitlines()
    return [line.split("[")[0].strip() for line in lines if line and not line.startswith("#")]


def test_every_wanted_package_is_locked() -> None:
    for name in ("core", "dev", "slurm", "docs"):
        assert set(wanted(f"{name}.in")) <= set(lock(f"{name}.txt")), name
    torch = {line.split("==")[0] for line in wanted("torch.in") + wanted("qe.in")}
    assert torch <= set(lock("torch.txt") | lock("torch-wheel.txt"))
    # without its wheel, torch brings no CUDA
    heavy = ("torch", "nvidia", "cuda", "triton")
    assert [name for name in lock("torch.txt") if name.startswith(heavy)] == []


@pytest.mark.parametrize("name", ["dev", "torch", "torch-wheel", "slurm", "docs"])
def test_a_lock_agrees_with_that_of_the_core(name: str) -> None:
    core, own = lock("core.txt"), lock(f"{name}.txt")
    assert own
    for package in set(core) & set(own):
        assert own[package] <= core[package], package


@pytest.mark.parametrize("name", ["refless", "torch"])
def test_conda_environments_have_the_locked_versions(name: str) -> None:
    text = (ROOT / f"envs/{name}.yaml").read_text()
    pinned = dict(re.findall(r"(?m)^ +- ([a-z0-9-]+)==?([0-9][^\s]*)$", text))
    assert pinned.pop("python") == "3.11"
    locked = lock("core.txt")
    if name == "torch":
        pinned["torch"] = pinned.pop("pytorch")  # conda's name for it
        locked |= lock("torch.txt") | lock("torch-wheel.txt")
    assert set(pinned) >= set(wanted("core.in")) - {"setuptools"}
    for package, version in pinned.items():
        assert version in locked[package], package


def test_package_needs_nothing_that_is_not_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]}
    assert names <= set(wanted("core.in"))


def test_the_cluster_profile_loses_nothing_of_the_default_profile() -> None:
    """Snakemake reads one profile of the workflow: naming one drops the default one."""
    default, cluster = (
        yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
        for name in ("default", "slurm")
    )
    assert {name: cluster[name] for name in default} == default


def test_locks_have_a_sum_for_every_package_and_name_no_address() -> None:
    for path in (ROOT / "envs/lock").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
        assert entries
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_rule_that_runs_something_has_a_log_and_an_environment() -> None:
    checked = 0
    for path in sorted((ROOT / "workflow/rules").glob("*.smk")):
        for rule in re.split(r"(?m)^ *rule\b", path.read_text())[1:]:
            if re.search(r"(?m)^ +(shell|script):", rule):
                for part in ("log", "conda"):
                    assert re.search(rf"(?m)^ +{part}:", rule), f"{path.name}: rule{rule[:200]}"
                checked += 1
    assert checked > 20


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Our Makefile in another folder."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=os.environ | {"PWD": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_clean_takes_results_and_compiled_loops_away(tmp_path: Path) -> None:
    loops = tmp_path / "cache/refless/loops/one"
    kept = tmp_path / "here/resources/data"
    trained = tmp_path / "here/results/rnn_qe/predictions/setup1"
    gone = [tmp_path / "here" / name for name in ("results/tables", ".snakemake/locks")]
    for folder in (loops, kept, trained, *gone):
        folder.mkdir(parents=True)
    told = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = make(tmp_path / "here", "clean", f"VENV={Path(sys.executable).parents[1]}", **told)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not loops.exists()
    assert not any(folder.exists() for folder in gone)
    assert kept.is_dir()
    assert trained.is_dir()


def test_make_installs_nothing_in_a_path_with_a_dollar_sign(tmp_path: Path) -> None:
    (tmp_path / "for $5").mkdir()
    for name in ("envs", "pyproject.toml"):
        (tmp_path / "for $5" / name).symlink_to(ROOT / name)
    done = make(tmp_path / "for $5")
    assert done.returncode != 0
    assert "docs/reproduce.md" in done.stdout
    assert not (tmp_path / "for $5/.venv").exists()


def test_the_container_has_the_python_and_the_targets_that_there_are() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (python,) = re.findall(r"(?m)^  - python=(\S+)$", (ROOT / "envs/refless.yaml").read_text())
    assert re.search(rf"(?m)^FROM python:{re.escape(python)}\.", text)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake\"?,? \"?([a-z-]+)", re.sub(r".*apt-get.*", "", text))
    assert "quickstart" in targets
    for target in targets:
        assert re.search(rf"(?m)^{target}:", makefile), target


def test_version_is_the_same_everywhere_and_the_citation_is_whole() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == refless.__version__
    # names of citation-file-format 1.2.0, as far as this file uses them
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert {work["type"] for work in citation["references"]} == {"conference-paper"}
    for work in [citation, *citation["references"]]:
        names = {frozenset(author) for author in work["authors"]}
        assert names <= {frozenset({"name"}), frozenset({"family-names", "given-names"})}
    assert f"\n## {refless.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        for shown in re.findall(r"version:refless\.(\d+\.\d+\.\d+)", page.read_text()):
            assert shown == refless.__version__, page.name
