"""What a run can have of what comes with refless."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from refless.data.obtain import fitting, shipped_files
from refless.store import signed

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
        entry = SimpleNamespace(loader="table", options=options)
        return list(fitting(shipped, SimpleNamespace(data={"chat": entry})))

    assert of_options(unit="pair") == list(shipped)
    assert of_options(unit="item") == ["results/curves/news/data_size.csv"]
    assert fitting(shipped, SimpleNamespace(data={})) == shipped
