"""What the project promises about itself: locks, its wheel and sdist, imports, and examples in
docstrings, which run, and which each public function of kernels and statistics has."""

import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

import refless
from refless import kernels, statistics
from refless.code_sums import PACKAGE, _imports
from refless.errors import SettingError
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


def test_every_wanted_package_is_locked():
    for name in ("core", "dev", "slurm", "docs", "files"):
        names = {
            line.split(" ;")[0] for line in wanted(f"{name}.in")
        }  # without the versions of Python
        assert names <= set(lock(f"{name}.txt")), name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]}
    assert names <= set(wanted("core.in"))
    torch = {line.split("==")[0] for line in wanted("torch.in") + wanted("qe.in")}
    assert torch <= set(lock("torch.txt") | lock("torch-wheel.txt"))
    # an older Python is refused by its name: pip would ask for this package first, and find none
    (pandas,) = (line for line in project["dependencies"] if line.startswith("pandas"))
    assert "python_version >= '3.11'" in pandas
    # without its wheel, torch brings no CUDA
    heavy = ("torch", "nvidia", "cuda", "triton")
    assert [name for name in lock("torch.txt") if name.startswith(heavy)] == []


@pytest.mark.parametrize("name", ["dev", "torch", "torch-wheel", "slurm", "docs", "files"])
def test_a_lock_agrees_with_that_of_the_core(name):
    core, own = lock("core.txt"), lock(f"{name}.txt")
    assert own
    for package in set(core) & set(own):
        assert own[package] <= core[package], package


@pytest.mark.parametrize("name", ["refless", "torch"])
def test_conda_environments_have_the_locked_versions(name):
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


def test_the_cluster_profile_loses_nothing_of_the_default_profile():
    """Snakemake reads one profile of the workflow: naming one drops the default one."""
    default, cluster = (
        yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
        for name in ("default", "slurm")
    )
    assert {name: cluster[name] for name in default} == default


def test_locks_have_a_sum_for_every_package_and_name_no_address():
    for path in (ROOT / "envs/lock").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
        assert entries
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "Makefile", folder)
    told = os.environ | {"PWD": str(folder)}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True)


def test_clean_takes_results_away(tmp_path):
    kept = tmp_path / "here/resources/data"
    trained = tmp_path / "here/results/rnn_qe/predictions/setup1"
    gone = [tmp_path / "here" / name for name in ("results/tables", ".snakemake/locks")]
    for folder in (kept, trained, *gone):
        folder.mkdir(parents=True)
    done = make(tmp_path / "here", "clean")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not any(folder.exists() for folder in gone)
    assert kept.is_dir()
    assert trained.is_dir()


def test_make_installs_nothing_in_a_path_with_a_dollar_sign(tmp_path):
    (tmp_path / "for $5").mkdir()
    for name in ("envs", "pyproject.toml"):
        (tmp_path / "for $5" / name).symlink_to(ROOT / name)
    done = make(tmp_path / "for $5")
    assert done.returncode != 0
    assert "docs/reproduce.md" in done.stdout
    assert not (tmp_path / "for $5/.venv").exists()


def test_the_container_has_the_python_and_the_targets_that_there_are():
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (python,) = re.findall(r"(?m)^  - python=(\S+)$", (ROOT / "envs/refless.yaml").read_text())
    assert re.search(rf"(?m)^FROM python:{re.escape(python)}\.", text)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake\"?,? \"?([a-z-]+)", re.sub(r".*apt-get.*", "", text))
    assert "quickstart" in targets
    for target in targets:
        assert re.search(rf"(?m)^{target}:", makefile), target


def test_version_is_the_same_everywhere_and_the_citation_is_whole():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == refless.__version__
    # names of citation-file-format 1.2.0, as far as this file uses them
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert {work["type"] for work in citation["references"]} == {"conference-paper"}
    for work in [citation, *citation["references"]]:
        names = {frozenset(author) for author in work["authors"]}
        assert names <= {frozenset({"name"}), frozenset({"family-names", "given-names"})}
    assert f"\n## {refless.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    (entry,) = re.findall(r"(?ms)^@software\{(.*?)^\}", (ROOT / "README.md").read_text("utf-8"))
    fields = dict(re.findall(r"(\w+) *= \{+(.*?)\}", entry))
    names = ", ".join(author["name"] for author in citation["authors"])
    assert fields.pop("year").isdecimal()
    expected = {"title": citation["title"], "author": names, "version": refless.__version__}
    assert fields == expected
    for page in (ROOT / "docs").glob("*.md"):
        for shown in re.findall(r"version:refless\.(\d+\.\d+\.\d+)", page.read_text()):
            assert shown == refless.__version__, page.name


FOLDERS = ("envs", "workflow", "tests", "resources")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
PAGES = ("README.md", "docs/findings.md")
BUILD = "from setuptools import build_meta as b; b.build_sdist({0!r}); b.build_wheel({0!r})"
PAGE = """
from refless.report import catalogue, render
assert catalogue.catalogue()
front = dict(id="", picture="", caption="", entry=dict(title=""))
made = dict(version="", commit="", date="", command="")
lists = dict(papers={}, why={}, claims=[], counts={}, sources={})
print(render.page(front=front, findings="", made=made, **lists))
"""
BUILT = {".pyc", ".nbi", ".nbc"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an sdist, built in a checkout that has raw data and results."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("needs setuptools")
    base = tmp_path_factory.mktemp("package")
    source, out = base / "source", base / "out"
    for part in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / part, source / part, ignore=ignore)
    (source / "docs").mkdir()
    for part in (*FILES, "docs/findings.md"):
        shutil.copy(ROOT / part, source / part)
    for place in ("resources/data/raw.csv", "results/report.html", "workflow/refless/secret.csv"):
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).touch()
    out.mkdir()
    subprocess.run([sys.executable, "-c", BUILD.format(str(out))], cwd=source, check=True)
    return out


