"""The experiment of the ΔBLEU paper (Galley et al. 2015, section 5) on rated system outputs.

Stage: cell. In: rated responses of several systems to the same contexts, and the rated human ones.
Out: for every choice of metric and references, statistics of each output that add up to the scores
of units of contexts (`refless.experiments.delta_bleu.units`).

The references of a pair of systems are the rated human responses and the rated outputs of the
systems outside the pair, weighted by their own ratings, w = (mean rating - centre) / (half of the
scale). So with all references most are machine outputs, unlike those of the paper.

Where no reference reaches a threshold on w, the human response is the reference, whatever it is
worth. How often that happens is counted (`Counted.references`).

``bleu_context_weighted`` is a control. Its references have no weights: it is BLEU, but the counts
of each context, matches and n-grams, are multiplied by the weight of the context's best reference,
as in ΔBLEU's denominator. What it shares with ΔBLEU is which contexts count how much; what ΔBLEU
has beyond it is the telling apart of references. With a threshold, most of what it shares is that a
context without a good reference hardly counts: ``ignored`` below gives that to BLEU, too.

Choices that the paper leaves open, or that its data did not call for, are named (`Cell`):

========  =======================================================================================
rule      for numerators that are not positive, see `refless.models.delta_bleu`
centre    of the scale: ``scale``, its middle as in the paper; ``mean``, the data's mean rating
gold      whether unrated gold references are added, each at the human response's weight
lacking   what becomes of a context that has no reference of positive weight, which the paper
          assumes never to happen: ``raised``, the human response gets the weight `LEAST`;
          ``written``, the formula is followed, so that its share of the denominator is negative;
          ``left_out``, contexts where this happens to any pair with *all* references are used
          for no metric; where fewer references leave none of positive weight, it is raised;
          ``ignored``, for no metric does such a context of a pair count, weighted or not
tokens    ``words``: lower case, marks apart from words; ``blanks``: what stands between blanks
first     which system of a pair a difference starts from: ``random``, drawn for each unit, so
          that what sets a pair apart as a whole counts as agreement; ``fixed``, the first by name,
          so that it counts only beside other pairs, and hangs on the names. (The paper draws the
          order in which raters saw the two; of the differences it says nothing.)
========  =======================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import numbered
from refless.errors import FormatError, SettingError
from refless.models.delta_bleu import References, Statistics, Texts, smoothed_scores

Array = np.ndarray

CONTROL = "bleu_context_weighted"
METRICS = ("bleu", "sbleu", CONTROL, "delta_bleu")
WEIGHTED = (CONTROL, "delta_bleu")
"""Metrics that need a reference of positive weight in each context."""
SINGLE, HIGH, ALL = "single", "w>=0.6", "all"
IGNORED = "ignored"
LEAST = 0.1
"""Weight of the human response where no reference of a context has a positive one."""
GOLD = -1
"""Owner of gold references: no system, so they are never left out."""


def tokenize(text: str, tokens: str = "words") -> str:
    """The tokens of a text with blanks between them; see the module.

    Raises
    ------
    SettingError : neither ``words`` nor ``blanks``.
    """
    if tokens == "blanks":
        return text
    if tokens == "words":
        return " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))
    raise SettingError(f"unknown tokens {tokens!r}; choose words or blanks")


@dataclass(frozen=True)
class Cell:
    """One metric under one set of choices; see the module. ``order``: n-grams of 1 to this many."""

    metric: str
    references: str = ALL
    rule: str = "smooth"
    order: int = 2
    centre: str = "scale"
    gold: bool = False
    lacking: str = "raised"
    tokens: str = "words"
    first: str = "random"

    @property
    def regime(self) -> tuple[str, str, str, bool, bool, bool, str]:
        """What decides the statistics: cells that agree in it share them."""
        return (
            self.references,
            self.metric if self.metric in WEIGHTED else "",
            self.centre,
            self.gold,
            self.written,
            self.lacking == IGNORED,
            self.tokens,
        )

    @property
    def written(self) -> bool:
        """Whether nothing stands in where no reference has a positive weight."""
        return self.metric in WEIGHTED and self.lacking == "written"


@dataclass(frozen=True)
class Dialogues:
    """Responses of the same systems to the same contexts.

    texts, quality : of every response, and after them the gold references (quality NaN)
    systems : their names
    output : int64 (contexts, systems), numbers of the texts
    wording : int64 (contexts,), one number for contexts of one wording, as of several dialogues
        about one passage: they are drawn together
    human : int64 (contexts, humans); the first is the single reference
    gold : int64 (2, references): context and text of each gold reference
    without : of each system and human that could be left out, in how many contexts all others have
        a rated answer
    """

    texts: list[str]
    quality: Array
    systems: list[str]
    output: Array
    wording: Array
    human: Array
    gold: Array
    without: dict[str, int]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Each two systems."""
        return list(combinations(range(len(self.systems)), 2))


