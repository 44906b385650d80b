"""Training: one at a time or together, killed or not, the numbers are the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, SettingError
from refless.experiments.rnn_qe.runs import DATA, PREDICTION_COLUMNS, PREDICTIONS
from refless.models.rnn_qe.batches import Encoded
from refless.store import signed
from tests.models.rnn_qe.test_network import oracle, small

torch = pytest.importorskip("torch", reason="torch is not installed: make torch")

from refless.models.rnn_qe.network import Architecture  # noqa: E402
from refless.models.rnn_qe.training import Member, Run, Schedule, Stack, train  # noqa: E402

TINY = {"embedding": 6, "hidden": 5, "precision": "float64"}


def folds(*sizes: int) -> dict[int, Encoded]:
    return {number: Encoded(small(size, number)) for number, size in enumerate(sizes)}


def schedule(**changes: Any) -> Any:
    return Schedule(**{"pretrain": 2, "train": 3, "rate": 0.01, "batch": 7, **changes})


def trained(data: dict[int, Encoded], seeds: list[int], run: Any = None, **changes: Any) -> Any:
    architecture = Architecture(**TINY)  # type: ignore[arg-type]
    return train(data, seeds, schedule(), architecture, run, **changes)


def assert_same(one: Any, other: Any) -> None:
    pd.testing.assert_frame_equal(one.predictions, other.predictions, check_exact=True)
    assert json.dumps(one.models) == json.dumps(other.models)


def test_together_as_one_at_a_time() -> None:
    # folds of other sizes: other numbers of batches, and other vocabularies
    data = folds(40, 31)
    both = trained(data, [0, 7])
    for number, (seed, fold) in enumerate([(0, 0), (0, 1), (7, 0), (7, 1)]):
        alone = trained({fold: data[fold]}, [seed])
        table = both.predictions
        own = table[(table["fold"] == fold) & (table["seed"] == seed)]
        assert own["id"].tolist() == alone.predictions["id"].tolist()
        np.testing.assert_allclose(own["raw"], alone.predictions["raw"], rtol=0, atol=1e-9)
        for ours, theirs in zip(
            both.models[number]["history"], alone.models[0]["history"], strict=True
        ):
            assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-9)
        for name, value in alone.parameters[0].items():
            np.testing.assert_allclose(both.parameters[number][name], value, rtol=0, atol=1e-9)
    seeds = table[table["fold"] == 0].groupby("seed")["raw"].apply(list)
    assert not np.allclose(seeds[0], seeds[7]), "another seed, another model"


def test_as_torch_trains_it() -> None:
    """Without dropout and in one batch, against torch's GRU and Adam: losses pass by pass."""

    data = folds(24)
    architecture = Architecture(**{**TINY, "dropout": 0})  # type: ignore[arg-type]
    stack = Stack([Member(0, 5)], data, schedule(pretrain=0, train=6, batch=99), architecture)
    one = {k: v.detach()[0].clone().requires_grad_() for k, v in stack.parameters.items()}
    adam = torch.optim.Adam(one.values(), lr=0.01)
    rows = data[0].instances.rows("train")
    truth = torch.from_numpy(data[0].rating[rows])
    losses = []
    for _ in range(6):
        outputs = torch.cat([oracle(architecture, one, data[0], row) for row in rows])
        loss = ((outputs - truth) ** 2).mean()
        losses.append(loss.item())
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
    while not stack.finished:
        stack.advance()
    assert [entry["loss"][0] for entry in stack.history] == pytest.approx(losses, abs=1e-9)
    assert losses[-1] < losses[0]


def test_it_learns_in_half_precision_as_well() -> None:
    data = {0: Encoded(small(400, dev=60))}
    best = {}
    for precision in ("bfloat16", "float32"):
        architecture = Architecture(embedding=16, hidden=16, precision=precision)
        done = train(data, [1], Schedule(0, 12, 0.01, 20), architecture)
        best[precision] = done.models[0]["best"]["pearson"]
    assert best["float32"] > 0.8
    assert best["bfloat16"] == pytest.approx(best["float32"], abs=0.05)
    table = done.predictions
    assert set(table["part"]) == {"dev", "test"}
    assert set((2 * table["prediction"]) % 1) == {0.0}
    assert table["prediction"].between(1, 6).all()
    assert np.abs(table["raw"].clip(1, 6) - table["prediction"]).max() <= 0.25


