"""What a run can have of what comes with refless."""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from refless.data.obtain import as_it_lies, fitting, own_encoder, shipped_files
from refless.data.task import read_with
from refless.settings import read_settings
from refless.store import signed
from tests.conftest import ROOT

DEFAULTS = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
CHAT: dict[str, Any] = {
    "loader": "table",
    "files": {"path": "a.tsv"},
    "options": {"unit": "pair"},
}
TABLE = pd.DataFrame({"value": [1.0]})


@pytest.mark.drill(
    "Settings",
    "A data set's loader gets other options, and only shipped numbers are at hand",
    "refused",
    "numbers that were made under other options do not stand in: its rows say why they are empty",
)
def test_shipped_numbers_of_other_loader_options_do_not_stand_in(tmp_path: Path) -> None:
    for path, kind, of in (
        ("ratings/chat/texts.csv", "texts", {"task": "chat"}),
        ("curves/chat/data_size.csv", "data size curve", {"task": "chat"}),
        ("cross_task/news.chat.csv", "cross estimates", {"source": "news", "target": "chat"}),
        ("curves/news/data_size.csv", "data size curve", {"task": "news"}),
    ):
        settings = read_with(**CHAT) if kind == "texts" else {}
        signed.write(tmp_path / path, TABLE, {"kind": kind, "of": of, "settings": settings})
    shipped = shipped_files(tmp_path)
    assert len(shipped) == 4

    def of_entry(**changed: object) -> list[str]:
        settings = read_settings({**DEFAULTS, "data": {"chat": CHAT | changed}})
        return list(fitting(shipped, settings))

    assert of_entry() == list(shipped)
    for other in ({"options": {"unit": "item"}}, {"loader": "usr"}, {"files": {"path": "b.tsv"}}):
        assert of_entry(**other) == ["results/curves/news/data_size.csv"]


def without(changed: dict[str, Any]) -> set[str]:
    """The shipped files that do not stand in under a changed configuration."""
    shipped = shipped_files(ROOT / "resources/shipped")
    return set(shipped) - set(fitting(shipped, read_settings(changed)))


@pytest.mark.drill(
    "Settings",
    "The files of two data sets are exchanged, and only shipped numbers are at hand",
    "refused",
    "numbers from other files do not stand in: their rows say why they are empty",
)
@pytest.mark.parametrize(
    ("task", "changed", "lost", "kept"),
    [
        (
            "usr_topicalchat",
            {"files": {"path": "usr/mine.json"}},
            ["delta_bleu/usr_topicalchat/units.csv", "comparison/usr_topicalchat.csv"],
            "delta_bleu/usr_personachat/units.csv",
        ),
        (
            "asap_sas",
            {"options": {"raters": "first"}},
            ["essays/estimates.csv", "comparison/asap_sas.csv"],
            "comparison/nem.csv",
        ),
        (
            "nem",
            {"files": {"path": "mine.csv"}},
            ["rnn_qe/outputs.csv", "rnn_qe/predictions/setup4.csv.gz", "comparison/nem.csv"],
            "essays/estimates.csv",
        ),
        ("sfhot", {"loader": "bagel"}, ["rnn_qe/curve.csv", "delta_bleu/nem/predictor.csv"], ""),
    ],
)
def test_shipped_numbers_of_other_files_do_not_stand_in(
    task: str, changed: dict[str, Any], lost: list[str], kept: str
) -> None:
    asked = deepcopy(DEFAULTS)
    asked["data"][task] |= changed
    gone = without(asked)
    assert {f"results/{path}" for path in lost} <= gone
    assert f"results/{kept}" not in gone


@pytest.mark.drill(
    "Settings",
    "Other data sets give the references, and only shipped numbers are at hand",
    "refused",
    "the networks and the estimates by ΔBLEU of others do not stand in; their rows say why",
)
def test_shipped_numbers_with_other_references_do_not_stand_in() -> None:
    fewer = deepcopy(DEFAULTS)
    fewer["data"]["sfrest"]["experiments"] = {"rnn_qe": False}
    gone = without(fewer)
    assert {"results/rnn_qe/outputs.csv", "results/rnn_qe/predictions/setup1.csv.gz"} <= gone
    assert "results/delta_bleu/nem/predictor.csv" not in gone
    other = deepcopy(DEFAULTS)
    other["data"]["nem"]["experiments"]["delta_bleu_predictor"] = {"references": ["bagel"]}
    assert without(other) == {"results/delta_bleu/nem/predictor.csv"}


def test_shipped_numbers_of_another_first_kernel_do_not_stand_in() -> None:
    changed = deepcopy(DEFAULTS)
    kernels = changed["bleu_neighbors"]["models"]["bleu"]["kernels"]
    kernels[:2] = kernels[1::-1]
    gone = without(changed)
    assert "results/curves/huse_summarization/data_size.csv" in gone
    assert "results/kernels/dstc7/bleu.char.npz" not in gone


@pytest.mark.drill(
    "Settings",
    "tau, a or b of BLEU Neighbors is changed, and only shipped numbers are at hand",
    "refused",
    "numbers that were made under others do not stand in: their rows say why they are empty",
)
def test_shipped_numbers_of_other_neighbors_do_not_stand_in() -> None:
    shipped = shipped_files(ROOT / "resources/shipped")
    assert fitting(shipped, read_settings(DEFAULTS)) == shipped

    def lost(name: str, value: object) -> set[str]:
        changed = deepcopy(DEFAULTS)
        own = changed["bleu_neighbors"]
        if name == "tau":
            own["models"]["bleu"]["tau"] = value
        else:
            own[name] = value
        return set(shipped) - set(fitting(shipped, read_settings(changed)))

    by_tau = lost("tau", 0.12)
    assert {
        "results/kernels/dstc7/bleu.char.npz",
        "results/cross_task/dstc7.dstc7.csv",
        "results/pareto/dstc7/bleu.char.npz",
        "results/rnn_qe/outputs.csv",
        "results/delta_bleu/dstc7/predictor.csv",
    } <= by_tau
    # other kernels, whole matrices, and the essays, which have a tau of their own
    assert not any("meteor" in path or "rouge" in path or "essays" in path for path in by_tau)
    assert "results/kernels/huse_summarization/bleu.char.npz" not in by_tau
    for name, value in (("min_neighbors", 6), ("max_share", 0.5)):
        assert "results/curves/dstc7/data_size.csv" in lost(name, value)
        assert "results/kernels/dstc7/bleu.char.npz" not in lost(name, value)


@pytest.mark.drill(
    "Settings",
    "Other weights are put into the folder of a user's own encoder, with an older time",
    "made again",
    "what was computed with them: size and time of each file are among a job's parameters",
)
def test_other_weights_of_an_own_encoder_are_noticed(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    options = {"model": str(tmp_path)}
    assert own_encoder(options) == [weights.as_posix()]
    before = as_it_lies(options)
    weights.write_bytes(b"two")
    os.utime(weights, (1, 1))
    assert as_it_lies(options) != before
    assert as_it_lies({}) == {}
    assert as_it_lies({"model": str(tmp_path / "none")}) == {}
