"""How fast ΔBLEU's experiment is: beside scoring each unit anew.

`make benchmark`, or `python -m benchmarks.delta_bleu`, on DSTC7's dialogues. A peer scores a random
sample of the units, each from its texts, as one would without statistics that add up; tokens are
made beforehand. Ours is timed from the same tokens to the scores of all units.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import sacrebleu

from benchmarks.common import HEAD, line, parser, responses, run, timed
from refless.experiments.delta_bleu.dialogues import (
    FALLBACK_WEIGHT,
    Counted,
    Dialogues,
    Variant,
    read_dialogues,
    tokenize,
)
from refless.experiments.delta_bleu.units import observations
from refless.models.delta_bleu import corpus_delta_bleu, scores

UNIT = 100
ORDER = 2
TOLERANCE = 1e-9


def measure_units(dialogues: Dialogues, assignments: int, sample: int, runs: int) -> list[str]:
    """Return a line for each peer: its time for a unit, and ours, a mean over all units of all
    pairs.

    assignments : how often contexts are dealt into units
    sample : the number of units that a peer scores in a run
    runs : how often each time is taken
    Raises AssertionError: a peer scores a unit otherwise.
    """
    pool = np.tile(np.arange(len(dialogues.output), dtype=np.int32), (assignments, 1))
    units = 2 * len(dialogues.pairs) * assignments * (len(dialogues.output) // UNIT)
    chosen = sampled(dialogues, sample)
    lines = []
    for name, metric, peer in delta_bleu_peers():
        variant = Variant(metric)
        peer(*chosen[0][1])  # what it does once
        ours = []
        alone = []
        for _ in range(runs):
            counted = Counted(dialogues, ORDER)
            counting, rows = timed(counted.rows, variant)
            adding, _ = timed(observations, counted, [variant], pool, UNIT, 0)
            ours.append((counting + adding) / units)
            seconds, scored = timed(lambda: [peer(*texts) for _, texts in chosen])  # noqa: B023
            alone.append(seconds / sample)
        for (unit, _), theirs in zip(chosen, scored, strict=True):
            if abs(_score(rows[unit].sum(axis=0)) - theirs) > TOLERANCE:
                raise AssertionError(f"{name} gives {theirs}, the sums {_score(rows[unit].sum(0))}")
        lines.append(line(f"{metric}, a unit", name, alone, ours))
    return lines


Unit = tuple[list[str], list[list[str]], list[list[float]]]
"""Outputs of a system in a unit's contexts, their references, and the references' weights."""
Peer = Callable[[list[str], list[list[str]], list[list[float]]], float]


def delta_bleu_peers() -> list[tuple[str, str, Peer]]:
    """Return the name of each peer, its metric, and the function that scores outputs beside
    references of given weights."""
    metric = sacrebleu.BLEU(tokenize="none", force=True, max_ngram_order=ORDER)

    def unweighted(outputs: list[str], references: list[list[str]], _: Any) -> float:
        """Return BLEU of one unit, whatever the weights of its references."""
        streams = [list(column) for column in zip(*references, strict=True)]
        return float(metric.corpus_score(outputs, streams).score) / 100

    return [("corpus_delta_bleu", "delta_bleu", _anew), ("sacrebleu", "bleu", unweighted)]


def _anew(outputs: list[str], references: list[list[str]], weights: list[list[float]]) -> float:
    """Return ΔBLEU of one unit, counted from its texts."""
    return corpus_delta_bleu(outputs, references, weights, ORDER, "smooth")


UnitKey = tuple[int, int, np.ndarray]
"""Of a unit: its system, the other of the pair, and the contexts."""


def sampled(dialogues: Dialogues, sample: int) -> list[tuple[UnitKey, Unit]]:
    """Return ``sample`` random units of random pairs of systems. References are the human responses
    and the outputs of all systems that are not of the pair."""
    tokens = [tokenize(text) for text in dialogues.texts]
    rng = np.random.default_rng(1)
    units = []
    for _ in range(sample):
        a, b = dialogues.pairs[rng.integers(len(dialogues.pairs))]
        contexts = rng.permutation(len(dialogues.output))[:UNIT]
        others = [s for s in range(len(dialogues.systems)) if s not in (a, b)]
        references = np.c_[dialogues.human[contexts], dialogues.output[contexts][:, others]]
        weights = 2 * dialogues.quality[references] - 1
        lost = ~(weights > 0).any(axis=1)
        weights[lost, 0] = np.maximum(weights[lost, 0], FALLBACK_WEIGHT)
        outputs = [tokens[k] for k in dialogues.output[contexts, a]]
        texts = []
        for row in references:
            texts.append([tokens[k] for k in row])
        units.append(((a, b, contexts), (outputs, texts, weights.tolist())))
    return units


def _score(total: np.ndarray) -> float:
    """Return the score of summed rows, (columns,): matches and totals by order, length, closest
    length, and more."""
    return float(scores(total[: 2 * ORDER + 2], "smooth"))


def main(arguments: argparse.Namespace) -> None:
    dialogues = read_dialogues(responses(arguments.data))
    lines = measure_units(dialogues, arguments.assignments, arguments.sample, arguments.runs)
    print(HEAD, *lines, sep="\n")


_options = parser(__doc__.splitlines()[0])
_options.add_argument("--assignments", type=int, default=1000)
_options.add_argument("--sample", type=int, default=40, help="units that a peer scores in a run")

if __name__ == "__main__":
    run(main, _options)