def test_the_best_pass_over_rated_rows_predicts() -> None:
    done = trained(folds(40), [3])
    (model,) = done.models
    phases = [(entry["phase"], entry["pass"]) for entry in model["history"]]
    assert phases == [("pretrain", 1), ("pretrain", 2), *(("train", k) for k in (1, 2, 3))]
    rated = [entry for entry in model["history"] if entry["phase"] == "train"]
    best = max(rated, key=lambda e: (e["pearson"] or -1) + (e["spearman"] or -1))
    assert model["best"] == best
    dev = done.predictions[done.predictions["part"] == "dev"]
    truth = dict(zip(small(40).id, small(40).rating, strict=True))
    pearson = np.corrcoef(dev["prediction"], [truth[name] for name in dev["id"]])[0, 1]
    assert pearson == pytest.approx(best["pearson"], abs=1e-12)


def scores(model: dict[str, Any], phase: str) -> list[float]:
    own = [entry for entry in model["history"] if entry["phase"] == phase]
    return [sum(-1 if e[k] is None else e[k] for k in ("pearson", "spearman")) for e in own]


def test_a_plateau_of_all_models_ends_training_and_changes_nothing_before() -> None:
    data, architecture = folds(40, 31), Architecture(**TINY)  # type: ignore[arg-type]
    whole, short = (
        train(data, [0], schedule(pretrain=0, train=40, plateau=plateau), architecture)
        for plateau in (0, 4)
    )
    assert {len(model["history"]) for model in whole.models} == {40}
    (ended,) = {len(model["history"]) for model in short.models}
    assert ended < 40
    improved = []
    for one, other in zip(whole.models, short.models, strict=True):
        assert one["history"][:ended] == other["history"]
        found = np.array(scores(other, "train"))
        assert other["best"]["pass"] == found.argmax() + 1
        improved.append(found.argmax() + 1)
    assert ended == max(improved) + 4


def test_a_plateau_is_one_of_all_models_of_the_stack() -> None:
    """Each pass, the last improvement of any model is less than a plateau ago."""
    data, architecture = folds(40, 31), Architecture(**TINY)  # type: ignore[arg-type]
    done = train(data, [0], schedule(pretrain=0, train=40, plateau=4), architecture)
    last = 0
    best = [-np.inf, -np.inf]
    courses = [scores(model, "train") for model in done.models]
    for number, now in enumerate(zip(*courses, strict=True), start=1):
        assert number <= last + 4
        for model, score in enumerate(now):
            if score > best[model]:
                best[model], last = score, number


def test_killed_on_a_plateau_it_ends_where_it_would_have(tmp_path: Path) -> None:
    data, architecture = folds(31), Architecture(**TINY)  # type: ignore[arg-type]
    plan = schedule(pretrain=0, train=40, plateau=4)
    batches: list[int] = []
    whole = train(data, [0], plan, architecture, tick=batches.append)
    for allowed in (len(batches) // 2, len(batches) // 3):
        ticks = 0

        def tick(instances: int, allowed: int = allowed) -> None:
            nonlocal ticks
            ticks += 1
            if ticks > allowed:
                raise Killed

        with pytest.raises(Killed):
            train(data, [0], plan, architecture, Run(checkpoints=tmp_path, every=0), tick)
    assert_same(whole, train(data, [0], plan, architecture, Run(checkpoints=tmp_path, every=0)))


def test_checkpoints_that_are_kept_serve_further_seeds(tmp_path: Path) -> None:
    data = folds(31)
    run = Run(checkpoints=tmp_path, every=0, together=1, keep=True)
    first = trained(data, [0], run)
    seen: list[int] = []
    both = trained(data, [0, 1], run, tick=seen.append)
    assert_same(both, trained(data, [0, 1], Run(together=1)))
    alone = sum(len(data[0].instances.rows(*parts)) * n for parts, n in PHASE_ROWS)
    assert sum(seen) == alone
    own = both.predictions[both.predictions["seed"] == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, first.predictions, check_exact=True)


PHASE_ROWS = [(("train", "pretrain"), 2), (("train",), 3)]
"""Parts and passes of `schedule`."""


def test_without_synthetic_rows_nothing_comes_first() -> None:
    data = small(40)
    part = ["train" if name == "pretrain" else name for name in data.part]
    rated = type(data)(data.id, part, data.mr, data.text, data.rating)
    (model,) = trained({0: Encoded(rated)}, [0]).models
    assert {entry["phase"] for entry in model["history"]} == {"train"}


# ---- interruptions -------------------------------------------------------------------------------


class Killed(BaseException):
    pass


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment_it_ends_with_the_same_bits(tmp_path: Path, workers: int) -> None:
    data = folds(40, 31)
    whole = trained(data, [0, 1], Run(together=2))
    run = Run(together=2, workers=workers, checkpoints=tmp_path, every=0)
    for allowed in (1, 5, 9, 4, 7):
        ticks = 0

        def tick(instances: int, allowed: int = allowed) -> None:
            nonlocal ticks
            ticks += 1
            if ticks > allowed:
                raise Killed

        with pytest.raises(Killed):
            trained(data, [0, 1], run, tick=tick)
    resumed = trained(data, [0, 1], run)
    assert_same(whole, resumed)
    again = trained(data, [0, 1], run, tick=lambda instances: pytest.fail("all was done"))
    assert_same(whole, again)


def test_killed_while_a_checkpoint_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = folds(31)
    whole = trained(data, [0])
    run = Run(checkpoints=tmp_path, every=0)
    real, calls = os.replace, 0

    def replace(source: Any, target: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Killed
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(Killed):
        trained(data, [0], run)
    assert_same(whole, trained(data, [0], run))


def test_other_data_start_anew_and_a_broken_checkpoint_is_named(tmp_path: Path) -> None:
    run = Run(checkpoints=tmp_path, every=0)
    trained(folds(31), [0], run)
    (path,) = tmp_path.glob("*.pt")
    assert_same(trained(folds(32), [0]), trained(folds(32), [0], run))
    assert len(list(tmp_path.glob("*.pt"))) == 2
    whole = path.read_bytes()
    half = len(whole) // 2  # among the weights
    for content in (whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :], b"nonsense"):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=str(path)):
            trained(folds(31), [0], run)
    with pytest.raises(FormatError, match=str(path)):
        trained(folds(31), [0], run)


