"""How fast ΔBLEU's experiment is: beside scoring each unit anew.

Stage: none; `make benchmark`. In: dialogues. Out: a record of numbers with the machine that they
were taken on, and a table of them.

A peer scores a random sample of the units, each from its texts, as one would without statistics
that add up; tokens are made beforehand. Ours is timed from the same tokens to the scores of all
units. The scores of the sampled units are compared in passing.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.kernels_timing import generated_texts, machine, timed

from refless.data.sources import load
from refless.experiments.delta_bleu.dialogues import (
    LEAST,
    Cell,
    Counted,
    Dialogues,
    read_dialogues,
    tokenize,
    weights,
)
from refless.experiments.delta_bleu.units import observations, plain_pool
from refless.models.delta_bleu import Statistics, corpus_delta_bleu, scores
from refless.report.published import markdown

log = logging.getLogger(__name__)

UNIT = 100
ORDER = 2
TOLERANCE = 1e-9


def real_dialogues(archive: Path) -> Dialogues:
    """DSTC7's dialogues."""
    return read_dialogues(load("dstc7", "dstc7", {"path": archive}).texts)


def generated_dialogues(contexts: int = 1000, systems: int = 9) -> Dialogues:
    """As many of generated texts, rated at random."""
    texts, _ = generated_texts(contexts * (systems + 1))
    names = ["human", *(f"system {k}" for k in range(systems))]
    rng = np.random.default_rng(0)
    return read_dialogues(
        pd.DataFrame(
            {
                "text": texts,
                "quality": rng.integers(0, 25, len(texts)) / 24,
                "n_ratings": 3,
                "system": names * contexts,
                "context_id": np.repeat(np.arange(contexts).astype(str), len(names)),
            }
        )
    )


def measure(
    dialogues: Dialogues, source: str, *, assignments: int, sample: int, runs: int
) -> dict[str, Any]:
    """The whole record: seconds of ours for all units of all pairs, of the peers for one unit.

    Parameters
    ----------
    assignments : of contexts to units
    sample : units that a peer scores in a run
    """
    tokens = [tokenize(text) for text in dialogues.texts]
    about = machine()
    pool = plain_pool(np.arange(len(dialogues.output)), assignments)
    units = 2 * len(dialogues.pairs) * assignments * (len(dialogues.output) // UNIT)
    record: dict[str, Any] = {
        "machine": about,
        "texts": {"source": source, "contexts": len(dialogues.output)},
        "unit": UNIT,
        "order": ORDER,
        "assignments": assignments,
        "scores": units,
        "sample": sample,
        "rows": [],
    }
    for name, cell, peer in _peers():
        members = _sampled(dialogues, cell, tokens, sample)
        peer(*members[0])  # what it does once
        counting, adding, alone = [], [], []
        for _ in range(runs):
            counted = Counted(dialogues, ORDER)
            counting.append(timed(counted.rows, cell)[0])
            adding.append(timed(observations, counted, [cell], pool, UNIT, 0)[0])
            seconds, found = timed(lambda: [peer(*member) for member in members])  # noqa: B023
            alone.append(seconds / len(members))
        _agree(name, dialogues, cell, found, sample)
        spent = zip(alone, counting, adding, strict=True)
        ratio = [one * units / (count + add) for one, count, add in spent]
        record["rows"].append(
            {
                "metric": cell.metric,
                "peer": name,
                "counting": counting,
                "adding": adding,
                "alone": alone,
                "ratio": ratio,
            }
        )
        log.info("%s beside %s: %.0f times", cell.metric, name, statistics.median(ratio))
    return record


Member = tuple[list[str], list[list[str]], list[list[float]]]


def _peers() -> list[tuple[str, Cell, Callable[..., float]]]:
    """Name, what is scored, and the peer."""
    found: list[tuple[str, Cell, Callable[..., float]]] = [
        ("corpus_delta_bleu", Cell("delta_bleu"), _direct),
        ("corpus_delta_bleu at weights 1", Cell("bleu"), _direct),
    ]
    if find_spec("sacrebleu") is not None:
        import sacrebleu

        metric = sacrebleu.BLEU(tokenize="none", force=True, max_ngram_order=ORDER)

        def score(hypotheses: list[str], references: list[list[str]], _: Any) -> float:
            streams = [list(column) for column in zip(*references, strict=True)]
            return float(metric.corpus_score(hypotheses, streams).score) / 100

        found.append(("sacrebleu", Cell("bleu"), score))
    return found


def _direct(
    hypotheses: list[str], references: list[list[str]], weights: list[list[float]]
) -> float:
    return corpus_delta_bleu(hypotheses, references, weights, ORDER, "smooth")


def _units(dialogues: Dialogues, sample: int) -> list[tuple[int, int, np.ndarray]]:
    """System, the other of the pair, and the contexts of each sampled unit."""
    rng = np.random.default_rng(1)
    n = len(dialogues.output)
    found = []
    for _ in range(sample):
        a, b = dialogues.pairs[rng.integers(len(dialogues.pairs))]
        found.append((a, b, rng.permutation(n)[:UNIT]))
    return found


def _sampled(dialogues: Dialogues, cell: Cell, tokens: list[str], sample: int) -> list[Member]:
    """Texts, references and weights of each sampled unit, as a peer wants them."""
    weight = weights(dialogues, "scale")
    members = []
    for a, b, contexts in _units(dialogues, sample):
        others = [s for s in range(len(dialogues.systems)) if s not in (a, b)]
        references = np.c_[dialogues.human[contexts], dialogues.output[contexts][:, others]]
        given = weight[references] if cell.metric == "delta_bleu" else np.ones(references.shape)
        lost = ~(given > 0).any(axis=1)
        given[lost, 0] = np.maximum(given[lost, 0], LEAST)
        members.append(
            (
                [tokens[k] for k in dialogues.output[contexts, a]],
                [[tokens[k] for k in row] for row in references],
                given.tolist(),
            )
        )
    return members


def _agree(name: str, dialogues: Dialogues, cell: Cell, found: list[float], sample: int) -> None:
    """Compare the peer's scores with ours of the same units."""
    rows = Counted(dialogues, ORDER).rows(cell)
    for (a, b, contexts), theirs in zip(_units(dialogues, sample), found, strict=True):
        total = rows[a, b, contexts].sum(axis=0)
        ours = scores(
            Statistics(
                total[:ORDER], total[ORDER : 2 * ORDER], total[2 * ORDER], total[2 * ORDER + 1]
            ),
            "smooth",
        )
        if abs(float(ours) - theirs) > TOLERANCE:
            raise AssertionError(f"{name} gives {theirs}, the sums give {float(ours)}")


def table(record: dict[str, Any]) -> str:
    """The record for reading."""
    lines = []
    for row in record["rows"]:
        ratio = row["ratio"]
        lines.append(
            [
                row["metric"],
                row["peer"],
                f"{1e3 * statistics.median(row['alone']):.2f}",
                f"{statistics.median(row['counting']):.2f}",
                f"{statistics.median(row['adding']):.2f}",
                f"{1e6 * statistics.median(row['adding']) / record['scores']:.2f}",
                f"{statistics.median(ratio):,.0f} ({min(ratio):,.0f}–{max(ratio):,.0f})",
            ]
        )
    header = ["metric", "each unit anew by", "ms a unit", "counting once, s", "all units, s"]
    return markdown([*header, "µs a unit", "times as fast"], lines)
