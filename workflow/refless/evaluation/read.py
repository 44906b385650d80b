"""Rated texts as they are compared, and which of them are left out together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from refless.data.own import Own
from refless.data.sources import mr
from refless.data.wording import numbered, numbers
from refless.errors import FormatError
from refless.models.folds import in_folds
from refless.models.rnn_qe.meaning import TEXT, kind_of, tokens_of, unordered
from refless.statistics.bootstrap import drawn_together, drawn_whole
from refless.statistics.reliability import Raters, rater_agreement

Array = np.ndarray

FEWEST = 20
"""Different rated texts without which nothing can be said."""
FOLDS = 5
MOST_SYSTEMS = 10
"""Systems up to which each is a fold of its own; more are put into `FOLDS`."""
FEWEST_GROUPS = 3
"""Groups without which there is no split: one is left out, one sets thresholds, one trains."""
TEXTS = 10_000
"""Texts in all repeats together: with many, one repeat does what five do."""


@dataclass(frozen=True)
class Rated:
    """Rated texts; everything has one entry a text. Numbers are int64 (n,), from 0."""

    texts: list[str]
    quality: Array  # float64 (n,), in [0, 1]
    same: Array  # number of the text among the different ones, normalised
    system: Array | None = None  # number of who wrote it; None where nobody says or one wrote all
    answers: list[str] | None = None  # the MR or context as it is written
    context: Array | None = None  # number of it, each blank one its own; None if all are one
    group: Array | None = None  # the same where MRs that differ in the values of slots are one
    slots: list[str] | None = None  # texts with slots for the MR's values, if all MRs can be read
    references: list[list[str]] | None = None  # other texts for its context, perhaps none
    scores: dict[str, Array] = field(
        default_factory=dict
    )  # somebody else's, on any scale; NaN: none
    scale: tuple[float, float] = (0.0, 1.0)  # lowest and highest quality, in the user's unit
    guessed: bool = False  # nobody gave the scale
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64))  # of the input, from 1
    raters: Raters | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def in_unit(self, quality: Array) -> Array:
        """Quality from [0, 1] in the user's unit."""
        low, high = self.scale
        return low + (high - low) * quality

    @cached_property
    def drawn(self) -> tuple[Array, Array]:
        """What a bootstrap draws, as `refless.statistics.draw_blocks` takes it, and which of it
        each text belongs to, int64 (n,)."""
        stays = None
        if self.system is not None:  # the texts of a system that always says the same
            said = pd.Series(self.same).groupby(self.system)
            stays = (said.transform("nunique") == 1).to_numpy()
        units = self.context if drawn_whole(self.group) is None else self.group
        together = drawn_together(units, self.same, stays)
        drawn, unit = np.unique(together, axis=0, return_inverse=True)
        return drawn, unit.reshape(-1)


def of_own(own: Own, scale: Sequence[float] | None = None) -> Rated:
    """A user's ratings; the scale is widened to the means of centered ratings. Raises FormatError:
    as `rated_of`."""
    ratings, quality = own.ratings, own.texts["quality"]
    ends = scale or (ratings["quality"].min(), ratings["quality"].max())
    low, high = float(min(ends[0], quality.min())), float(max(ends[1], quality.max()))
    texts = own.texts.assign(quality=(quality - low) / ((high - low) or 1))
    rated = rated_of(texts, (low, high), path=", ".join(file.path for file in own.files))
    raters = rater_agreement(ratings) if ratings["rater"].any() else None
    return replace(rated, guessed=not scale, raters=raters)


