"""The experiment of the ΔBLEU paper (Galley et al. 2015, section 5) on rated system outputs.

Stage: cell. In: rated responses of several systems to the same contexts, and the rated human ones.
Out: for every metric and set of references, statistics of each output that add up to the scores of
units of contexts. The references of a pair of systems are the rated human responses and the outputs
of the other systems, weighted by their ratings: w is 0 in the middle of the scale and 1 at its top.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from refless.data.text_ids import text_ids
from refless.errors import FormatError
from refless.models.delta_bleu import (
    NOBODY,
    IndexedTexts,
    TextRows,
    parts,
    smoothed_scores,
    tokenize,
)

Array = np.ndarray

METRICS = ("bleu", "sbleu", "delta_bleu")
SINGLE = "single"
HIGH = "w>=0.6"
ALL = "all"
GOOD = "with_good_reference"
# Where a context has no reference that reaches the threshold on w or, for ΔBLEU, none of positive
# weight (the paper assumes this never to happen), the human response is the reference, at this
# weight or more; or, of the contexts `GOOD`, it counts for no metric.
FALLBACK_WEIGHT = 0.1
_OR_LEAVE_OUT = "or take delta_bleu out of the experiments of this data set"


@dataclass(frozen=True)
class Variant:
    """A metric with its references and rules: a row of table 2 or a point of figure 2.

    metric : one of `METRICS`
    references : ``single`` (the human response), ``w>=0.6`` and the like, or ``all``
    contexts : ``all`` or ``with_good_reference``, see `FALLBACK_WEIGHT`
    tokens : see `refless.models.delta_bleu.tokenize`
    rule : for precisions that are not positive, see `refless.models.delta_bleu`
    order : n-grams of 1 to this many words
    """

    metric: str
    references: str = ALL
    contexts: str = "all"
    tokens: str = "words"
    rule: str = "smooth"
    order: int = 2

    @property
    def weighted(self) -> bool:
        """Whether the metric weights its references by their ratings."""
        return self.metric == "delta_bleu"


@dataclass(frozen=True)
class Dialogues:
    """Responses of the same systems to the same contexts.

    texts : every response
    quality : of every response, float64 (responses,), from 0 to 1
    systems : the names of the systems
    output : int64 (contexts, systems), numbers of the texts
    human : int64 (contexts, humans); the first is the single reference
    context : int64 (contexts,), one number for contexts of the same text, as of several dialogues
        about one passage: they are drawn together
    """

    texts: list[str]
    quality: Array
    systems: list[str]
    output: Array
    human: Array
    context: Array

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the numbers of each two systems, the lower one first."""
        return list(combinations(range(len(self.systems)), 2))


def read_dialogues(texts: pd.DataFrame) -> Dialogues:
    """Return the dialogues of a table of rated texts with the column ``context_id``.

    Contexts that somebody did not answer, or where an answer is not rated, are left out: all
    metrics are compared on the same contexts.

    Raises FormatError: fewer than two systems or no human have rated answers, or no context is
        answered by all of them; somebody answers a context twice.
    """
    texts = texts.reset_index(drop=True)
    rated = _rated_answers(texts)
    by_human = rated["system"] == "human"
    machines = sorted(rated["who"][~by_human].unique())
    humans = sorted(rated["who"][by_human].unique())
    # where there are two human responses, the one of the original dialogue comes first
    humans.sort(key=lambda name: not name.startswith("Original"))
    rows = (
        rated.assign(row=rated.index)
        .pivot_table(index="context_id", columns="who", values="row", aggfunc="first", sort=False)
        .reindex(columns=[*humans, *machines])
        .dropna()
    )
    if len(machines) < 2 or not humans or rows.empty:
        raise FormatError(
            "ΔBLEU's experiment needs contexts with rated answers of every system, two at least,"
            f" and every human; {len(machines)} systems and {len(humans)} humans share"
            f" {len(rows)} contexts",
            remedy=f"call people's answers those of the system human, {_OR_LEAVE_OUT}",
        )
    answers_of = rows.to_numpy(np.int64)
    return Dialogues(
        texts=texts["text"].tolist(),
        quality=texts["quality"].to_numpy(np.float64),
        systems=machines,
        output=answers_of[:, len(humans) :],
        human=answers_of[:, : len(humans)],
        context=text_ids(texts["context"].iloc[answers_of[:, 0]], separate_blank=True),
    )


def _rated_answers(texts: pd.DataFrame) -> pd.DataFrame:
    """Return the rated texts, with the column ``who``: the system or the person that answers.

    Raises FormatError: somebody answers a context twice.
    """
    rated = texts[texts["n_ratings"] > 0]
    rated = rated.assign(who=rated["model"] if "model" in rated else rated["system"])
    answers = pd.MultiIndex.from_frame(rated[["context_id", "who"]])
    twice = answers.duplicated()
    if twice.any():
        again = answers[twice][0]
        raise FormatError(
            f"{again[1]} answers one context twice: {' and '.join(rated['id'][answers == again])}",
            remedy=f"keep one of the two texts, {_OR_LEAVE_OUT}",
        )
    return rated


