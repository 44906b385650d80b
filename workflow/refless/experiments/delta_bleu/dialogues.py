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
SINGLE, HIGH, ALL = "single", "w>=0.6", "all"
GOOD = "with_good_reference"
# Where a context has no reference that reaches the threshold on w or, for ΔBLEU, none of positive
# weight (the paper assumes this never to happen), the human response is the reference, at this
# weight or more; or, of the contexts `GOOD`, it counts for no metric.
FALLBACK_WEIGHT = 0.1
_OR_LEAVE_OUT = "or take delta_bleu out of the experiments of this data set"


@dataclass(frozen=True)
class Variant:
    """A row of table 2 or a point of figure 2.

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
        """Whether references have weights."""
        return self.metric == "delta_bleu"


@dataclass(frozen=True)
class Dialogues:
    """Responses of the same systems to the same contexts.

    texts, quality : of every response
    systems : their names
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
        """Each two systems."""
        return list(combinations(range(len(self.systems)), 2))


def read_dialogues(texts: pd.DataFrame) -> Dialogues:
    """Bring a table of rated texts with the column ``context_id`` into shape, without contexts that
    somebody did not answer, or whose answer is not rated: all metrics are compared on the same.

    Raises FormatError: fewer than two systems or no human have rated answers, or no context is
        answered by all of them; somebody answers a context twice.
    """
    texts = texts.reset_index(drop=True)
    rated = texts[texts["n_ratings"] > 0]
    rated = rated.assign(who=rated["model"] if "model" in rated else rated["system"])
    answers = pd.MultiIndex.from_frame(rated[["context_id", "who"]])
    if (twice := answers.duplicated()).any():
        again = answers[twice][0]
        raise FormatError(
            f"{again[1]} answers one context twice: {' and '.join(rated['id'][answers == again])}",
            remedy=f"keep one of the two texts, {_OR_LEAVE_OUT}",
        )
    human = rated["system"] == "human"
    humans, machines = (sorted(rated["who"][of].unique()) for of in (human, ~human))
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


class Counted:
    """Dialogues whose n-grams are counted, and what is made of them, each once."""

    def __init__(self, dialogues: Dialogues, max_order: int) -> None:
        self.dialogues, self.max_order = dialogues, max_order
        self._texts: dict[str, IndexedTexts] = {}
        self._rows: dict[Variant, Array] = {}

    def rows(self, variant: Variant) -> Array:
        """What adds up to a score, (systems, systems, contexts, columns): [a, b] is of the output
        of a in a pair with b. The columns are matches, totals, length, closest and, without
        weights, the smoothed score of the sentence for each highest order."""
        metric = "delta_bleu" if variant.weighted else "bleu"
        # all that decides them
        key = Variant(metric, variant.references, variant.contexts, variant.tokens)
        if key not in self._rows:
            self._rows[key] = self._computed(key)
        return self._rows[key]

    def _computed(self, variant: Variant) -> Array:
        statistics, fallback = self._statistics(variant, False), self._statistics(variant, True)
        # of hypotheses without any word, totals do not tell; they score 0 either way
        statistics = np.where(_scored(statistics), statistics, fallback)
        if not variant.weighted:
            orders = range(1, self.max_order + 1)
            smoothed = np.stack([smoothed_scores(statistics, order) for order in orders], axis=-1)
            statistics = np.concatenate([statistics, smoothed], axis=-1)
        if variant.contexts == GOOD:
            weighted = self._statistics(replace(variant, metric="delta_bleu"), False)
            statistics = np.where(_scored(weighted), statistics, 0.0)
        n = len(self.dialogues.systems)
        # contexts, a, b, columns
        shaped = statistics[:, 1:].reshape(-1, n, n, statistics.shape[-1])
        return np.ascontiguousarray(shaped.transpose(1, 2, 0, 3))

    def _statistics(self, variant: Variant, fallback: bool) -> Array:
        """Statistics of every output; ``fallback``: see `_references`."""
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
        """Texts, weights, and whether each is a reference: (contexts, humans and systems).

        ``fallback`` : the first human response is one in any case, at `FALLBACK_WEIGHT` or more.
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
            kept[:, 0], weight[:, 0] = True, np.maximum(weight[:, 0], FALLBACK_WEIGHT)
        if variant.references == SINGLE:
            kept[:, 1:] = False
        return text, weight, kept

    def reference_counts(self, variant: Variant) -> tuple[float, float]:
        """Mean number of references of a context, and the share of contexts without a good one,
        over contexts and pairs of systems; see `FALLBACK_WEIGHT`."""
        _, weight, kept = self._references(variant, False)
        good = kept & (weight > 0) if variant.weighted or variant.contexts == GOOD else kept
        instead = self._references(variant, True)[2] & (variant.contexts != GOOD)
        a, b = np.array(self.dialogues.pairs).T + self.dialogues.human.shape[1]
        number, good, instead = (
            # those that are not by the pair itself, (contexts, pairs)
            of.sum(axis=1, keepdims=True) - of[:, a] - of[:, b]
            for of in (kept, good, instead)
        )
        return float(np.where(good == 0, instead, number).mean()), float((good == 0).mean())


def _scored(statistics: Array) -> Array:
    """Whether a denominator is positive, (..., 1)."""
    return parts(statistics)[1][..., :1] > 0
