"""Rated texts as they are compared, and which of them are left out together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.data.text_ids import fold_key, label_ids, merge_key, text_ids
from refless.data.user_ratings import UserRatings
from refless.errors import FormatError
from refless.methods.table import (
    CONTEXT_GROUP,
    CONTEXT_KEY,
    HUMAN,
    LOOKUP_KEY,
    TEXT_KEY,
    mr_key,
    prompts_of,
    score_names,
)
from refless.models.folds import in_folds
from refless.models.rnn_qe.meaning import TEXT, kind_of_meanings, tokens_of, unordered
from refless.statistics.bootstrap import (
    FEWEST_EFFECTIVE,
    FEWEST_TEXTS,
    ResamplingUnits,
    contexts_if_enough,
    crossed_units,
)
from refless.statistics.pairwise_accuracy import SystemGrid, system_grid
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
    """Rated texts, each field with one entry a text but for the last ones. Numbers are int64 (n,),
    from 0."""

    texts: list[str]
    quality: Array  # float64 (n,), in [0, 1]
    text_id: Array  # number of the text among those that differ in their fold key
    system: Array | None = None  # number of who wrote it; None where nobody says or one wrote all
    prompts: list[str] | None = None  # the MR or context as it is written
    context: Array | None = None  # number of it, each blank one its own; None if all are one
    # the same where contexts of one fold key, and MRs that differ in the values of slots, are one
    context_group: Array | None = None
    # texts with slots for the MR's values, if all MRs can be read
    delexicalised: list[str] | None = None
    references: list[list[str]] | None = None  # other texts for its context, perhaps none
    # somebody else's, on any scale; NaN: none
    scores: dict[str, Array] = field(default_factory=dict)
    scale: tuple[float, float] = (0.0, 1.0)  # lowest and highest quality, in the user's unit
    guessed: bool = False  # nobody gave the scale
    # of the input, from 1: the first one of each text
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64))
    raters: Raters | None = None
    # single ratings in the user's unit: ``text``, from 0, ``rater`` and ``quality``
    ratings: pd.DataFrame | None = None
    human: Array | None = None  # bool (n,), written by a person; None where nobody says
    system_names: Sequence[str] = ()  # by their numbers

    def __len__(self) -> int:
        return len(self.texts)

    def to_user_scale(self, quality: Array) -> Array:
        """Quality from [0, 1] in the user's unit."""
        low, high = self.scale
        return low + (high - low) * quality

    @property
    def contexts(self) -> int:
        """The number of contexts, as a split leaves them out whole; 0 where nobody names contexts,
        or all are one."""
        return 0 if self.context_group is None else int(self.context_group.max()) + 1

    @cached_property
    def shares_systems(self) -> bool:
        """Whether most texts have another one of their system, so that a score may know the system
        alone."""
        if self.system is None:
            return False
        return bool((np.bincount(self.system)[self.system] > 1).mean() > 0.5)

    @cached_property
    def table(self) -> pd.DataFrame:
        """What methods read of the texts (`refless.methods.table`), a row a text."""
        blank = [not prompt.strip() for prompt in self.prompts or [""] * len(self)]
        columns: dict[str, Any] = {
            "text": self.texts,
            TEXT_KEY: self.text_id.astype(str),
            LOOKUP_KEY: [fold_key(text) for text in self.delexicalised or self.texts],
            CONTEXT_KEY: "" if self.context is None else self.context.astype(str),
            CONTEXT_GROUP: "" if self.context_group is None else self.context_group.astype(str),
        }
        if self.system is not None:
            columns["system"] = self.system.astype(str)
        if self.human is not None:
            columns[HUMAN] = self.human
        if self.references is not None:
            columns["references"] = self.references
        table = pd.DataFrame({**columns, **self.scores})
        if self.prompts is not None:
            table.loc[blank, [CONTEXT_KEY, CONTEXT_GROUP]] = ""
        return table

    @cached_property
    def system_grid(self) -> tuple[SystemGrid | None, str]:
        """The contexts for which every system has a text, or why there are none."""
        return system_grid(self.system, self.context)

    @cached_property
    def resampling_units(self) -> ResamplingUnits:
        """What a bootstrap resamples: contexts, where there are enough, and equal texts."""
        never_crossed = None
        if self.system is not None:  # the texts of a system that always says the same
            different = pd.Series(self.text_id).groupby(self.system).transform("nunique")
            never_crossed = (different == 1).to_numpy()
        return crossed_units(self.resampled_contexts, self.text_id, never_crossed)

    @cached_property
    def resampled_contexts(self) -> Array | None:
        """The contexts that are resampled, int64 (n,); None where there are too few, so that equal
        texts are."""
        groups = contexts_if_enough(self.context_group)
        return contexts_if_enough(self.context) if groups is None else groups

    @property
    def one_context_outweighs(self) -> bool:
        """Whether the contexts, or texts, that are resampled are worth fewer than
        `FEWEST_EFFECTIVE` of one size, so that there are no intervals."""
        return self.resampling_units.effective < FEWEST_EFFECTIVE

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough different texts to resample, and contexts, if these are
        resampled."""
        return bool(self.text_id.max() + 1 >= FEWEST_TEXTS) and not self.one_context_outweighs

    @cached_property
    def distinct_units(self) -> tuple[ResamplingUnits, Array]:
        """The resampling units by `ResamplingUnits.distinct`, each combination once."""
        return self.resampling_units.distinct()


def of_user(user: UserRatings) -> Rated:
    """A user's ratings on their `scale_of`. Raises FormatError: as `rated_of`."""
    ratings = user.ratings
    quality = user.texts["quality"]
    low, high = scale_of(user)
    texts = user.texts.assign(quality=(quality - low) / ((high - low) or 1))
    rated = rated_of(texts, (low, high), path=", ".join(file.path for file in user.files))
    first_row = np.unique(user.text_of, return_index=True)[1]  # of each text, one a rater
    rated = replace(rated, rows=first_row[rated.rows - 1] + 1)
    if not ratings["rater"].any():
        return replace(rated, guessed=user.scale is None)
    if "system" in user.texts:
        ratings = ratings.assign(system=user.texts["system"].to_numpy()[ratings["text"]])
    raters = rater_agreement(ratings)
    number = np.cumsum(quality.notna()) - 1  # of each text among the rated ones
    ratings = ratings.assign(text=np.asarray(number)[ratings["text"]])
    return replace(rated, guessed=user.scale is None, raters=raters, ratings=ratings)


