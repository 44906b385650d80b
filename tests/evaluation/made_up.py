"""Invented rated texts: what is good about them is known, so a comparison can be checked.

``python -m tests.evaluation.made_up 400 rated.jsonl`` writes 400 of them, for docs/own_ratings.md.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.user_ratings import read_ratings
from refless.evaluation.read import Rated, of_user

GOOD = ["lovely", "warm", "quiet", "clean", "friendly", "bright", "fresh", "kind"]
BAD = ["rude", "noisy", "cold", "dirty", "slow", "broken", "stale", "dull"]
PLAIN = ["the", "place", "is", "near", "river", "and", "food", "was", "served", "by", "staff"]
SYSTEMS = ("ant", "bee", "cat", "dog")


def rows(n: int = 120, seed: int = 0, **columns: bool) -> list[dict[str, Any]]:
    """Texts whose rating, 1 to 5, grows with their good words and falls with their bad ones."""
    generator = np.random.default_rng(seed)
    found = []
    for k in range(n):
        system = int(generator.integers(len(SYSTEMS)))
        good = int(generator.binomial(4, 0.3 + 0.12 * system))
        words = [
            *generator.choice(GOOD, good),
            *generator.choice(BAD, 4 - good),
            *generator.choice(PLAIN, 5 + int(generator.integers(4))),
        ]
        text = " ".join(generator.permutation(words))
        rating = float(np.clip(round(1 + good + generator.normal(0, 0.7), 2), 1, 5))
        row: dict[str, Any] = {"text": text, "quality": rating, "system": SYSTEMS[system]}
        row["context"] = f"what about place {k % 30}?"
        row["references"] = [" ".join([*GOOD[:3], *PLAIN[k % 5 : k % 5 + 5]])]
        row["score_judge"] = round(good + float(generator.normal(0, 1)), 3)
        found.append({name: value for name, value in row.items() if columns.get(name, True)})
    return found


def write(path: Path, given: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


def read_rated(paths: Sequence[Path], scale: Sequence[float] | None = None) -> Rated:
    return of_user(read_ratings(paths, scale=scale))


if __name__ == "__main__":
    write(Path(sys.argv[2]), rows(int(sys.argv[1])))