def rated_of(
    texts: pd.DataFrame, scale: tuple[float, float] = (0.0, 1.0), path: str | None = None
) -> Rated:
    """The rated rows of a table with ``text``, ``quality`` in [0, 1] and, as far as there are any,
    ``system``, ``context``, ``context_id``, ``mr``, ``references`` and ``score_*``. Raises
    FormatError: fewer than `FEWEST` different rated texts, or all are rated alike."""
    own = texts[texts["quality"].notna()]
    quality, same = own["quality"].to_numpy(np.float64), numbered(own["text"])
    if (different := len(np.unique(same))) < FEWEST:
        message = f"{different} different rated texts are too few (by letters and digits alone)"
        raise FormatError(message, path=path, remedy=f"rate {FEWEST} or more, better some hundreds")
    if np.ptp(quality) == 0:
        message = "all texts are rated alike, so there is nothing to predict"
        raise FormatError(message, path=path, remedy="take ratings that differ")
    system = references = slots = None
    if "system" in own:
        number = np.unique(own["system"].astype(str), return_inverse=True)[1]
        system = number if number.any() else None
    if "references" in own:
        listed = [json.loads(one) if isinstance(one, str) else one for one in own["references"]]
        references = listed if any(listed) else None
    _, answers = answers_of(own)
    if (kind := kind_of(answers)) == TEXT:
        context = group = numbered(answers, apart=True)
        if "context_id" in own:
            context = numbers(own["context_id"].astype(str), apart=True)
    else:
        read = tokens_of(answers, own["text"].tolist(), kind)
        slots = [" ".join(words) for _, words in read]
        written = [mr.key(one, False, kind) if one.strip() else "" for one in answers]
        context = numbers(written, apart=True)
        group = numbers([unordered(triples) for triples, _ in read], apart=True)
    known = any(map(str.strip, answers))
    several = known and context.max() > 0
    scores = [name for name in map(str, own) if name.startswith("score_")]
    return Rated(
        texts=own["text"].tolist(),
        quality=quality,
        same=same,
        system=system,
        answers=answers if known else None,
        context=context if several else None,
        group=group if several else None,
        slots=slots,
        references=references,
        scores={name: _near_one(own[name].to_numpy(np.float64)) for name in scores},
        scale=scale,
        rows=np.flatnonzero(texts["quality"].notna()) + 1,
    )


def _near_one(score: Array) -> Array:
    """A score (n,) times a power of two, which is exact: squares of very small ones would be 0."""
    return np.ldexp(score, -np.frexp(np.fmax.reduce(np.abs(score), initial=0))[1])


def answers_of(texts: pd.DataFrame) -> tuple[str, list[str]]:
    """What each text answers, and its column: ``mr``, if that says anything, else ``context``."""
    for name in ("mr", "context"):
        if name in texts and (found := texts[name].fillna("").astype(str)).str.strip().any():
            return name, list(found)
    return "", [""] * len(texts)


class Split(NamedTuple):
    """One way of leaving texts out: ``texts``, with equal ones in one fold, or ``systems`` or
    ``contexts``, with all texts of one in one fold."""

    name: str
    fold: Array  # int64 (n,), from 0
    repeat: int = 0  # which assignment of groups to folds, from 0

    @property
    def folds(self) -> int:
        """Their number."""
        return int(self.fold.max()) + 1


def all_splits(rated: Rated, seed: int = 0, repeats: int = 1) -> dict[str, list[Split]]:
    """The splits that the data allow: by texts, systems, contexts; with folds made anew up to
    ``repeats`` times, each time with other texts together: where each system is a fold, there is
    one way."""
    found: dict[str, dict[bytes, Split]] = {}
    for repeat in range(max(1, min(repeats, TEXTS // len(rated)))):
        generator = np.random.default_rng([seed, repeat] if repeat else seed)
        folds = {"texts": in_folds(rated.same, FOLDS, generator)}
        if rated.system is not None and _parted(rated.system):
            systems = int(rated.system.max()) + 1
            few = systems <= MOST_SYSTEMS
            fold = np.arange(systems) if few else generator.permutation(systems) % FOLDS
            folds["systems"] = fold[rated.system]
        if rated.group is not None and _parted(rated.group):
            folds["contexts"] = in_folds(rated.group, FOLDS, generator)
        for name, fold in folds.items():
            own = found.setdefault(name, {})
            # the same for folds that differ in their numbers alone
            own.setdefault(numbers(fold).tobytes(), Split(name, fold, len(own)))
    return {name: list(own.values()) for name, own in found.items()}


def _parted(group: Array) -> bool:
    """Whether leaving groups out says more than leaving texts out."""
    sizes = np.bincount(group)
    return len(sizes) >= FEWEST_GROUPS and bool(sizes.max() > 1)
