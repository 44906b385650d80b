"""What users meet first: no torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*command: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [*([str(path)] if path else []), str(ROOT / "workflow"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def test_without_torch_the_remedy_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n", encoding="utf-8"
    )
    given = tmp_path / "outputs.tsv"
    given.write_text("mr\ttext\nhello()\tHello.\n", encoding="utf-8")
    rated = tmp_path / "rated.tsv"
    rated.write_text("text\tquality\nHello.\t1\nHi.\t2\n", encoding="utf-8")
    job = (
        "from types import SimpleNamespace\n"
        f"snakemake = SimpleNamespace(log=[{str(tmp_path / 'log')!r}])\n"
        "exec(open('workflow/scripts/train_rnn_qe.py').read())"
    )
    for command in (
        ["-c", job],
        ["-m", "refless.cli", "qe", "--outputs", str(given)],
        ["-m", "refless.cli", "train-qe", "--ratings", str(rated), "--out", "m.npz"],
    ):
        done = run(*command, path=tmp_path)
        assert done.returncode == 1
        assert "make torch" in done.stderr
        assert "Traceback" not in done.stderr
