"""The network of the authors' code, as differences from the paper's text that can stand alone.

Stage: none. Settings, rules, training and tables share these names; nothing is imported here.

Source: github.com/tuetschek/ratpred at ff778e8 (July 2017), the configuration with
``batch_size: 50``, and what it calls in github.com/UFAL-DSG/tgen; read, and written anew. What is
not rebuilt: their GRU resets the state before its product (see `network`), batches are of rows in
random order (ours each have the same mixture of lengths), tokenisation and delexicalisation are
theirs, and a token of a text unknown to training has a random vector. ``disk_store_min_pass: 20``
decides when the best pass so far is saved, not which pass is best: it changes no prediction of a
training that ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One choice of the authors' code that the paper's text does not have.

    said : what it is, for the notes of a table
    architecture, schedule, reading, data : settings that it changes, see `network.Architecture`,
        `training.Schedule`, `reading.Reading` and `data.Synthesis`
    """

    said: str
    architecture: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


DIFFERENCES = {
    "layers": Difference(
        "two stacked recurrent layers, whose last states all go on", architecture={"stacked": 2}
    ),
    "start": Difference(
        "weights before training as TensorFlow 0.12 and the authors' code have them",
        architecture={"start": "authors"},
    ),
    "reversed": Difference(
        "tokens from right to left, with symbols for start, stop and void, at most 50",
        reading={"reversed": True},
    ),
    "acts": Difference(
        "ten acts of the MR, void ones first where there are fewer",
        reading={"acts": True},
    ),
    "choice": Difference(
        "the best pass by 100 Pearson + 100 Spearman - 0.1 distance - 0.1 cost",
        schedule={"choice": "authors"},
    ),
    "onward": Difference(
        "the best pass may lie in pretraining, and Adam goes on",
        schedule={"onward": True},
    ),
    "ratings": Difference(
        "k errors leave min(4, rating - k), and 1 at least", data={"ratings": "authors"}
    ),
    "dictionary": Difference(
        "random words are drawn from what errors are put into, each once more than it stands there",
        data={"dictionary": "sources"},
    ),
}


def changes(difference: str = "") -> dict[str, dict[str, Any]]:
    """Settings by kind (``architecture``, ``schedule``, ``reading``, ``data``) of one difference,
    or of all of them."""
    chosen = [DIFFERENCES[difference]] if difference else list(DIFFERENCES.values())
    return {
        kind: {name: value for one in chosen for name, value in getattr(one, kind).items()}
        for kind in ("architecture", "schedule", "reading", "data")
    }


def notes(difference: str = "") -> list[str]:
    """What one difference is, or all of them are."""
    chosen = [DIFFERENCES[difference]] if difference else list(DIFFERENCES.values())
    return [one.said for one in chosen]
