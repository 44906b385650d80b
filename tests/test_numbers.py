"""Files of numbers: read back, and refused where they no longer fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.errors import FormatError, StaleError
from refless.kernels import signature
from refless.store.numbers import (
    read_numbers,
    require_fresh,
    require_same_texts,
    write_numbers,
)


def about(**more: Any) -> dict[str, Any]:
    signed = signature("bleu.char", "texts")
    return {
        "task": "made_up",
        "provenance": "computed",
        "settings": {"tau": 0.08, "folds": 5},
        "signatures": [signed],
        **more,
    }


def test_what_was_written_is_read_and_is_the_same_bytes(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3), "b": np.array([[0.5, np.nan]])}
    for name in ("one", "two"):
        write_numbers(arrays, about(), tmp_path / f"{name}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    found, stated = read_numbers(tmp_path / "one.npz")
    assert stated == about()
    assert {name: array.tolist() for name, array in found.items()} == {
        "a": [0, 1, 2],
        "b": [[0.5, pytest.approx(np.nan, nan_ok=True)]],
    }
    require_fresh(stated, {"tau": 0.08, "folds": 5}, tmp_path / "one.npz")


def test_broken_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    with pytest.raises(FormatError, match="whole file of numbers"):
        read_numbers(path)
    write_numbers({"a": np.arange(1000)}, about(), path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(FormatError, match="whole file of numbers"):
        read_numbers(path)
    write_numbers({"a": np.arange(3)}, {"task": "made_up"}, path)
    with pytest.raises(FormatError, match="provenance, settings, signatures"):
        read_numbers(path)


def test_other_code_and_other_settings_are_refused(tmp_path: Path) -> None:
    changed = signature("bleu.char", "texts") | {"fingerprint": "0" * 64}
    with pytest.raises(StaleError, match=r"the code of bleu\.char has changed"):
        require_fresh(about(signatures=[changed]), about()["settings"], tmp_path)
    for settings in ({"tau": 0.09, "folds": 5}, {"tau": 0.08}, {"tau": 0.08, "folds": 5, "x": 1}):
        with pytest.raises(StaleError, match="other settings"):
            require_fresh(about(), settings, tmp_path)


def test_only_versions_of_installed_packages_are_compared(tmp_path: Path) -> None:
    plain = signature("bleu.char", "texts")
    absent = plain | {"packages": {"no-such-package-at-all": "1.0"}}
    require_fresh(about(signatures=[absent]), about()["settings"], tmp_path)
    other = plain | {"packages": {"numpy": "0.1"}}
    with pytest.raises(StaleError, match=r"numpy 0\.1"):
        require_fresh(about(signatures=[other]), about()["settings"], tmp_path)


def test_numbers_of_other_texts_or_ratings_do_not_stand_together(tmp_path: Path) -> None:
    one = {"quality": np.array([0.25, 0.5])}, about(provenance="shipped")
    require_same_texts(one, one, tmp_path)
    other = {"quality": np.array([0.5, 0.5])}, about()
    with pytest.raises(StaleError, match="other texts or ratings"):
        require_same_texts(one, other, tmp_path)
    elsewhere = one[0], about(signatures=[signature("rouge_l.stem", "other texts")])
    with pytest.raises(StaleError, match="other texts or ratings"):
        require_same_texts(one, elsewhere, tmp_path)
