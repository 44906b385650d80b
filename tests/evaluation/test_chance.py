"""Ratings that are chance: whatever predicts them has seen its answers.

Each data set has a few things that are rated (texts or MRs), each in several spellings, and a
rating that hangs on the thing alone. Where that is left out, no method may go with the ratings.
"""

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refless.evaluation.decisions import decide_split
from refless.evaluation.evaluate import Comparison, ComparisonSettings, compare
from tests.evaluation import made_up

Row = dict[str, Any]

WORDS = ["ärger", "brook", "can't", "daisy", "élan", "fjord", "don't", "ghost", "harbor", "knot"]
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    lambda text: f"“{text}”!",
    lambda text: text.replace(" ", " \u00a0 "),
    lambda text: text.replace("n't", " n't").replace(" ", " , ", 1),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: "".join(chr(ord(c) + 0xFEE0) if "a" <= c <= "z" else c for c in text),
    lambda text: text.replace("k", "k\u200b"),
]
QUICK = ComparisonSettings({"bleu.char": {}}, draws=400, repeats=1)


def phrases(generator: np.random.Generator, number: int, length: int = 7) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        found[" ".join(generator.choice(WORDS, length))] = None
    return list(found)


def chance(generator: np.random.Generator, number: int) -> list[float]:
    """Ratings with which nothing goes, 1 to 5."""
    return [float(value) for value in np.round(generator.uniform(1, 5, number), 2)]


def of_texts(generator: np.random.Generator) -> list[Row]:
    """Each beside contexts and from systems that say nothing; a score is of the text, too."""
    rows = []
    for text in phrases(generator, 24):
        quality, score = chance(generator, 2)
        for _ in range(7):
            system, place = generator.integers(4), generator.integers(25)
            spelt = SPELLINGS[int(generator.integers(len(SPELLINGS)))](text)
            row = {"text": spelt, "quality": quality, "score_judge": score}
            rows.append(row | {"system": f"s{system}", "context": f"about {place}"})
    return rows


def of_meanings(generator: np.random.Generator) -> list[Row]:
    """Each MR with its slots in several orders, and other names; texts say the slots."""
    texts, rows = iter(phrases(generator, 120)), []
    names = ["price", "area", "near", "kids", "pets", "hours"]
    kinds = [set(names[k:m]) | set(names[:j]) for k in range(6) for m in (k + 1, 6) for j in (0, k)]
    kinds = [kind for k, kind in enumerate(kinds) if kind not in kinds[:k]]
    for kind, quality in zip(kinds, chance(generator, len(kinds)), strict=True):
        for _ in range(4):
            name = f"The {generator.choice(['Vaults', 'Mill', 'Crown', 'Plough'])}"
            slots = [f"name[{name}]", *(f"{slot}[x{generator.integers(9)}]" for slot in kind)]
            meaning = ", ".join(generator.permutation(slots))
            text = f"{name} {' '.join(sorted(kind) * 3)} so {next(texts)[:9]}"
            rows.append({"text": text, "quality": quality, "mr": meaning})
    return rows


@pytest.mark.parametrize(("make", "split"), [(of_texts, "texts"), (of_meanings, "contexts")])
def test_nothing_goes_with_chance(make, split, tmp_path):
    """``split`` is the one that leaves out what is rated."""
    found: list[Comparison] = []
    for seed in range(4):
        rows = make(np.random.default_rng(seed))
        order = np.random.default_rng(seed).permutation(len(rows))
        path = made_up.write(tmp_path / "rated.jsonl", [rows[k] for k in order])
        found.append(compare(made_up.read_rated([path], [1, 5]), QUICK))
    keys = {key for one in found for key in one.draws if key[0] == split}
    assert keys
    for key in keys:
        r = [float(one.draws[key]["pearson"][0]) for one in found if key in one.draws]
        # where answers were seen, 0.4 and more
        assert np.nanmean(np.nan_to_num(r)) < 0.2, (key, r)
    assert sum(decide_split(one, split).shown for one in found) <= 1
