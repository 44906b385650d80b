"""What a run can have of what comes with refless."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from refless.data.obtain import fitting, shipped_files
from refless.settings import read_settings
from refless.store import signed
from tests.conftest import ROOT

DEFAULTS = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
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
        settings = {"loader": "table", "unit": "pair"} if kind == "texts" else {}
        signed.write(tmp_path / path, TABLE, {"kind": kind, "of": of, "settings": settings})
    shipped = shipped_files(tmp_path)
    assert len(shipped) == 4

    def of_options(**options: str) -> list[str]:
        settings = read_settings(DEFAULTS).model_copy(
            update={"data": {"chat": SimpleNamespace(loader="table", options=options)}}
        )
        return list(fitting(shipped, settings))

    assert of_options(unit="pair") == list(shipped)
    assert of_options(unit="item") == ["results/curves/news/data_size.csv"]


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
