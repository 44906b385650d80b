"""ΔBLEU with the scale, the printed form and the signature of sacreBLEU's metrics.

Stage: outside the workflow. In: hypotheses, references, weights. Out: a score that prints itself.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless import __version__
from refless.models.delta_bleu import brevity_penalty, of_items, parts, scores

Lists = Sequence[Sequence[str]]
Weights = Sequence[Sequence[float]]


@dataclass(frozen=True)
class DeltaBLEUScore:
    """A score, from -100 to 100 (below 0 under the rule ``signed`` alone), and its parts."""

    score: float
    total: np.ndarray

    def format(self, signature: str = "", is_json: bool = False) -> str:
        """One line, or JSON, as sacreBLEU prints its own."""
        matches, totals, *words = parts(self.total)
        pairs = zip(matches.tolist(), totals.tolist(), strict=True)
        precisions = [100 * m / t if t > 0 else 0.0 for m, t in pairs]  # without smoothing
        length, closest = map(int, words)
        bp = float(brevity_penalty(*words))
        if is_json:
            facts = {"name": "ΔBLEU", "score": self.score, "signature": signature}
            facts |= {"precisions": precisions, "bp": bp, "hyp_len": length, "ref_len": closest}
            return json.dumps(facts, indent=1, ensure_ascii=False)
        label = f"ΔBLEU|{signature}" if signature else "ΔBLEU"
        each = "/".join(f"{value:.1f}" for value in precisions)
        return (
            f"{label} = {self.score:.2f} {each} (BP = {bp:.3f} ratio = {length / closest:.3f}"
            f" hyp_len = {length} ref_len = {closest})"
        )

    __str__ = format


class DeltaBLEU:
    """ΔBLEU as a metric like `sacrebleu.metrics.BLEU`; references are listed by hypothesis.

    max_ngram_order : n-grams of 1 to this many words; blanks separate words
    rule : see `refless.models.delta_bleu.scores`; ``smooth`` is what sacreBLEU does

    Source: Galley et al. (2015), section 3.
    """

    def __init__(self, max_ngram_order: int = 4, rule: str = "smooth") -> None:
        self.max_ngram_order = max_ngram_order
        self.rule = rule
        self._references = self._weights = "?"  # of the last call, for the signature

    def corpus_score(
        self, hypotheses: Sequence[str], references: Lists, weights: Weights | None = None
    ) -> DeltaBLEUScore:
        """The score of all hypotheses together.

        Without weights all are 1, which is BLEU. Other arguments, and errors, as of
        `refless.models.delta_bleu.corpus_delta_bleu`.
        """
        return self._score(self._statistics(hypotheses, references, weights).sum(axis=0))

    def sentence_scores(
        self, hypotheses: Sequence[str], references: Lists, weights: Weights | None = None
    ) -> list[DeltaBLEUScore]:
        """The scores of each hypothesis by itself; arguments as of `corpus_score`."""
        return [*map(self._score, self._statistics(hypotheses, references, weights))]

    def get_signature(self) -> str:
        """All that decides the score, in sacreBLEU's manner."""
        return (
            f"nrefs:{self._references}|weights:{self._weights}|case:mixed|tok:none"
            f"|order:{self.max_ngram_order}|rule:{self.rule}|version:refless.{__version__}"
        )

    def _score(self, total: np.ndarray) -> DeltaBLEUScore:
        return DeltaBLEUScore(100 * float(scores(total, self.rule)), total)

    def _statistics(
        self, hypotheses: Sequence[str], references: Lists, weights: Weights | None
    ) -> np.ndarray:
        self._weights = "1" if weights is None else "given"
        given = [[1.0] * len(own) for own in references] if weights is None else weights
        found = of_items(hypotheses, references, given, self.max_ngram_order)
        counts = {len(own) for own in references}
        self._references = str(counts.pop()) if len(counts) == 1 else "var"
        return found
