"""The record of a run, and what the rules cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError
from refless.store import provenance, signed
from refless.store.code import package_sum

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def write_benchmark(path: Path, seconds: float, memory: str, cpu: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    row = [str(seconds), "0:00:01", memory, "1", "1", "1", "0", "0", "50", cpu]
    path.write_text(HEADER + "\t".join(row) + "\n")


def test_record_has_what_a_rerun_needs() -> None:
    about = {"files": {"one.csv": "5"}, "rows": 4, "provenance": {"computed": 3, "shipped": 1}}
    table = {**about, "caption": "not for programs"}
    found = provenance.record({"a": 1}, "auto", {"t": {"z.csv": "1"}}, {"one": table})
    assert found["tables"] == {"one": about}
    assert found["settings"] == {"a": 1}
    assert found["data"] == {"t": {"z.csv": "1"}}
    assert found["packages"]["numpy"] == np.__version__
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["memory_gib"] > 0
    assert found["code"]["sha256"] == package_sum()
    assert found["command"].endswith("numbers=auto")


def test_sums_of_raw_files_are_those_of_the_texts_records(tmp_path: Path) -> None:
    about = {"kind": "texts", "of": {"task": "t"}, "made_from": {"raw.csv": "17"}}
    signed.write(tmp_path / "texts.csv", pd.DataFrame({"id": ["1"]}), about)
    assert provenance.raw_sums([tmp_path / "texts.csv"]) == {"t": {"raw.csv": "17"}}
    with pytest.raises(FormatError, match=r"none\.csv"):
        provenance.raw_sums([tmp_path / "none.csv"])


def test_resources_add_up_by_rule(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "fit" / "a" / "one.tsv", 2.0, "100", "1.5")
    write_benchmark(tmp_path / "fit" / "two.tsv", 3.0, "300", "2.5")
    write_benchmark(tmp_path / "draw.tsv", 0.1, "-", "-")
    table = provenance.resources(tmp_path)
    assert list(table.columns) == provenance.RESOURCE_COLUMNS
    assert table["rule"].tolist() == ["fit", "draw"]
    fit = table.iloc[0]
    assert fit["jobs"] == 2
    assert fit["seconds"] == 5.0
    assert fit["longest_seconds"] == 3.0
    assert fit["cpu_seconds"] == 4.0
    assert fit["peak_memory_mb"] == 300.0
    assert np.isnan(table.iloc[1]["peak_memory_mb"])


def test_no_benchmark_gives_an_empty_table(tmp_path: Path) -> None:
    assert len(provenance.resources(tmp_path)) == 0


def test_a_broken_benchmark_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "fit.tsv").write_text("s\n1\n")
    with pytest.raises(FormatError, match=r"fit\.tsv"):
        provenance.resources(tmp_path)