def require_systems_apart(rated: pd.DataFrame, system: pd.Series) -> None:
    """Make sure that no system answers a context twice.

    Parameters
    ----------
    rated : columns ``id`` and ``context_id``
    system : who wrote each

    Raises
    ------
    FormatError : one does, as where contexts of one wording were taken for one.
    """
    pairs = pd.MultiIndex.from_arrays([rated["context_id"], system])
    if (twice := pairs.duplicated()).any():
        again = int(np.argmax(twice))
        first = int(np.argmax(pairs == pairs[again]))
        texts = " and ".join(rated["id"].iloc[[first, again]])
        raise FormatError(
            f"{system.iloc[again]} answers one context twice: {texts}",
            remedy="keep one of the two texts (named by data set and row, from 1), give each a"
            " context of its own (where the loader has an option unit, that decides it), or take"
            " the experiment out of this data set",
        )


def read_dialogues(texts: pd.DataFrame, gold: pd.DataFrame | None = None) -> Dialogues:
    """Bring a table of rated texts with the column ``context_id`` into shape.

    Contexts that a system or a human did not answer, or where somebody's answer is not rated, are
    left out: all metrics are compared on the same contexts. Outputs stay apart even where two
    systems wrote the same text in the same context.

    Parameters
    ----------
    gold : unrated references, columns ``context_id`` and ``text``

    Raises
    ------
    FormatError : fewer than two systems or no human have rated answers, or no context is answered
        by all of them; a system answers a context twice.
    """
    texts = texts.reset_index(drop=True)
    rated = texts[texts["n_ratings"] > 0]
    # where there are two human responses, the one of the original dialogue comes first
    who = rated["model"] if "model" in rated else rated["system"]
    human = rated["system"] == "human"
    machines = sorted(set(who[~human]))
    humans = sorted(set(who[human]), key=lambda name: (not name.startswith("Original"), name))
    require_systems_apart(rated, who)
    place = (
        rated.assign(who=who, row=rated.index)
        .pivot_table(index="context_id", columns="who", values="row", aggfunc="first", sort=False)
        .reindex(columns=[*humans, *machines])
    )
    spare = [*(humans if len(humans) > 1 else []), *(machines if len(machines) > 2 else [])]
    without = {str(name): len(place.drop(columns=name).dropna()) for name in spare}
    place = place.dropna()
    if len(machines) < 2 or not humans:
        raise FormatError(
            "ΔBLEU's experiment needs rated answers of two systems and of a human",
            remedy="call people's answers those of the system human, or take delta_bleu out of the"
            " experiments of this data set",
        )
    if place.empty:
        raise FormatError(
            f"no context has rated answers of every system and every human{narrowest(without)}",
            remedy="leave out who answered other contexts, or take delta_bleu out of the"
            " experiments of this data set",
        )
    rows = place.to_numpy(np.int64)
    added = np.empty((2, 0), np.int64)
    new: list[str] = []
    if gold is not None:
        number = {name: k for k, name in enumerate(place.index)}
        own = gold[gold["context_id"].isin(place.index)]
        new = own["text"].tolist()
        context = own["context_id"].map(number).to_numpy(np.int64)
        added = np.stack([context, np.arange(len(texts), len(texts) + len(new))])
    return Dialogues(
        [*texts["text"], *new],
        np.r_[texts["quality"].to_numpy(np.float64), np.full(len(new), np.nan)],
        machines,
        np.ascontiguousarray(rows[:, len(humans) :]),
        numbered(texts["context"].iloc[rows[:, 0]]),
        np.ascontiguousarray(rows[:, : len(humans)]),
        added,
        without,
    )