def package_files() -> set[str]:
    """The files of the library and of its logger in the checkout, as a package should have them."""
    folder = ROOT / "workflow"
    return {
        path.relative_to(folder).as_posix()
        for package in ("refless", "snakemake_logger_plugin_refless")
        for path in (folder / package).rglob("*")
        if path.is_file() and path.suffix not in BUILT and "__pycache__" not in path.parts
    }


def resource_files() -> set[str]:
    """What comes with refless of the folder resources: nothing that a run or a user puts there."""
    folder = ROOT / "resources"
    paths = [*folder.glob("*.csv"), *folder.glob("*.yaml")]
    paths += [*folder.glob("published/*"), *folder.glob("shipped/**/*")]
    return {path.relative_to(folder).as_posix() for path in paths if path.is_file()}


@pytest.mark.slow
def test_the_wheel_and_the_sdist_have_the_library_and_nothing_else(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith("dist-info/METADATA"))
        about = message_from_bytes(archive.read(metadata))
    resources = {f"refless/resources/{name}" for name in (*resource_files(), *PAGES)}
    assert {name for name in names if ".dist-info/" not in name} == package_files() | resources
    assert about["Version"] == refless.__version__
    needed = about.get_all("Requires-Dist")
    assert not any("://" in line for line in needed)
    extras = {
        "qe": ["torch"],
        "bertscore": ["torch", "bert-score", "transformers"],
        "files": ["pyarrow", "openpyxl"],
    }
    for extra, names in extras.items():
        own = [line for line in needed if f'extra == "{extra}"' in line]
        assert all(any(line.startswith(name) for line in own) for name in names), extra
    with tarfile.open(sdist) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    others = {*FILES, "PKG-INFO", "setup.cfg", "envs/files.in", "envs/qe.in", "envs/torch.in"}
    others |= {f"resources/{name}" for name in resource_files()}
    others.add("docs/findings.md")
    library = {f"workflow/{name}" for name in package_files()}
    assert {name for name in names if ".egg-info/" not in name} == library | others


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(built, tmp_path):
    """In an environment of its own, which borrows the packages that refless needs from this one."""
    new = tmp_path / "new"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(new)], check=True)
    python = new / "bin/python"
    (site,) = new.glob("lib/python*/site-packages")
    # paths alone: what is installed here as editable is not seen there
    paths = {sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")}
    (site / "borrowed.pth").write_text("\n".join(sorted(paths)) + "\n")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)

    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}

    def say(*command: str) -> str:
        return subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)

    assert str(new) in say(str(python), "-c", "import refless; print(refless.__file__)")
    command = str(new / "bin/refless")
    assert say(command, "--version").split() == ["refless", refless.__version__]
    texts = ["a good answer", "a good reply", "a bad answer", "a bad reply"] * 3
    rated = "".join(f"{text} {i}\t{i % 2}\n" for i, text in enumerate(texts))
    (tmp_path / "rated.tsv").write_text(f"text\tquality\n{rated}")
    (tmp_path / "mine.tsv").write_text("text\na good answer indeed\n")
    told = "--ratings rated.tsv --outputs mine.tsv --tau 0.01 --max-share 1 --json"
    answer = json.loads(say(command, "score", *told.split()))
    assert 0 <= answer["predictions"][0]["prediction"] <= 1
    assert "<main>" in say(str(python), "-c", PAGE)  # what is no Python came along


def test_imports_make_no_circle():
    modules = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    TopologicalSorter({path: _imports(path) for path in modules}).prepare()


@pytest.mark.parametrize(
    ("script", "heavy"),
    [
        ("import refless", {"numpy", "pandas", "scipy"}),
        ("import refless.job", {"numpy", "pandas", "numba"}),  # opens the log
        ("import refless.plan, refless.report.styles", {"numpy", "pandas", "scipy", "numba"}),
    ],
)
def test_what_is_imported_first_is_cheap(script, heavy):
    script = f"import sys; {script}; print({heavy} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "set()\n"


MODULES = [
    ".".join(("refless", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for package in ("compute", "kernels", "models", "statistics")
    for path in sorted((PACKAGE / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    imported = pytest.importorskip(module, reason="make torch", exc_type=SettingError)
    assert doctest.testmod(imported).failed == 0


@pytest.mark.parametrize("package", [kernels, statistics])
def test_each_function_of_a_package_has_an_example(package):
    functions = {name: value for name, value in vars(package).items() if callable(value)}
    public = [functions[name] for name in getattr(package, "__all__", functions)]
    assert not [value.__name__ for value in public if ">>> " not in (value.__doc__ or "")]


def test_make_reads_what_comes_along_whatever_mirror_is_set():
    """README promises a minute and no data."""
    environment = {**os.environ, "REFLESS_MIRROR": "/somewhere"}
    command = ["make", "--dry-run", "--always-make", "quickstart", "VENV=build/none"]
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    (line,) = (line for line in made.stdout.splitlines() if "-m snakemake" in line)
    assert line.startswith("REFLESS_MIRROR= ")
