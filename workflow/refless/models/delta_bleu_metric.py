"""ΔBLEU with the methods, the scale and the signature of sacreBLEU's metrics.

Stage: outside the workflow. In: hypotheses, streams of references and of their weights. Out: a
score that prints itself. The arithmetic is `refless.models.delta_bleu`'s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless import __version__
from refless.errors import SettingError
from refless.models.delta_bleu import (
    RULES,
    Statistics,
    _of_items,
    brevity_penalty,
    scores,
)

Streams = Sequence[Sequence[str | None]]
Weights = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class DeltaBLEUScore:
    """A score, from -100 to 100 (below 0 under the rule ``signed`` alone), and what it is made of.

    matches, totals : weighted, by order
    length, closest : words of the hypotheses and of their closest references
    """

    score: float
    matches: tuple[float, ...]
    totals: tuple[float, ...]
    length: int
    closest: int
    name: str = "ΔBLEU"

    @property
    def precisions(self) -> list[float]:
        """In per cent, without smoothing."""
        pairs = zip(self.matches, self.totals, strict=True)
        return [100 * m / t if t > 0 else 0.0 for m, t in pairs]

    @property
    def bp(self) -> float:
        """The brevity penalty."""
        return float(brevity_penalty(np.array(self.length), np.array(self.closest)))

    def format(
        self,
        width: int = 2,
        score_only: bool = False,
        signature: str = "",
        is_json: bool = False,
    ) -> str:
        """One line, or JSON, as sacreBLEU prints its own."""
        if is_json:
            facts: dict[str, Any] = {
                "name": self.name,
                "score": self.score,
                "signature": signature,
                "precisions": self.precisions,
                "bp": self.bp,
                "hyp_len": self.length,
                "ref_len": self.closest,
            }
            return json.dumps(facts, indent=1, ensure_ascii=False)
        if score_only:
            return f"{self.score:.{width}f}"
        label = f"{self.name}|{signature}" if signature else self.name
        parts = "/".join(f"{value:.1f}" for value in self.precisions)
        ratio = self.length / self.closest if self.closest else 0.0
        return (
            f"{label} = {self.score:.{width}f} {parts} (BP = {self.bp:.3f} ratio = {ratio:.3f}"
            f" hyp_len = {self.length} ref_len = {self.closest})"
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
        if rule not in RULES:
            raise SettingError(f"unknown rule {rule!r}; there are {', '.join(RULES)}")
        self.max_ngram_order = max_ngram_order
        self.rule = rule
        # of the last call, for the signature
        self._references = self._weights = ""

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
        each = self._statistics(hypotheses, references, weights)
        return self._score(Statistics(*(part.sum(axis=0) for part in vars(each).values())))

    def sentence_score(
        self,
        hypothesis: str,
        references: Sequence[str],
        weights: Sequence[float] | None = None,
    ) -> DeltaBLEUScore:
        """The score of one hypothesis by itself."""
        own = None if weights is None else [[value] for value in weights]
        return self.corpus_score([hypothesis], [[text] for text in references], own)

    def sentence_scores(
        self, hypotheses: Sequence[str], references: Streams, weights: Weights | None = None
    ) -> list[DeltaBLEUScore]:
        """The scores of each hypothesis by itself; arguments as of `corpus_score`."""
        each = self._statistics(hypotheses, references, weights)
        rows = zip(*vars(each).values(), strict=True)
        return [self._score(Statistics(*row)) for row in rows]

    def get_signature(self) -> str:
        """All that decides the score, in sacreBLEU's manner."""
        return (
            f"nrefs:{self._references or '?'}|weights:{self._weights or '?'}|case:mixed|tok:none"
            f"|order:{self.max_ngram_order}|rule:{self.rule}|version:refless.{__version__}"
        )

    def _score(self, total: Statistics) -> DeltaBLEUScore:
        return DeltaBLEUScore(
            100 * float(scores(total, self.rule)),
            tuple(map(float, total.matches)),
            tuple(map(float, total.totals)),
            int(total.length),
            int(total.closest),
        )

    def _statistics(
        self, hypotheses: Sequence[str], references: Streams, weights: Weights | None
    ) -> Statistics:
        if isinstance(hypotheses, str) or any(isinstance(stream, str) for stream in references):
            raise SettingError(
                "a stream is one string", remedy="give lists of texts, as sacreBLEU takes them"
            )
        self._weights = "1" if weights is None else "given"
        if weights is None:
            weights = [[1.0] * len(stream) for stream in references]
        for what, streams in (("references", references), ("weights", weights)):
            for k, stream in enumerate(streams):
                if len(stream) != len(hypotheses):
                    raise SettingError(
                        f"{len(hypotheses)} hypotheses, but {len(stream)} in stream {k} of {what}",
                        remedy="give one in each stream for each hypothesis, None where there is"
                        " none",
                    )
        if len(weights) != len(references):
            raise SettingError(
                f"{len(references)} streams of references, {len(weights)} of weights"
            )
        texts: list[list[str]] = [[] for _ in hypotheses]
        numbers: list[list[float]] = [[] for _ in hypotheses]
        for stream, own in zip(references, weights, strict=True):
            for i, (text, weight) in enumerate(zip(stream, own, strict=True)):
                if text is not None:
                    texts[i].append(text)
                    numbers[i].append(float("nan") if weight is None else weight)
        sizes = {len(one) for one in texts}
        self._references = str(max(sizes, default=0)) if len(sizes) < 2 else "var"
        return _of_items(hypotheses, texts, numbers, self.max_ngram_order)