def narrowest(without: Mapping[str, int]) -> str:
    """Whose answers leave the fewest contexts, in words; nothing where nobody can be left out."""
    name = max(without, key=lambda name: without[name], default="")
    return f"; without {name} there would be {without[name]}" if name else ""


def weights(dialogues: Dialogues, centre: str) -> Array:
    """Weight of every text, NaN for gold: (quality - centre) over the longer side of the scale.

    Raises
    ------
    SettingError : unknown centre.
    """
    if centre == "scale":
        middle = 0.5
    elif centre == "mean":
        used = np.r_[dialogues.output.ravel(), dialogues.human.ravel()]
        middle = float(dialogues.quality[used].mean())
    else:
        raise SettingError(f"unknown centre {centre!r}; choose scale or mean")
    return (dialogues.quality - middle) / max(middle, 1 - middle)


def least_weight(references: str) -> float:
    """The threshold on w: of ``all`` minus infinity; ``w>=0.6`` is 0.6.

    Raises
    ------
    SettingError : neither of these, nor ``single``.
    """
    if references in (ALL, SINGLE):
        return float("-inf")
    try:
        return float(references.removeprefix("w>="))
    except ValueError as error:
        raise SettingError(f"{references!r} is no set of references") from error


class Counted:
    """Dialogues whose n-grams are counted, and the statistics of regimes, each made once."""

    def __init__(self, dialogues: Dialogues, max_order: int) -> None:
        self.dialogues = dialogues
        self.max_order = max_order
        self._texts: dict[str, Texts] = {}
        self._rows: dict[tuple[Any, ...], Array] = {}

    def rows(self, cell: Cell) -> Array:
        """What adds up to a score, (systems, systems, contexts, columns): [a, b] is of the output
        of a in a pair with b. Columns: matches, totals, length, closest, and, without weights, the
        smoothed sentence score for each highest order."""
        if cell.regime not in self._rows:
            self._rows[cell.regime] = self._computed(cell)
        return self._rows[cell.regime]

    def lacking(self) -> Array:
        """Whether a context has, for some pair, no reference of positive weight: (contexts,)."""
        found = self._statistics(Cell("delta_bleu"), False)
        n = len(self.dialogues.systems)
        alone = ~(found.totals[..., 0] > 0) & (found.length > 0)
        alone = alone.reshape(-1, n, found.length.shape[1])[:, :, 1 : 1 + n]
        # leaving a system's own output out twice tells nothing of a pair
        pairs = alone & ~np.eye(n, dtype=bool)
        return np.asarray(pairs.any(axis=(1, 2)))

    def references(self, cell: Cell, contexts: Array) -> tuple[float, float]:
        """What a metric's references come to, over contexts and pairs of systems.

        Parameters
        ----------
        contexts : int64 (contexts,), which of them

        Returns
        -------
        number : mean number of references of a context
        fallback : share of contexts where the human response stands in, at a weight of `LEAST` or
            more, because there is no reference or, for `WEIGHTED`, none of positive weight; or
            that are ignored
        """
        if cell.lacking == IGNORED:
            cell = _weighted(cell)
        first, second = (self._references(cell, human_too) for human_too in (False, True))
        there, useful = _left_to_pairs(self.dialogues, first)
        with_human, _ = _left_to_pairs(self.dialogues, second)
        alone = useful == 0
        if cell.written:
            alone = there == 0
        number = np.where(alone, 0 if cell.lacking == IGNORED else with_human, there)
        return float(number[contexts].mean()), float(alone[contexts].mean())

    def _computed(self, cell: Cell) -> Array:
        found = self._raised(cell)
        if cell.metric == CONTROL:
            plain = self._raised(cell, plain=True)
            with np.errstate(invalid="ignore"):
                weight = np.where(plain.totals > 0, found.totals / plain.totals, 0.0)
            found = replace(found, matches=weight * plain.matches)
        parts = [found.matches, found.totals, found.length[..., None], found.closest[..., None]]
        if cell.metric not in WEIGHTED:
            orders = range(1, self.max_order + 1)
            parts.append(np.stack([smoothed_scores(found, order) for order in orders], axis=-1))
        n = len(self.dialogues.systems)
        columns = np.concatenate(parts, axis=-1)[:, 1 : 1 + n]
        if cell.lacking == IGNORED:
            useful = self._statistics(_weighted(cell), False).totals[..., :1] > 0
            columns = np.where(useful[:, 1 : 1 + n], columns, 0.0)
        shaped = columns.reshape(-1, n, n, columns.shape[-1])  # contexts, a, b, columns
        return np.ascontiguousarray(shaped.transpose(1, 2, 0, 3))

    def _raised(self, cell: Cell, plain: bool = False) -> Statistics:
        """Statistics of every output; where no reference counts, the human response stands in."""
        first = self._statistics(cell, False, plain)
        if cell.written:
            return first
        second = self._statistics(cell, True, plain)
        # of hypotheses without any word, totals do not tell; they score 0 either way
        missing = ~((self._statistics(cell, False) if plain else first).totals[..., :1] > 0)
        return Statistics(
            np.where(missing, second.matches, first.matches),
            np.where(missing, second.totals, first.totals),
            first.length,
            np.where(missing[..., 0], second.closest, first.closest),
        )

    def _statistics(self, cell: Cell, human_too: bool, plain: bool = False) -> Statistics:
        """Statistics of every output; ``human_too``: the human response is there in any case, at a
        weight of at least `LEAST`; ``plain``: all weights count 1."""
        own = self.dialogues
        n_contexts, n = own.output.shape
        if cell.tokens not in self._texts:
            tokens = [tokenize(text, cell.tokens) for text in own.texts]
            self._texts[cell.tokens] = Texts(tokens, self.max_order)
        references = self._references(cell, human_too)
        if plain:
            references = replace(references, weight=np.ones(len(references.weight)))
        return self._texts[cell.tokens].statistics(
            own.output.ravel(),
            np.tile(np.arange(n), n_contexts),
            np.repeat(np.arange(n_contexts), n),
            references,
            n,
        )

    def _references(self, cell: Cell, human_too: bool) -> References:
        own = self.dialogues
        n_contexts = len(own.output)
        weight = weights(own, cell.centre)
        single = own.human[:, 0]
        at_human = weight[single]
        if human_too:
            at_human = np.maximum(at_human, LEAST)
        least = least_weight(cell.references)
        kept = np.full(n_contexts, human_too) | (at_human >= least)
        every = np.arange(n_contexts)
        parts = [(every[kept], single[kept], np.full(kept.sum(), GOLD), at_human[kept])]
        if cell.references != SINGLE:
            for number, column in [
                *((GOLD, human) for human in own.human.T[1:]),
                *enumerate(own.output.T),
            ]:
                kept = weight[column] >= least
                parts.append(
                    (every[kept], column[kept], np.full(kept.sum(), number), weight[column][kept])
                )
            if cell.gold:
                context, text = own.gold
                kept = at_human[context] >= least
                context, text = context[kept], text[kept]
                parts.append((context, text, np.full(len(text), GOLD), at_human[context]))
        item, text, owner, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(item, kind="stable")
        if cell.metric not in WEIGHTED:
            value = np.ones(len(value))
        return References(
            np.searchsorted(item[order], np.arange(n_contexts + 1)).astype(np.int64),
            text[order].astype(np.int64),
            owner[order].astype(np.int64),
            value[order],
        )


def _weighted(cell: Cell) -> Cell:
    """ΔBLEU with the same references: whether a context counts hangs on their weights."""
    return replace(cell, metric="delta_bleu")


def _left_to_pairs(dialogues: Dialogues, references: References) -> tuple[Array, Array]:
    """How many references a context has for each pair, and how many of positive weight.

    Both int64 (contexts, pairs).
    """
    n_contexts, n = dialogues.output.shape
    item = np.repeat(np.arange(n_contexts), np.diff(references.bounds))
    pairs = np.array(dialogues.pairs)
    found = []
    for kept in (np.ones(len(item), bool), references.weight > 0):
        # the last column is that of `GOLD`, which no pair leaves out
        own = np.zeros((n_contexts, n + 1), np.int64)
        np.add.at(own, (item[kept], references.owner[kept]), 1)
        total = own.sum(axis=1, keepdims=True)
        found.append(total - own[:, pairs[:, 0]] - own[:, pairs[:, 1]])
    return found[0], found[1]
