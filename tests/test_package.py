"""The wheel and the sdist: what is in them, and that a wheel works alone."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import refless
from tests.conftest import ROOT

FOLDERS = ("envs", "workflow", "tests")
FILES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
BUILD = "from setuptools import build_meta as b; b.build_sdist({0!r}); b.build_wheel({0!r})"
PAGE = """
from refless.report import catalogue, render
assert catalogue.catalogue()
shown = dict(title="a table", papers={}, front=[], findings="", counts={}, sources={})
print(render.page("report.html", **shown))
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
    for part in FILES:
        shutil.copy(ROOT / part, source / part)
    for place in ("resources/data/raw.csv", "results/report.html", "workflow/refless/secret.csv"):
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).write_text("not to be given on")
    out.mkdir()
    command = [sys.executable, "-c", BUILD.format(str(out))]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def package_files() -> set[str]:
    """The files of the library in the checkout, as a package should have them."""
    folder = ROOT / "workflow/refless"
    return {
        f"refless/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in BUILT and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_the_wheel_has_the_library_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith("dist-info/METADATA"))
        about = message_from_bytes(archive.read(metadata))
    assert {name for name in names if ".dist-info/" not in name} == package_files()
    assert about["Version"] == refless.__version__
    needed = about.get_all("Requires-Dist")
    assert not any("://" in line for line in needed)
    for extra, names in (("qe", ["torch"]), ("bertscore", ["torch", "bert-score", "transformers"])):
        own = [line for line in needed if f'extra == "{extra}"' in line]
        assert all(any(line.startswith(name) for line in own) for name in names), extra


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_is_built_from(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    others = {name for name in names if not name.startswith("workflow/")}
    library = {f"workflow/{name}" for name in package_files()}
    assert library <= names
    assert {name for name in names - others - library if ".egg-info/" not in name} == set()
    assert others == {
        *("LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"),
        *("envs/qe.in", "envs/torch.in"),
    }


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(built: Path, tmp_path: Path) -> None:
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
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

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
