"""The workflow through each of its entrances: in a checkout, beside another workflow, and from an
address of git, where no library lies beside the rules and the installed one is taken."""

import shutil
import subprocess
from pathlib import Path

import pytest

from refless import __version__
from refless.data.task import read_task
from tests.conftest import ROOT, Project
from tests.workflow import small_data

RATINGS = "results/ratings/mine/texts.csv"
MINE = {"network": False, "data": {"mine": {"loader": "table", "files": {"path": "mine.tsv"}}}}
MODULE = """
module refless:
    snakefile: {address!r}
    config: {config}
use rule * from refless as refless_*
"""
# Its triggers have no `code`, at which Snakemake 9.27 fails for scripts from a local git address.
PROFILE = ("--workflow-profile", str(ROOT / "profiles/default"))


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=refless", "-c", "user.email=refless@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of git with the workflow and all that a host would have, but for its library."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path_factory.mktemp("host") / "refless"
    no_library = shutil.ignore_patterns("refless", "snakemake_logger*", "__pycache__")
    for part in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(ROOT / part, folder / part, symlinks=True, ignore=no_library)
    for part in ("Snakefile", "LICENSE", "README.md"):
        shutil.copy(ROOT / part, folder)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "workflow")
    return folder


@pytest.fixture
def importing(tmp_path: Path, repository: Path) -> Project:
    """A workflow that takes ours from an address."""
    place = tmp_path / "mit Leerzeichen"
    place.mkdir()
    small_data.write_table(place / "mine.tsv")
    address = f"git+file://{repository}/workflow/Snakefile@main"
    (place / "Snakefile").write_text(MODULE.format(address=address, config=MINE), encoding="utf-8")
    return Project(place)


def test_both_snakefiles_are_the_same_workflow(fresh, tmp_path):
    """Also from elsewhere, without a word which target."""
    first = fresh.planned()
    assert first["compute_kernel"] > 1
    assert fresh.planned("-s", "workflow/Snakefile") == first
    (fresh.path / "mine.tsv").rename(tmp_path / "mine.tsv")
    elsewhere = Project(tmp_path, fresh.mirror)
    for entrance in ("Snakefile", "workflow/Snakefile"):
        assert elsewhere.planned("-s", str(fresh.path / entrance)) == first
        fresh.snakemake("--lint", "-s", entrance, "--directory", str(tmp_path))


@pytest.mark.slow
def test_a_module_from_an_address_uses_the_installed_library(importing):
    assert importing.planned(*PROFILE, "refless_all")["refless_bleu_neighbors_table1"] == 1
    importing.snakemake(*PROFILE, RATINGS)
    assert len(read_task((importing.path / RATINGS).parent).texts) > 10
    assert importing.planned(*PROFILE, RATINGS) == {}


@pytest.mark.slow
def test_rules_of_another_version_than_the_installed_library_are_refused(importing, repository):
    common = repository / "workflow/rules/common.smk"
    text = common.read_text(encoding="utf-8")
    common.write_text(text.replace(f'"{__version__}"', '"0.1.0"'), encoding="utf-8")
    git(repository, "commit", "--quiet", "--all", "--message", "another version")
    try:
        told = importing.snakemake("-n", *PROFILE, RATINGS, ok=False)
    finally:
        git(repository, "reset", "--quiet", "--hard", "HEAD~1")
    assert "0.1.0" in told
    assert __version__ in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_the_workflow_can_be_deployed(repository, tmp_path):
    """By snakedeploy. For a folder it writes a Snakefile that includes itself; the address that it
    would write for a host's repository is put there."""
    snakedeploy = pytest.importorskip("snakedeploy.deploy")
    with snakedeploy.WorkflowDeployer(str(repository), tmp_path, branch="main") as deployer:
        deployer.deploy("refless")
    snakefile = tmp_path / "workflow/Snakefile"
    address = f'"git+file://{repository}/workflow/Snakefile@main"'
    text = snakefile.read_text(encoding="utf-8").replace('"workflow/Snakefile"', address)
    snakefile.write_text(text, encoding="utf-8")
    planned = Project(tmp_path).planned("--config", "network=False", "--", "bleu_neighbors_table1")
    assert planned["bleu_neighbors_table1"] == 1


def test_what_the_rules_say_of_their_version_is_that_of_the_library():
    text = (ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8")
    assert f'VERSION = "{__version__}"' in text