def script(folder: Path, out: str, checkpoints: str, every: float) -> list[str]:
    """Two seeds of a tiny network; the log goes to standard error."""
    given = [folder / "setup2", {"name": "fast", "train": 40}]
    code = (
        "import logging; from pathlib import PosixPath;"
        "from refless.experiments.rnn_qe.trainer import Run, write_training;"
        "logging.basicConfig(level='INFO');"
        f"run = Run(checkpoints={folder / checkpoints!r}, every={every});"
        f"write_training({folder / out!r}, {folder / 'models'!r}, *{given}, [0, 1], run)"
    )
    return [sys.executable, "-c", code]


def passes(log: str) -> int:
    """How many instances a training was to pass over."""
    said = re.search(r"([\d,]+) instance passes", log)
    return int(said[1].replace(",", "")) if said else 0


def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    data = small(60)
    words = {side: [" ".join(row) for row in getattr(data, side)] for side in ("mr", "text")}
    table = pd.DataFrame({"id": data.id, "part": data.part, **words, "rating": data.rating})
    about = {
        "kind": DATA,
        "of": {"name": "setup2", "fold": 0},
        "settings": {"data": {}},
        "facts": {"folds": 1, "share": 1},
    }
    signed.write(tmp_path / "setup2/fold0.csv", table, about)
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["workflow", *sys.path])}
    options: dict[str, Any] = {"cwd": root, "env": environment | {"OMP_NUM_THREADS": "1"}}
    names = [f"{name}/setup2.csv.gz" for name in ("killed", "whole")]
    command = script(tmp_path, names[0], "kept", 0)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **options) as process:
        while not list((tmp_path / "kept").glob("[!.]*.pt")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / names[0]).exists()
    logs = [
        subprocess.run(one, check=True, stderr=subprocess.PIPE, text=True, **options).stderr
        for one in (command, script(tmp_path, names[1], "other", 60))
    ]
    assert passes(logs[0]) < passes(logs[1])
    killed, whole = (
        signed.read(tmp_path / name, PREDICTIONS, columns=PREDICTION_COLUMNS) for name in names
    )
    pd.testing.assert_frame_equal(killed.content, whole.content, check_exact=True)
    assert killed.about["facts"]["models"] == whole.about["facts"]["models"]
    assert not (tmp_path / "kept").exists()
    assert (tmp_path / "models/fold0.npz").is_file()


# ---- settings ------------------------------------------------------------------------------------


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(SettingError, match="a fold and a seed"):
        trained(folds(31), [])
    for wrong in ({"train": 0}, {"plateau": -1}, {"choice": "luck"}, {"rate": 0}):
        with pytest.raises(SettingError):
            schedule(**wrong)
    with pytest.raises(SettingError, match="cannot use the device"):
        Run(device="xla:9")
