"""Invents the examples of README: rated texts, and more texts of the same systems without ratings.

``python examples/make_rated.py`` writes beside itself, and the same bytes each time:

- ``rated.tsv``: 200 texts that three annotators rated from 1 to 5
- ``new.tsv``: 600 texts of the same systems that nobody rated
- ``all.tsv``: both, without ratings
- ``replies.tsv`` and ``references.tsv``: texts of dog, each with the rated texts of the other
  systems for the same context, for ``refless delta-bleu``

What is true is known, so that answers can be judged: a text is good by its good words and bad by
its bad ones; ant writes the worst texts and dog the best; annotators see the quality with noise; so
does score_judge, which gives dog a point too much; score_overlap sees little of it.
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
Text = dict[str, object]
"""What is known of a text, by column."""


def main(folder: Path = Path(__file__).parent) -> None:
    generator = np.random.default_rng(2026)
    texts = [invent(generator, number) for number in range(800)]
    rated = texts[:200]
    columns = ["text", "system", "context", *SCORES]
    write(folder / "rated.tsv", rated, [*columns, *ANNOTATORS])
    write(folder / "new.tsv", texts[200:], columns)
    write(folder / "all.tsv", texts, columns)
    replies, references = with_references(rated[: CONTEXTS * len(SYSTEMS)])
    write(folder / "replies.tsv", replies, ["id", "text"])
    write(folder / "references.tsv", references, ["id", "text", "quality"])


def with_references(rated: list[Text]) -> tuple[list[Text], list[Text]]:
    """The favoured system's texts, and the other systems' for the same contexts, by ``id``; of
    contexts in which one of these is better than the middle of the scale."""
    replies, references = [], []
    for first in range(0, len(rated), len(SYSTEMS)):
        *others, reply = rated[first : first + len(SYSTEMS)]
        if max(float(str(text["quality"])) for text in others) > 3:
            replies.append({"id": first, **reply})
            references += [{"id": first, **text} for text in others]
    return replies, references


def invent(generator: np.random.Generator, number: int) -> Text:
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
    scores = (
        f"{1 + good + favour + generator.normal(0, 0.7):.2f}",
        f"{0.03 * good + generator.uniform(0.1, 0.5):.3f}",
    )
    ratings = [rating(generator, 1 + good) for _ in ANNOTATORS]
    return {
        "text": " ".join(generator.permutation(words)),
        "system": system,
        "context": f"How was hotel {1 + number // len(SYSTEMS) % CONTEXTS}?",
        **dict(zip(SCORES, scores, strict=True)),
        **dict(zip(ANNOTATORS, ratings, strict=True)),
        "quality": f"{np.mean(ratings):.2f}",
    }


def rating(generator: np.random.Generator, quality: float) -> int:
    """What an annotator says of a text of this quality, 1 to 5."""
    return int(np.clip(np.rint(quality + generator.normal(0, 0.9)), 1, 5))


def write(path: Path, texts: list[Text], columns: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(
            file, columns, delimiter="\t", lineterminator="\n", extrasaction="ignore"
        )
        table.writeheader()
        table.writerows(texts)


if __name__ == "__main__":
    main()
