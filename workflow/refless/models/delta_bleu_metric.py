"""ΔBLEU with the methods, the scale and the signature of sacreBLEU's metrics.

Stage: outside the workflow. In: hypotheses, streams of references and of their weights. Out: a
score that prints itself. The arithmetic is `refless.models.delta_bleu`'s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from refless import __version__
from refless.models.delta_bleu import (
    Statistics,
    brevity_penalty,
    check_lists,
    check_rule,
    of_items,
    scores,
)

Streams = Sequence[Sequence[str | None]]
Weights = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class DeltaBLEUScore:
    """A score, from -100 to 100 (below 0 under the rule ``signed`` alone), and its parts."""

    score: float
    total: Statistics

    @property
    def precisions(self) -> list[float]:
        """By order, in per cent, without smoothing."""
        pairs = zip(self.total.matches.tolist(), self.total.totals.tolist(), strict=True)
        return [100 * m / t if t > 0 else 0.0 for m, t in pairs]

    def format(self, signature: str = "", is_json: bool = False) -> str:
        """One line, or JSON, as sacreBLEU prints its own."""
        precisions = self.precisions
        length, closest = int(self.total.length), int(self.total.closest)
        bp = float(brevity_penalty(self.total.length, self.total.closest))
        if is_json:
            facts = {"name": "ΔBLEU", "score": self.score, "signature": signature}
            facts |= {"precisions": precisions, "bp": bp, "hyp_len": length, "ref_len": closest}
            return json.dumps(facts, indent=1, ensure_ascii=False)
        label = f"ΔBLEU|{signature}" if signature else "ΔBLEU"
        parts = "/".join(f"{value:.1f}" for value in precisions)
        ratio = length / closest if closest else 0.0
        return (
            f"{label} = {self.score:.2f} {parts} (BP = {bp:.3f} ratio = {ratio:.3f}"
            f" hyp_len = {length} ref_len = {closest})"
        )

    def __str__(self) -> str:
        return self.format()


class DeltaBLEU:
    """ΔBLEU, used like `sacrebleu.metrics.BLEU`.

    Parameters
    ----------
    max_ngram_order : n-grams of 1 to this many words; blanks separate words
    rule : for precisions that are not positive, see `refless.models.delta_bleu`. ``smooth`` is
        what sacreBLEU does unless told otherwise; `corpus_delta_bleu` has ``zero``

    Source: Galley et al. (2015), section 3.
    """

    def __init__(self, max_ngram_order: int = 4, rule: str = "smooth") -> None:
        check_rule(rule)
        self.max_ngram_order = max_ngram_order
        self.rule = rule
        self._references = self._weights = "?"  # of the last call, for the signature

    def corpus_score(
        self, hypotheses: Sequence[str], references: Streams, weights: Weights | None = None
    ) -> DeltaBLEUScore:
        """The score of all hypotheses together.

        Parameters
        ----------
        references : streams, as sacreBLEU has them: ``references[k][i]`` is the k-th reference of
            hypothesis i, None where it has none
        weights : the same of numbers in [-1, +1]; without them all are 1, which is BLEU

        Raises
        ------
        SettingError : as by `refless.models.delta_bleu.corpus_delta_bleu`.
        """
        return self._score(self._statistics(hypotheses, references, weights).sum())

    def sentence_scores(
        self, hypotheses: Sequence[str], references: Streams, weights: Weights | None = None
    ) -> list[DeltaBLEUScore]:
        """The scores of each hypothesis by itself; arguments as of `corpus_score`."""
        each = self._statistics(hypotheses, references, weights)
        return [self._score(Statistics(*row)) for row in zip(*vars(each).values(), strict=True)]

    def get_signature(self) -> str:
        """All that decides the score, in sacreBLEU's manner."""
        return (
            f"nrefs:{self._references}|weights:{self._weights}|case:mixed|tok:none"
            f"|order:{self.max_ngram_order}|rule:{self.rule}|version:refless.{__version__}"
        )

    def _score(self, total: Statistics) -> DeltaBLEUScore:
        return DeltaBLEUScore(100 * float(scores(total, self.rule)), total)

    def _statistics(
        self, hypotheses: Sequence[str], references: Streams, weights: Weights | None
    ) -> Statistics:
        self._weights = "1" if weights is None else "given"
        given = [[1.0] * len(stream) for stream in references] if weights is None else weights
        check_lists(references, given, "streams of references", "streams of weights")
        for streams, what in ((references, "references"), (given, "weights")):
            for k, stream in enumerate(streams):
                check_lists(hypotheses, stream, "hypotheses", f"stream {k} of {what}")
        there = [
            [k for k, own in enumerate(references) if own[i] is not None]
            for i in range(len(hypotheses))
        ]
        sizes = set(map(len, there))
        self._references = str(max(sizes, default=0)) if len(sizes) < 2 else "var"
        texts, numbers = (
            [[streams[k][i] for k in own] for i, own in enumerate(there)]
            for streams in (references, given)
        )
        return of_items(hypotheses, texts, numbers, self.max_ngram_order)
