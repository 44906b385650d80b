"""Scales of ratings, and the model that comes along; no torch is needed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from refless.errors import FormatError, SettingError
from refless.models.rnn_qe.saved import card, read_model, shipped_model
from refless.models.rnn_qe.scale import HALF_POINTS, Scale

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("ratings", "step"),
    [
        ([1, 6, 2.5], None),
        ([1, 2, 3, 5], 1),
        ([0, 50, 70, 100], None),
        ([0, 0.13, 1], None),
        ([-2, 0, 2], 2),
        ([0, 0.3, 0.4, 1], 0.1),
    ],
)
def test_scales_are_kept(ratings: list[float], step: float | None) -> None:
    given, low, high = np.array(ratings, float), min(ratings), max(ratings)
    found = Scale.of(given, low, high)
    assert found == Scale(low, high, step)
    np.testing.assert_allclose(found.given_back(found.stretched(given)), given, atol=1e-12)
    assert found.stretched(np.array([low, high])).tolist() == [1, 6]
    # ratings themselves are levels, and may be looked up
    assert found.rounded(given + (1e-13 if step else 0)).tolist() == given.tolist()
    assert found.rounded(np.array([low - 9, high + 9])).tolist() == [low, high]


def test_ratings_that_are_all_alike_have_no_scale() -> None:
    with pytest.raises(FormatError, match="all ratings are 3") as caught:
        Scale.of(np.array([3.0, 3.0]), 3, 3)
    assert "--scale" in caught.value.remedy


def test_the_papers_scale_has_half_points() -> None:
    raw = np.array([4.3, 4.2, 9.0, -1.0, 1.75, 2.25])
    assert HALF_POINTS.rounded(raw).tolist() == [4.5, 4.0, 6.0, 1.0, 2.0, 2.0]


def test_without_torch_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it fails
    monkeypatch.delitem(sys.modules, "refless.models.rnn_qe.network", raising=False)
    with pytest.raises(SettingError) as caught:
        importlib.import_module("refless.models.rnn_qe.network")
    assert caught.value.remedy == "make torch"


def test_the_page_of_the_model_that_comes_along_has_its_numbers() -> None:
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    about = card(read_model(shipped_model()))
    worth = about["worth"]
    assert f"{about['trained']['texts']:,} rated outputs" in page
    for name in ("spearman", "mse"):
        low, high = worth[f"{name}_low"], worth[f"{name}_high"]
        assert f"| {worth[name]:.3f} ({low:.3f} to {high:.3f}) |" in page
    assert shipped_model().stat().st_size < 3e6