def scale_of(user: UserRatings) -> tuple[float, float]:
    """The lowest and the highest possible rating: those that were given, or those that there are,
    widened to the means of centred ratings."""
    single = user.ratings["quality"]
    quality = user.texts["quality"]
    low, high = user.scale or (single.min(), single.max())
    return float(min(low, quality.min())), float(max(high, quality.max()))


def rated_of(
    texts: pd.DataFrame, scale: tuple[float, float] = (0.0, 1.0), path: str | None = None
) -> Rated:
    """The rated rows of a table with ``text``, ``quality`` in [0, 1] and, as far as there are any,
    ``system``, ``context``, ``context_id``, ``mr``, ``references`` and ``score_*``. Raises
    FormatError: fewer than `FEWEST` different rated texts, or all are rated alike."""
    rows = texts[texts["quality"].notna()]
    quality = rows["quality"].to_numpy(np.float64)
    text_id = text_ids(rows["text"])
    _check_rated(text_id, quality, path)
    system, system_names = _systems(rows)
    _, prompts = prompts_of(rows)
    any_prompt = any(map(str.strip, prompts))
    contexts = _contexts(rows, prompts)
    several = any_prompt and contexts.number.max() > 0
    return Rated(
        texts=rows["text"].tolist(),
        quality=quality,
        text_id=text_id,
        system=system,
        prompts=prompts if any_prompt else None,
        context=contexts.number if several else None,
        context_group=contexts.group if several else None,
        delexicalised=contexts.delexicalised,
        references=_references(rows),
        scores={name: _with_squares(rows[name].to_numpy(np.float64)) for name in score_names(rows)},
        scale=scale,
        rows=np.flatnonzero(texts["quality"].notna()) + 1,
        system_names=system_names,
    )


