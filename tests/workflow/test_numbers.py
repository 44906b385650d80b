"""Where numbers come from: computed, taken as shipped, or missing with a reason.

The small project has numbers of its own to take: `ship` writes them.
"""

from __future__ import annotations

import shutil

import pandas as pd

from refless.data.task import read_task
from refless.store import signed
from tests.conftest import Project

OFFLINE = ["--config", "network=False", "numbers=auto"]


def read(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(project.path / f"results/tables/{name}.csv", dtype={"setup": str})


def test_what_is_shipped_gives_the_same_tables_and_holds_no_text(changed: Project) -> None:
    changed.snakemake("ship")
    shipped = changed.path / "resources/shipped"
    texts = {
        text
        for folder in (changed.path / "results/ratings").iterdir()
        for text in read_task(folder).texts["text"]
    }
    for path in shipped.rglob("*.*"):
        about = signed.verify(path)
        assert about["provenance"] == "shipped"
        if path.suffix == ".csv":
            content = path.read_text(encoding="utf-8")
            assert not any(text in content for text in texts), path
    assert not any(read_task(shipped / "ratings/mine").texts["text"])

    # another user, without results and raw data
    shutil.rmtree(changed.path / "resources/data")
    quick = Project(changed.path.parent / "quick")
    quick.path.mkdir()
    for name in ("Snakefile", "workflow", "envs", "profiles", "config", "resources"):
        (changed.path / name).rename(quick.path / name)
    names = ["bleu_neighbors_table1", "delta_bleu_table2"]
    computed = {name: read(changed, name) for name in names}
    quick.snakemake(*names, *OFFLINE)
    for name, before in computed.items():
        after = read(quick, name)
        there = after["source"].notna()
        assert set(after.loc[there, "source"]) == {"shipped"}
        values = [c for c in after if c not in ("source", "reason")]
        pd.testing.assert_frame_equal(after[values], before[values])
    assert not (quick.path / "resources/data").exists()
    assert quick.planned(*names, *OFFLINE) == {}

    # The raw data come: shipped tables have no texts, so they are read before anything is computed.
    planned = Project(quick.path, changed.mirror).planned("bleu_neighbors_table1")
    assert planned["normalize_ratings"] >= 1
    assert planned["compute_kernel"] >= 1


def test_nothing_shipped_and_nothing_at_hand_leaves_reasons(fresh: Project) -> None:
    """Every missing file of a data set with its remedy; and nothing is planned for it."""
    fresh.mirror = ""
    (fresh.path / "mine.tsv").unlink()
    names = ["bleu_neighbors_table1", "bleu_neighbors_table3"]
    fresh.snakemake(*names, *OFFLINE)
    first = read(fresh, names[0])
    assert first["mse"].isna().all()
    assert first["reason"].ne("").all()
    essays = read(fresh, names[1])
    own = essays[essays["model"] == "bleu_neighbors"]
    assert own["spearman"].isna().all()
    assert set(own["reason"]) == {"raw_file_missing"}
    assert not (fresh.path / "results/ratings").exists()


def test_with_shipped_numbers_alone_no_file_is_asked_for(fresh: Project) -> None:
    fresh.snakemake("bleu_neighbors_table1", "--config", "numbers=shipped")
    first = read(fresh, "bleu_neighbors_table1")
    assert first["mse"].isna().all()
    assert not first["reason"].str.contains("raw_file_missing").any()
