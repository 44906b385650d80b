"""What the project promises about itself: names, locks, no machine's path."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


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
    assert set(wanted("core.in")) <= set(lock("core.txt"))
    assert set(wanted("core.in")) | set(wanted("dev.in")) <= set(lock("dev.txt"))


def test_the_two_locks_agree() -> None:
    core, dev = lock("core.txt"), lock("dev.txt")
    assert {name: dev[name] for name in core} == core


def test_conda_environment_has_the_locked_versions() -> None:
    text = (ROOT / "envs/refless.yaml").read_text()
    pinned = dict(re.findall(r"(?m)^  - ([a-z0-9-]+)=([0-9][^\s]*)$", text))
    assert pinned.pop("python") == "3.11"
    locked = lock("core.txt")
    assert set(pinned) == set(wanted("core.in")) - {"setuptools"}
    for name, version in pinned.items():
        assert version in locked[name], name


def test_conda_environment_with_torch_has_the_locked_versions() -> None:
    plain, torch = ((ROOT / f"envs/{name}.yaml").read_text() for name in ("refless", "torch"))
    pins = set(re.findall(r"(?m)^  - (\S+=\S+)$", torch))
    more = pins - set(re.findall(r"(?m)^  - (\S+=\S+)$", plain))
    assert pins - more == set(re.findall(r"(?m)^  - (\S+=\S+)$", plain))
    pinned = dict(pin.split("=") for pin in more)
    pinned |= dict(re.findall(r"(?m)^      - ([a-z0-9-]+)==(\S+)$", torch))
    pinned["torch"] = pinned.pop("pytorch")  # conda's name for it
    locked = lock("torch.txt") | lock("torch-wheel.txt")
    assert set(pinned) == {line.split("==")[0] for line in wanted("torch.in") + wanted("qe.in")}
    for name, version in pinned.items():
        assert version in locked[name], name


def test_package_needs_nothing_that_is_not_locked() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]}
    assert names <= set(wanted("core.in"))


def test_the_lock_of_torch_agrees_and_brings_no_cuda() -> None:
    core, torch = lock("core.txt"), lock("torch.txt")
    assert {"bert-score", "transformers"} <= set(torch)
    for name in set(core) & set(torch):
        assert torch[name] <= core[name], name
    cuda = [name for name in torch if name.startswith(("torch", "nvidia", "cuda", "triton"))]
    assert cuda == []
    assert "torch" in lock("torch-wheel.txt")


def test_the_lock_for_clusters_agrees() -> None:
    core, slurm = lock("core.txt"), lock("slurm.txt")
    assert set(wanted("slurm.in")) <= set(slurm)
    for name in set(core) & set(slurm):
        assert slurm[name] <= core[name], name


def test_the_cluster_profile_loses_nothing_of_the_default_profile() -> None:
    """Snakemake reads one profile of the workflow: naming one drops the default one."""
    default, cluster = (
        yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
        for name in ("default", "slurm")
    )
    assert {name: cluster[name] for name in default} == default


@pytest.mark.parametrize("path", sorted((ROOT / "envs/lock").iterdir()), ids=lambda path: path.name)
def test_locks_have_a_sum_for_every_package_and_name_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_rule_that_runs_something_has_a_log_and_an_environment() -> None:
    """Also those without a name, which stand in a loop."""
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


def test_the_container_does_what_the_makefile_has() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if re.match(r"[A-Z]+ ", line)]
    ((base,), (folder,)) = (
        [rest for word, rest in steps if word == w] for w in ("FROM", "WORKDIR")
    )
    conda = yaml.safe_load((ROOT / "envs/refless.yaml").read_text(encoding="utf-8"))
    (python,) = (d.split("=")[1] for d in conda["dependencies"] if str(d).startswith("python="))
    assert re.fullmatch(rf"python:{re.escape(python)}\.\d+-slim-[a-z]+", base)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [
        target
        for word, rest in steps
        if word in ("RUN", "CMD")
        for target in re.findall(r"\bmake\"?,? \"?([a-z-]+)", rest)
        if "apt-get" not in rest
    ]
    assert "quickstart" in targets
    for target in targets:
        assert re.search(rf"(?m)^{target}:", makefile), target
    (venv,) = re.findall(r"(?m)^VENV := (.+)$", makefile)
    assert ["ENV", f"PATH={folder}/{venv}/bin:$PATH"] in steps


def test_no_raw_data_and_no_environment_go_into_an_image() -> None:
    """What git ignores and a run leaves is left out, and nothing that a build needs."""
    out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for line in ignored:
        if line.endswith("/") and "cache" not in line and "audit" not in line:
            assert line.strip("/") in {one.removeprefix("**/") for one in out}, line
    kept = ("Makefile", "Snakefile", "pyproject.toml", "README.md", "LICENSE", "envs", "config")
    assert not {*kept, "workflow", "profiles", "resources", "resources/shipped"} & set(out)


def test_version_is_the_same_everywhere() -> None:
    import refless

    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {refless.__version__}\n" in citation
    assert f"\n## {refless.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        for shown in re.findall(r"version:refless\.(\d+\.\d+\.\d+)", page.read_text()):
            assert shown == refless.__version__, page.name


@pytest.mark.parametrize(
    ("parts", "allowed"),
    [
        (["MIT"], True),
        (["Apache Software License"], True),
        (["BSD-3-Clause", "0BSD", "MIT", "Zlib", "CC0-1.0"], True),
        (["Apache-2.0 OR GPL-3.0-only"], True),
        (["MIT", "GPL-3.0-only"], False),
        (["GNU Affero General Public License v3"], False),
        (["MITRE"], False),
        ([], False),
    ],
)
def test_the_list_of_licences(parts: list[str], allowed: bool) -> None:
    check = runpy.run_path(str(ROOT / "envs/check.py"))
    assert check["is_allowed"](parts) is allowed


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ({"name": "x", "version": "1", "vulns": []}, 0, "1 of 1 packages looked up, 0 known"),
        ({"name": "x", "version": "1", "vulns": [{"id": "CVE-1"}]}, 1, "x 1: CVE-1"),
        ({"name": "x", "skip_reason": "not found"}, 0, "NOT CHECKED"),
        (None, 0, "NOT CHECKED"),
    ],
)
def test_what_is_said_of_known_vulnerabilities(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: dict[str, object] | None,
    code: int,
    said: str,
) -> None:
    """An answer that did not come is not taken for none."""
    check = runpy.run_path(str(ROOT / "envs/check.py"))
    output = json.dumps({"dependencies": [answer]}) if answer else ""
    done = subprocess.CompletedProcess([], 0, output, "no connection")
    monkeypatch.setattr(check["subprocess"], "run", lambda *_, **__: done)
    assert check["vulnerabilities"]() == code
    assert said in capsys.readouterr().out