def _check_rated(text_id: Array, quality: Array, path: str | None) -> None:
    """Raises FormatError: as `rated_of`."""
    different = len(np.unique(text_id))
    if different < FEWEST:
        message = f"{different} different rated texts are too few (by letters, digits and marks)"
        raise FormatError(message, path=path, remedy=f"rate {FEWEST} or more, better some hundreds")
    if np.ptp(quality) == 0:
        message = "all texts are rated alike, so there is nothing to predict"
        raise FormatError(message, path=path, remedy="take ratings that differ")


def _systems(rows: pd.DataFrame) -> tuple[Array | None, list[str]]:
    """The number of each text's system, None unless there are several; and the systems' names."""
    if "system" not in rows:
        return None, []
    names, number = np.unique(rows["system"].astype(str), return_inverse=True)
    return number if number.any() else None, names.tolist()


def _references(rows: pd.DataFrame) -> list[list[str]] | None:
    """The references of each text, None if no text has any."""
    if "references" not in rows:
        return None
    listed = [json.loads(one) if isinstance(one, str) else one for one in rows["references"]]
    return listed if any(listed) else None


class _Contexts(NamedTuple):
    """What texts answer: the number of each text's context, and of the contexts that are left out
    together, as of `Rated`; where texts answer MRs, the texts with slots in place of values."""

    number: Array
    group: Array
    delexicalised: list[str] | None = None


def _contexts(rows: pd.DataFrame, prompts: list[str]) -> _Contexts:
    """What texts answer, given the prompt of each, which may be empty."""
    kind = kind_of_meanings(prompts)
    if kind == TEXT:
        number = label_ids(map(merge_key, prompts), separate_blank=True)
        if "context_id" in rows:
            number = label_ids(rows["context_id"].astype(str), separate_blank=True)
        return _Contexts(number, text_ids(prompts, separate_blank=True))
    tokens = tokens_of(prompts, rows["text"].tolist(), kind)
    written = [mr_key(prompt, kind) for prompt in prompts]
    return _Contexts(
        number=label_ids(written, separate_blank=True),
        group=label_ids([unordered(triples) for triples, _ in tokens], separate_blank=True),
        delexicalised=[" ".join(words) for _, words in tokens],
    )


def _with_squares(score: Array) -> Array:
    """A score (n,); of very small ones, whose squares would be 0, times a power of two."""
    most = np.fmax.reduce(np.abs(score), initial=0)
    return np.ldexp(score, -np.frexp(most)[1]) if most < 1e-100 else score


class CvSplit(NamedTuple):
    """One way of leaving texts out: ``texts``, with equal ones in one fold, or ``systems`` or
    ``contexts``, with all texts of one in one fold."""

    name: str
    fold: Array  # int64 (n,), from 0
    repeat: int = 0  # which assignment of groups to folds, from 0

    @property
    def folds(self) -> int:
        """The number of folds."""
        return int(self.fold.max()) + 1


def all_splits(rated: Rated, seed: int = 0, repeats: int = 1) -> dict[str, list[CvSplit]]:
    """The splits that the data allow: by texts, systems, contexts; with folds made anew up to
    ``repeats`` times, each time with other texts together: where each system is a fold, there is
    one way."""
    splits: dict[str, dict[bytes, CvSplit]] = {}
    for repeat in range(max(1, min(repeats, TEXTS // len(rated)))):
        generator = np.random.default_rng([seed, repeat] if repeat else seed)
        folds = {"texts": in_folds(rated.text_id, FOLDS, generator)}
        if rated.system is not None and _parted(rated.system):
            systems = int(rated.system.max()) + 1
            few = systems <= MOST_SYSTEMS
            fold = np.arange(systems) if few else generator.permutation(systems) % FOLDS
            folds["systems"] = fold[rated.system]
        if rated.context_group is not None and _parted(rated.context_group):
            folds["contexts"] = in_folds(rated.context_group, FOLDS, generator)
        for name, fold in folds.items():
            repeats_of = splits.setdefault(name, {})
            # the same for folds that differ in their numbers alone
            repeats_of.setdefault(label_ids(fold).tobytes(), CvSplit(name, fold, len(repeats_of)))
    return {name: list(repeats_of.values()) for name, repeats_of in splits.items()}


def _parted(group: Array) -> bool:
    """Whether leaving groups out says more than leaving texts out."""
    sizes = np.bincount(group)
    return len(sizes) >= FEWEST_GROUPS and bool(sizes.max() > 1)
