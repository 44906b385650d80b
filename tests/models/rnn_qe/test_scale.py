"""Scales of ratings, and the model that comes along; no torch is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from refless.errors import FormatError
from refless.models.rnn_qe.model_file import card, read_model, shipped_model
from refless.models.rnn_qe.scale import Scale

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [
        ([1, 6, 2.5], Scale(1, 6, None)),
        ([1, 2, 3, 5], Scale(1, 5, 1)),
        ([0, 50, 70, 100], Scale(0, 100, None)),
        ([0, 0.13, 1], Scale(0, 1, None)),
        ([-2, 0, 2], Scale(-2, 2, 2)),
        ([0, 0.3, 0.4, 1], Scale(0, 1, 0.1)),
        ([1e9, 1e9 + 1, 1e9 + 2], Scale(1e9, 1e9 + 2, 1)),
    ],
)
def test_scales_are_kept(ratings: list[float], scale: Scale) -> None:
    given = np.array(ratings, float)
    found = Scale.of(given)
    assert (found.low, found.high, found.step) == (scale.low, scale.high, scale.step)
    np.testing.assert_allclose(found.given_back(found.stretched(given)), given, atol=1e-12)
    # ratings themselves are levels, and may be looked up
    assert found.rounded(given + 1e-13).tolist() == given.tolist()
    assert found.stretched(np.array([found.low, found.high])).tolist() == [1, 6]
    outside = np.array([found.low - 9, found.high + 9])
    assert found.rounded(outside).tolist() == [found.low, found.high]


@pytest.mark.parametrize(
    ("ratings", "ends", "message"),
    [
        ([3, 3], (), "tells nothing apart"),
        ([0, 3e-310], (), "tells nothing apart"),
        ([0, 3], (1, 5), "outside"),
    ],
)
def test_scales_that_are_none(ratings: list[float], ends: tuple[float], message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        Scale.of(np.array(ratings, float), *ends)
    assert "--scale" in caught.value.remedy


def test_without_torch_the_remedy_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(name='torch')\n")
    (tmp_path / "outputs.tsv").write_text("mr\ttext\nhello()\tHello.\n")
    places = os.pathsep.join([str(tmp_path), str(ROOT / "workflow")])
    command = [sys.executable, "-m", "refless.cli", "qe", "--outputs", "outputs.tsv"]
    environment = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "make torch" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_of_the_model_that_comes_along_has_its_numbers() -> None:
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    about = card(read_model(shipped_model()))
    worth = about["worth"]
    assert f"{about['trained']['texts']:,} rated outputs" in page
    for name in ("spearman", "mse"):
        low, high = worth[f"{name}_low"], worth[f"{name}_high"]
        assert f"| {worth[name]:.3f} ({low:.3f} to {high:.3f}) |" in page
    assert shipped_model().stat().st_size < 3e6
