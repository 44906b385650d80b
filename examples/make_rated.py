"""Invents the examples of README: rated texts, and more texts of the same systems without ratings.

``python examples/make_rated.py`` writes, beside itself and the same bytes each time, ``rated.tsv``
(200 texts that three annotators rated from 1 to 5), ``new.tsv`` (600 texts of the same systems that
nobody rated) and ``all.tsv`` (both, without ratings). What is true is known, so that answers can be
judged: a text is good by its good words and bad by its bad ones; ant writes the worst texts and dog
the best; annotators see the quality with noise; so does score_judge, which gives dog a point too
much; score_overlap sees little of it.
"""

import csv
from pathlib import Path

import numpy as np

GOOD = ["lovely", "warm", "quiet", "clean", "friendly", "bright", "fresh", "kind"]
BAD = ["rude", "noisy", "cold", "dirty", "slow", "broken", "stale", "dull"]
PLAIN = ["the", "place", "is", "near", "river", "and", "food", "was", "served", "by", "staff"]
SYSTEMS = ("ant", "bee", "cat", "dog")
CONTEXTS = 40
ANNOTATORS = ("ann", "ben", "cleo")
SCORES = ["score_judge", "score_overlap"]
FAVOURED, FAVOUR = "dog", 1.0
"""The system that the judge favours, and by how many points of the ratings."""


def main(folder: Path = Path(__file__).parent) -> None:
    generator = np.random.default_rng(2026)
    texts = [invent(generator, number) for number in range(800)]
    columns = ["text", "system", "context", *SCORES]
    write(folder / "rated.tsv", texts[:200], [*columns, *ANNOTATORS])
    write(folder / "new.tsv", texts[200:], columns)
    write(folder / "all.tsv", texts, columns)


def invent(generator: np.random.Generator, number: int) -> dict[str, object]:
    """A text with all that is known of it. Of each four in a row, one is by each system, and all
    answer one context."""
    system = SYSTEMS[number % len(SYSTEMS)]
    good = int(generator.binomial(4, 0.4 + 0.08 * SYSTEMS.index(system)))
    words = [
        *generator.choice(GOOD, good),
        *generator.choice(BAD, 4 - good),
        *generator.choice(PLAIN, 5 + int(generator.integers(4))),
    ]
    favour = FAVOUR if system == FAVOURED else 0.0
    return {
        "text": " ".join(generator.permutation(words)),
        "system": system,
        "context": f"How was hotel {1 + number // len(SYSTEMS) % CONTEXTS}?",
        "score_judge": f"{1 + good + favour + generator.normal(0, 0.7):.2f}",
        "score_overlap": f"{0.03 * good + generator.uniform(0.1, 0.5):.3f}",
        **{name: rating(generator, 1 + good) for name in ANNOTATORS},
    }


def rating(generator: np.random.Generator, quality: float) -> int:
    """What an annotator says of a text of this quality, 1 to 5."""
    return int(np.clip(np.rint(quality + generator.normal(0, 0.9)), 1, 5))


def write(path: Path, texts: list[dict[str, object]], columns: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(
            file, columns, delimiter="\t", lineterminator="\n", extrasaction="ignore"
        )
        table.writeheader()
        table.writerows(texts)


if __name__ == "__main__":
    main()
