"""A training that is killed goes on from its checkpoint, to the bytes of one that nobody disturbed.

Tiny networks and three passes, a checkpoint after each: what is at stake hangs on neither.
"""

from __future__ import annotations

import importlib.util
import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.drills.harm import clone, drilled, run_again, sabotaged, take_away

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.drill,
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="needs torch (make torch)"
    ),
]

TARGET = "results/rnn_qe/predictions/setup1.csv"
SCRIPT = "train_rnn_qe.py"
OPTIONS = json.dumps({"train": 3, "every": 0, "architecture": '{"embedding": 6, "hidden": 6}'})
# What happens, and when: as the second checkpoint is to take the place of the first, or when the
# predictions are there and what says how they were made is not.
FATES = [("kill", ".pt", 1), ("power", "setup1.json", 0)]


def members(model: Path) -> dict[str, bytes]:
    """What a saved model holds. The folder within the file has the process in its name."""
    with zipfile.ZipFile(model) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def outcome(project: Project) -> dict[str, object]:
    """What training leaves, without its time and its machine."""
    path = project.path / TARGET
    about = json.loads(path.with_suffix(".json").read_text())
    models = project.path / "results/rnn_qe/models/setup1"
    return {
        "predictions": path.read_bytes(),
        "course": about["models"],
        "settings": about["settings"],
        "saved": {file.name: members(file) for file in sorted(models.glob("*.pt"))},
    }


def passes(project: Project) -> int:
    """How many instances the last run of the trainer was to pass over."""
    log = (project.path / "results/logs/train_rnn_qe/setup1.log").read_text()
    said = re.search(r"([\d,]+) instance passes", log)
    return int(said[1].replace(",", "")) if said else 0


@pytest.fixture(scope="module")
def undisturbed(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = clone(small, tmp_path_factory.mktemp("undisturbed") / "project")
    result = drilled(project, TARGET, script=SCRIPT, options=OPTIONS)
    assert result.returncode == 0, result.stdout
    assert len(list((project.path / "results/rnn_qe/models/setup1").glob("*.pt"))) == 5
    return project


@pytest.mark.parametrize(("deed", "moment", "spared"), FATES)
def test_a_killed_training_goes_on_to_the_same_bytes(
    undisturbed: Project,
    tmp_path: Path,
    deed: str,
    moment: str,
    spared: int,
) -> None:
    project = clone(undisturbed, tmp_path / "project")
    take_away(project, ["results/rnn_qe/predictions", "results/rnn_qe/models"])
    sabotaged(project, SCRIPT, deed, TARGET, options=OPTIONS, target=moment, spare=str(spared))
    kept = list((project.path / "results/rnn_qe/checkpoints/setup1").glob("[!.]*.pt"))
    assert len(kept) == 1
    run_again(project, TARGET, script=SCRIPT, options=OPTIONS)
    assert outcome(project) == outcome(undisturbed)
    left = 0 if moment == "setup1.json" else passes(undisturbed) * 2 // 3
    assert passes(project) == left
    assert not kept[0].exists()
