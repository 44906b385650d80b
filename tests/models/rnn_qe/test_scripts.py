"""What users meet first: no torch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*command: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [*([str(path)] if path else []), str(ROOT / "workflow")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def no_torch(tmp_path: Path) -> Path:
    """A directory that hides torch."""
    (tmp_path / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n", encoding="utf-8"
    )
    return tmp_path


def test_without_torch_the_remedy_is_named(no_torch: Path) -> None:
    command = ["data", "--out", str(no_torch / "out.csv")]
    done = run("workflow/scripts/train_rnn_qe.py", *command, path=no_torch)
    assert done.returncode == 1
    assert "make torch" in done.stderr
    assert "Traceback" not in done.stderr
    given = no_torch / "outputs.tsv"
    given.write_text("mr\ttext\nhello()\tHello.\n", encoding="utf-8")
    qe = ["-m", "refless.cli", "qe", "--model", "m.pt", "--outputs", str(given)]
    done = run(*qe, path=no_torch)
    assert done.returncode == 1
    assert "make torch" in done.stderr


def test_unknown_schedule_and_missing_folds(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: make torch")
    command = ["workflow/scripts/train_rnn_qe.py", str(tmp_path)]
    out = ["--out", str(tmp_path / "out.csv")]
    assert "paper or fast" in run(*command, *out, "--schedule", "slow").stderr
    assert "about.json: cannot be read as JSON" in run(*command, *out).stderr
    (tmp_path / "about.json").write_text('{"name": "setup1", "share": 1, "folds": [{}]}')
    assert "fold0.csv: cannot be read as a table" in run(*command, *out).stderr
