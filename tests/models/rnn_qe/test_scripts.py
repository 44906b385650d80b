"""What users meet first: no torch, and the benchmark."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_benchmark_compares_like_with_like(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: make torch")
    out = tmp_path / "rnn_qe.json"
    few = ["--runs", "1", "--batches", "1", "--batch", "8", "--together", "2", "--cores", "1"]
    done = run("-m", "benchmarks.rnn_qe", *few, "--instances", "none", "--out", str(out))
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text(encoding="utf-8"))
    rates = record["instances_per_second"]
    assert set(record["ratio"]) == {"together, float32", "together, bfloat16"}
    assert all(value["core"] > 0 for value in rates.values())
    assert sum("layers" in name for name in rates) == 2
    assert record["stacked"]["core"] > 0
