"""How fast a fitted neighbors model is: beside making the training texts ready for each call.

Stage: none; `make benchmark`, or `python -m benchmarks.neighbors`. In: texts of ASAP-SAS and DSTC7,
put together to as many as are asked for. Out: a record of numbers with the machine that they were
taken on, and a summary.

The two ways take turns in one process, so that what else the machine does meets both, and their
predictions are compared in passing. Memory is that of a process which does nothing else but fit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import add_data, cores, machine, parser, real_texts, run, take, timed, write
from benchmarks.kernels import peak_memory
from refless.kernels import indexed, neighbor_sums
from refless.models.neighbors import NeighborsRegressor
from refless.models.neighbors_file import load, save

KERNEL, TAU = "bleu.char", 0.08
PACKAGES = ("refless", "numpy", "numba")


def measure(
    texts: Sequence[str], n: int, candidates: int, square: int, runs: int
) -> dict[str, Any]:
    """The whole record.

    Parameters
    ----------
    n : training texts; candidates : of the larger of two calls, the other has one
    square : candidates, and training texts, on which threads are measured
    runs : how often each time is taken

    Raises
    ------
    AssertionError : the two ways, or a model from a file, give different predictions.
    """
    some = take(texts, n + candidates)
    x, s = some[:candidates], some[candidates:]
    quality = np.random.default_rng(0).random(n)
    NeighborsRegressor(KERNEL, TAU).fit(s[:9], quality[:9]).predict(x[:3])  # compiles
    record: dict[str, Any] = {"machine": machine(PACKAGES), "kernel": KERNEL, "tau": TAU}
    record |= {"training": n, "candidates": candidates, "fit": []}
    found: dict[str, list[float]] = {f"{way}_{k}": [] for way in ("anew", "kept") for k in (1, 2)}
    found |= {"ready": [], "threads_1": [], "threads_2": []}
    for _ in range(runs):
        seconds, model = timed(NeighborsRegressor(KERNEL, TAU, threads=1).fit, s, quality)
        record["fit"].append(seconds)
        for size, own in ((1, x[:1]), (2, x)):
            taken, anew = timed(_anew, s, quality, own)
            found[f"anew_{size}"].append(taken)
            taken, kept = timed(model.predict, own)
            found[f"kept_{size}"].append(taken)
            np.testing.assert_array_equal(anew, kept)
        found["ready"].append(timed(_ready, model, x)[0])
    record["seconds"] = found
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        record["save"], _ = timed(save, model, path)
        record["bytes"] = path.stat().st_size
        record["open"] = [timed(load, path)[0] for _ in range(runs)]
        record["open_unchecked"] = [timed(load, path, check=False)[0] for _ in range(runs)]
        np.testing.assert_array_equal(load(path).predict(x), kept)
    del model
    some = take(texts, 2 * square)
    x, s, quality = some[:square], some[square:], np.zeros(square)
    for _ in range(runs):
        for threads in (1, 2):
            taken, _ = timed(neighbor_sums, KERNEL, x, s, quality, [TAU], threads=threads)
            found[f"threads_{threads}"].append(taken)
    record["square"] = square
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        record |= pool.submit(_fitted_alone, take(texts, n)).result()
    return record


def _anew(s: list[str], quality: np.ndarray, x: list[str]) -> np.ndarray:
    return NeighborsRegressor(KERNEL, TAU, threads=1).fit(s, quality).predict(x)


def _ready(model: NeighborsRegressor, x: list[str]) -> None:
    """What a call does besides its pairs."""
    plan = model.index_.plan(x)
    for start, stop in plan.blocks():
        plan.block(start, stop)


def _fitted_alone(s: list[str]) -> dict[str, int]:
    indexed(KERNEL, s[:9])
    before = peak_memory()
    NeighborsRegressor(KERNEL, TAU).fit(s, np.zeros(len(s)))
    return {"peak_bytes": peak_memory(), "peak_bytes_before": before}


def summary(record: dict[str, Any]) -> str:
    """The record in words; ratios run by run, their median."""
    seconds = record["seconds"]

    def middle(name: str) -> float:
        return statistics.median(seconds[name])

    def ratio(over: str, under: str) -> float:
        return statistics.median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))

    n, many = record["training"], record["candidates"]
    lines = [
        f"{n} training texts, {KERNEL}, one thread",
        f"fit                   {statistics.median(record['fit']):.2f} s, at most"
        f" {record['peak_bytes'] / 1e9:.2f} GB ({record['peak_bytes_before'] / 1e9:.2f} before)",
        f"1 candidate           {1e3 * middle('kept_1'):.1f} ms, anew {middle('anew_1'):.2f} s:"
        f" {ratio('anew_1', 'kept_1'):.0f} times",
        f"{many} candidates{' ' * (11 - len(str(many)))}{middle('kept_2'):.2f} s, anew"
        f" {middle('anew_2'):.2f} s: {ratio('anew_2', 'kept_2'):.2f} times;"
        f" {1e9 * middle('kept_2') / n / many:.1f} ns a pair, of which"
        f" {ratio('ready', 'kept_2'):.1%} is not for pairs",
        f"file                  {record['bytes'] / 1e6:.0f} MB, opened in"
        f" {statistics.median(record['open']):.3f} s with its sums checked, in"
        f" {statistics.median(record['open_unchecked']):.4f} s without",
        f"{record['square']} x {record['square']}: two threads are"
        f" {ratio('threads_1', 'threads_2'):.2f} times as fast as one"
        f" ({cores()} cores, load average {record['machine']['load_average']})",
    ]
    return "\n".join(lines)


def main(arguments: argparse.Namespace) -> None:
    begin = time.perf_counter()
    texts, about = real_texts(arguments.data)
    record = measure(texts, arguments.n, arguments.candidates, arguments.square, arguments.runs) | {
        "texts": about
    }
    write(record, arguments)
    print(summary(record))
    print(f"{time.perf_counter() - begin:.0f} s in all")


options = parser(__doc__.splitlines()[0], "neighbors")
add_data(options)
options.add_argument("--n", type=int, default=1_000_000, help="training texts")
options.add_argument("--candidates", type=int, default=1000)
options.add_argument(
    "--square", type=int, default=10_000, help="texts on which threads are measured"
)

if __name__ == "__main__":
    run(main, options)
