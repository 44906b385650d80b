"""What a run can have of what comes with refless."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from refless.data import obtain
from refless.data.fetch import Places, Source
from refless.data.obtain import as_it_lies, fitting, shipped_files, why_not
from refless.data.task import read_with
from refless.errors import FormatError
from refless.settings import read_settings
from refless.store import signed
from refless.store.files import list_sums
from tests.conftest import ROOT

DEFAULTS = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
CHAT: dict[str, Any] = {
    "loader": "table",
    "files": {"path": "a.tsv"},
    "options": {"format": "tsv"},
}
TABLE = pd.DataFrame({"value": [1.0]})


def test_shipped_numbers_of_other_loader_options_do_not_stand_in(tmp_path: Path) -> None:
    for path, kind, of in (
        ("ratings/chat/texts.csv", "texts", {"task": "chat"}),
        ("curves/chat/data_size.csv", "data size curve", {"task": "chat"}),
        ("cross_task/news.chat.csv", "cross estimates", {"source": "news", "target": "chat"}),
        ("curves/news/data_size.csv", "data size curve", {"task": "news"}),
    ):
        settings = read_with(**CHAT) if kind == "texts" else {}
        signed.write(tmp_path / path, TABLE, {"kind": kind, "of": of, "settings": settings})
    list_sums(tmp_path, "")
    shipped = shipped_files(tmp_path)
    assert len(shipped) == 4

    def of_entry(**changed: object) -> list[str]:
        settings = read_settings({**DEFAULTS, "data": {"chat": CHAT | changed}})
        return list(fitting(shipped, settings))

    assert of_entry() == list(shipped)
    for other in (
        {"options": {"format": "csv"}},
        {"loader": "usr", "options": {}},
        {"files": {"path": "b.tsv"}},
    ):
        assert of_entry(**other) == ["results/curves/news/data_size.csv"]


@pytest.mark.parametrize("harm", ["damaged", "deleted", "more", "no list"])
def test_shipped_files_are_those_of_the_list(tmp_path: Path, harm: str) -> None:
    paths = [tmp_path / name for name in ("data_sets.csv", "curves/chat/data_size.csv")]
    for path in paths:
        signed.write(path, TABLE, {"kind": path.stem, "of": {}, "settings": {}})
    list_sums(tmp_path, "")
    assert len(shipped_files(tmp_path)) == 2
    wrong = paths[0]
    if harm == "damaged":
        signed.write(wrong, TABLE, {"kind": "another", "of": {}, "settings": {}})
    elif harm == "deleted":
        wrong.unlink()
    elif harm == "more":
        wrong = tmp_path / "curves/news.csv"
        shutil.copy(paths[1], wrong)
    else:
        wrong = tmp_path / "SHA256SUMS"
        wrong.unlink()
    with pytest.raises(FormatError) as caught:
        shipped_files(tmp_path)
    assert str(wrong) in str(caught.value)
    if harm == "more":
        assert "delete it, or move it" in caught.value.remedy
        wrong.unlink()
        assert len(shipped_files(tmp_path)) == 2
        return
    assert f"git -C {tmp_path} checkout -- ." in caught.value.remedy
    if harm == "no list":
        return
    # that the change is meant
    (renew,) = re.findall(r"if the change is meant, `(.+)` renews", caught.value.remedy)
    subprocess.run(shlex.split(renew), check=True)
    assert len(shipped_files(tmp_path)) == 2 - (harm == "deleted")
    # what was made here has no list
    assert len(shipped_files(tmp_path / "nothing", tmp_path / "curves")) == 1


def without(changed: dict[str, Any]) -> set[str]:
    """The shipped files that do not stand in under a changed configuration."""
    shipped = shipped_files(ROOT / "resources/shipped")
    return set(shipped) - set(fitting(shipped, read_settings(changed)))


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
        (
            "sfhot",
            {"loader": "bagel", "files": {"path": "a.txt"}},
            ["rnn_qe/curve.csv"],
            "",
        ),
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


def test_shipped_numbers_with_other_references_do_not_stand_in() -> None:
    fewer = deepcopy(DEFAULTS)
    fewer["data"]["sfrest"]["experiments"] = {"rnn_qe": False}
    gone = without(fewer)
    assert {"results/rnn_qe/outputs.csv", "results/rnn_qe/predictions/setup1.csv.gz"} <= gone


def test_shipped_numbers_of_another_first_kernel_do_not_stand_in() -> None:
    changed = deepcopy(DEFAULTS)
    kernels = changed["bleu_neighbors"]["models"]["bleu"]["kernels"]
    kernels[:2] = kernels[1::-1]
    gone = without(changed)
    assert "results/curves/huse_summarization/data_size.csv" in gone
    assert "results/kernels/dstc7/bleu.char.npz" not in gone


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
        "results/cross_task/dstc7.huse_summarization.csv",
    } <= by_tau
    # other kernels, whole matrices, and what has a tau of its own
    kept = ("meteor", "rouge", "essays", "rnn_qe")
    assert not any(name in path for path in by_tau for name in kept)
    assert "results/kernels/huse_summarization/bleu.char.npz" not in by_tau
    for name, value in (("min_neighbors", 6), ("max_share", 0.5)):
        assert "results/curves/dstc7/data_size.csv" in lost(name, value)
        assert "results/kernels/dstc7/bleu.char.npz" not in lost(name, value)


def test_another_encoder_that_nothing_fetches_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, baseline = tmp_path / "model/model.safetensors", tmp_path / "base.csv"
    weights.parent.mkdir()
    mine = {"model": str(weights.parent), "baseline": str(baseline)}
    assert as_it_lies("bertscore.mine", mine) == {}
    for path in (weights, baseline):
        path.write_bytes(b"one")
    kernels = [("bertscore.mine", mine), ("embedding.mine", {"model": str(weights.parent)})]
    kernels.append(("bertscore.fetched", {"baseline": str(baseline)}))
    before = [as_it_lies(*one) for one in kernels]
    for path in (weights, baseline):
        times = path.stat()
        path.write_bytes(b"two")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    for one, known in zip(kernels, before, strict=True):
        again = as_it_lies(*one)
        assert known.keys() == again.keys() != set()
        assert all(again[name] != known[name] for name in again)
    monkeypatch.setattr(obtain, "in_package", lambda model: weights.parent)
    packed = as_it_lies("embedding.packed", {})
    assert packed == as_it_lies(*kernels[1]) != before[1]
    weights.write_bytes(b"six")
    assert as_it_lies("embedding.packed", {}) != packed
    assert as_it_lies("bleu.char", {}) == {}


def test_what_a_run_can_have_of_raw_files_is_known_from_the_disk(tmp_path: Path) -> None:
    public = Source("huse/a.csv", "https://example.org/a.csv", "0" * 64)
    by_hand = Source("huse/b.csv", about="worksheet")
    here = Places(tmp_path / "data", tmp_path / "manual")
    offline = replace(here, network=False)
    remote = Places(here.data, here.manual, "https://example.org", network=False)
    assert why_not(public, here, "computed") is None
    assert why_not(public, remote, "auto") is None
    for source, places, numbers in (
        (by_hand, here, "computed"),
        (public, here, "auto"),
        (public, offline, "computed"),
        (by_hand, remote, "computed"),
    ):
        reason = why_not(source, places, numbers)
        assert reason is not None
        assert reason.code == "raw_file_missing"
        assert str(here.manual / source.path) in reason.remedy
    for source in (public, by_hand):
        path = here.by_hand(source)[1]
        path.parent.mkdir(exist_ok=True)
        path.touch()
        assert why_not(source, offline, "auto") is None
        assert why_not(source, here, "shipped") is not None