class Counted:
    """Dialogues whose n-grams of 1 to ``max_order`` words are counted. The counts, and the rows
    that are made of them, are kept, so that each is made once."""

    def __init__(self, dialogues: Dialogues, max_order: int) -> None:
        self.dialogues = dialogues
        self.max_order = max_order
        self._texts: dict[str, IndexedTexts] = {}
        self._rows: dict[Variant, Array] = {}

    def rows(self, variant: Variant) -> Array:
        """Return the statistics that add up to a score, float64 (systems, systems, contexts,
        columns).

        Those at [a, b] are of the output of system a in a pair with system b. The columns are
        matches and totals by order, the length, the closest length of a reference and, for metrics
        without weights, the smoothed score of the sentence for each highest order.
        """
        metric = "delta_bleu" if variant.weighted else "bleu"
        # all that decides them
        key = Variant(metric, variant.references, variant.contexts, variant.tokens)
        if key not in self._rows:
            self._rows[key] = self._computed(key)
        return self._rows[key]

    def _computed(self, variant: Variant) -> Array:
        """Return what `rows` keeps of a variant."""
        statistics = self._statistics(variant, fallback=False)
        fallback = self._statistics(variant, fallback=True)
        # of hypotheses without any word, totals do not tell; they score 0 either way
        statistics = np.where(_scored(statistics), statistics, fallback)
        if not variant.weighted:
            orders = range(1, self.max_order + 1)
            smoothed = np.stack([smoothed_scores(statistics, order) for order in orders], axis=-1)
            statistics = np.concatenate([statistics, smoothed], axis=-1)
        if variant.contexts == GOOD:
            weighted = self._statistics(replace(variant, metric="delta_bleu"), fallback=False)
            statistics = np.where(_scored(weighted), statistics, 0.0)
        n = len(self.dialogues.systems)
        # contexts, a, b, columns
        shaped = statistics[:, 1:].reshape(-1, n, n, statistics.shape[-1])
        return np.ascontiguousarray(shaped.transpose(1, 2, 0, 3))

    def _statistics(self, variant: Variant, fallback: bool) -> Array:
        """Return the statistics of every output against the references of its context, and without
        those of each system in turn, float64 (contexts * systems, 1 + systems, columns), by
        `refless.models.delta_bleu.IndexedTexts.statistics`; ``fallback``: see `_references`."""
        dialogues = self.dialogues
        contexts, n = dialogues.output.shape
        if variant.tokens not in self._texts:
            tokens = [tokenize(text, variant.tokens) for text in dialogues.texts]
            self._texts[variant.tokens] = IndexedTexts(tokens, self.max_order)
        text, weight, kept = self._references(variant, fallback)
        owner = np.r_[np.full(dialogues.human.shape[1], NOBODY), np.arange(n)]
        item, column = np.nonzero(kept)
        references = TextRows(text[kept], owner[column], item)
        context, system = np.divmod(np.arange(contexts * n), n)
        outputs = TextRows(dialogues.output.ravel(), system, context)
        weight = weight[kept] if variant.weighted else np.ones(len(item))
        return self._texts[variant.tokens].statistics(outputs, references, weight, n)

    def _references(self, variant: Variant, fallback: bool) -> tuple[Array, Array, Array]:
        """Return the numbers of the texts of each context, their weights from -1 to 1, and whether
        each is a reference, (contexts, humans and systems) each.

        fallback : the first human response is one in any case, at `FALLBACK_WEIGHT` or more
        """
        text = np.c_[self.dialogues.human, self.dialogues.output]
        weight = (self.dialogues.quality[text] - 0.5) / 0.5
        # a rating of 0.7 weighs 0.4, and not a last bit less
        exact = weight.round(12)
        weight[exact == 0] = 0
        by_weight = variant.references not in (SINGLE, ALL)
        least = float(variant.references.removeprefix("w>=")) if by_weight else -np.inf
        kept = exact >= least
        if fallback:
            kept[:, 0] = True
            weight[:, 0] = np.maximum(weight[:, 0], FALLBACK_WEIGHT)
        if variant.references == SINGLE:
            kept[:, 1:] = False
        return text, weight, kept

    def reference_counts(self, variant: Variant) -> tuple[float, float]:
        """Return the mean number of references of a context, and the share of contexts without a
        good one, over contexts and pairs of systems; see `FALLBACK_WEIGHT`."""
        a, b = np.array(self.dialogues.pairs).T + self.dialogues.human.shape[1]

        def without_pair(references: Array) -> Array:
            """Return how many references are not by the pair itself, (contexts, pairs)."""
            return references.sum(axis=1, keepdims=True) - references[:, a] - references[:, b]

        _, weight, kept = self._references(variant, fallback=False)
        _, _, kept_or_human = self._references(variant, fallback=True)
        good = kept & (weight > 0) if variant.weighted or variant.contexts == GOOD else kept
        number = without_pair(kept)
        instead = without_pair(kept_or_human & (variant.contexts != GOOD))
        none_good = without_pair(good) == 0
        return float(np.where(none_good, instead, number).mean()), float(none_good.mean())


def _scored(statistics: Array) -> Array:
    """Return whether each row of statistics has a positive denominator, bool (..., 1)."""
    return parts(statistics)[1][..., :1] > 0
