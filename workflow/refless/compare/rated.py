"""Rated texts as the comparison takes them.

Stage: ratings. In: a user's files, or a data set's tidy table. Out: `Rated`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from refless.data.own import Own, plain
from refless.data.sources import table
from refless.data.wording import ASIDE, numbered, together, wording
from refless.errors import FormatError
from refless.models.baselines import Ngrams
from refless.models.rnn_qe.meaning import (
    ACTS,
    SLOTS,
    TEXT,
    kind_of,
    readable,
    tokens_of,
    told_apart,
    unordered,
)
from refless.statistics import drawn_together, drawn_whole

Array = np.ndarray

FEWEST = 20
"""Rated texts without which nothing can be said."""
FEWEST_DIFFERENT = 3
"""Different ones: one is left out, one sets thresholds, one trains."""


@dataclass(frozen=True)
class Rated:
    """Rated texts; everything has one entry a text.

    quality : float64 (n,), in [0, 1]
    wording : int64 (n,), number of the text among the different ones, by `wording`
    systems : who wrote it, or None where nobody says or one wrote all
    context : int64 (n,), number of its context or MR, or None
    alike : int64 (n,), the same, where contexts of one wording (several dialogues about one
        passage) or MRs that differ in values alone have one number; None where all differ
    meanings : the MR or the context as it is written, or None
    slots : the texts with the MR's values replaced by slots, where there are MRs that can be read
    references : other texts for its context, perhaps none
    scores : name -> somebody else's score, float64 (n,), NaN where there is none
    scale : the lowest and the highest quality as they were given
    lines : which row of the input it is, from 1
    warnings : what was noticed while reading
    """

    texts: list[str]
    quality: Array
    wording: Array
    systems: list[str] | None = None
    context: Array | None = None
    meanings: list[str] | None = None
    slots: list[str] | None = None
    alike: Array | None = None
    references: list[list[str]] | None = None
    scores: dict[str, Array] = field(default_factory=dict)
    scale: tuple[float, float] = (0.0, 1.0)
    lines: Array = field(default_factory=lambda: np.empty(0, np.int64))
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def ngrams(self) -> Ngrams:
        """The n-grams of all texts, counted once for every fold."""
        return Ngrams(self.texts)

    @property
    def apart(self) -> Array | None:
        """The contexts that are new to each other, by number."""
        return self.context if self.alike is None else self.alike

    @property
    def several(self) -> Array | None:
        """The contexts that have several texts: as they are given or, where these have fewer than
        two in the mean, those that are new to each other."""
        number = self.context
        if number is not None and 2 * len(np.unique(number)) > len(self):
            number = self.apart
        return number

    @cached_property
    def different(self) -> int:
        """How many different texts there are."""
        return len(np.unique(self.wording))

    @cached_property
    def drawn(self) -> tuple[Array, Array]:
        """What a bootstrap draws, as `refless.statistics.draw_blocks` takes it, and which of it
        each text belongs to, int64 (n,); the same for every split."""
        stays = None
        if self.systems is not None:  # which texts are all that one of their systems says
            wrote = self.memberships()[1]
            single = [len(np.unique(self.wording[own])) == 1 for own in wrote.T]
            stays = np.asarray(wrote[:, single].any(axis=1))
        # MRs that differ in their values alone may be too few to be drawn, and these are not
        units = next(
            (own for own in (self.apart, self.context) if drawn_whole(own) is not None), None
        )
        together = drawn_together(units, self.wording, stays)
        drawn, unit = np.unique(together, axis=0, return_inverse=True)
        return drawn, unit.reshape(-1)

    def memberships(self) -> tuple[list[str], Array]:
        """The systems' names, sorted, and who wrote what, bool (n, systems)."""
        own = self.systems or ["" for _ in self.texts]
        names = sorted(set(own))
        return names, np.array(own, object)[:, None] == np.array(names, object)

    def on_scale(self, name: str) -> bool:
        """Whether somebody else's scores lie on the ratings' scale, and use half of it or more."""
        low, high = self.scale
        known = self.scores[name][~np.isnan(self.scores[name])]
        if not known.size:
            return False
        inside = bool(low <= known.min() and known.max() <= high)
        return inside and float(np.ptp(known)) >= (high - low) / 2


def of_own(own: Own, scale: Sequence[float] | None = None) -> Rated:
    """A user's ratings.

    Raises
    ------
    FormatError : as `refless.data.sources.table.tidy` and `rated_of`.
    """
    found = table.tidy(own, "ratings", scale)
    assert found.scale is not None
    low, high = found.scale
    warnings: tuple[str, ...] = ()
    if not scale:
        warnings = (
            f"The scale of the ratings is not given; it is taken from the lowest, {low:g}, to the"
            f" highest, {high:g}. Squared errors are on that scale, brought to 0 to 1.",
        )
    return rated_of(found.texts, (low, high), warnings, ", ".join(one.path for one in own.files))


def rated_of(
    texts: pd.DataFrame,
    scale: tuple[float, float] = (0.0, 1.0),
    warnings: tuple[str, ...] = (),
    path: str | None = None,
) -> Rated:
    """The rated texts of a tidy table (see `refless.data.ratings`); unrated ones are left out.

    Raises
    ------
    FormatError : fewer than `FEWEST` rated texts, or than `FEWEST_DIFFERENT` different ones, or all
        are rated alike.
    """
    there = texts["n_ratings"].to_numpy(int) > 0
    lines = np.flatnonzero(there) + 1
    own = texts[there]
    quality = own["quality"].to_numpy(np.float64)
    if len(own) < FEWEST:
        raise FormatError(
            f"{len(own)} rated texts are too few to compare methods on",
            path=path,
            remedy=f"rate {FEWEST} or more; some hundreds tell most methods apart",
        )
    if np.ptp(quality) == 0:
        raise FormatError(
            "all texts are rated alike, so there is nothing to predict",
            path=path,
            remedy="take ratings that differ; a mean over raters tells texts apart better",
        )
    if crossing := _contexts_of_several_mrs(own):
        warnings = (
            *warnings,
            f"Contexts that stand beside several MRs: {crossing}. They are told apart by their MR,"
            " so texts of one context may be in training and in the test. If the context is what"
            " the texts answer, leave out the column mr.",
        )
    lost = int((~there).sum())
    if lost:
        warnings = (*warnings, f"Left out, since nobody rated them: {lost} of {len(texts)} texts.")
    words = numbered(own["text"])
    if (different := int(words.max()) + 1) < FEWEST_DIFFERENT:
        raise FormatError(
            f"{different} different texts are too few ({ASIDE})",
            path=path,
            remedy="rate texts that differ; some hundreds tell most methods apart",
        )
    systems = own["system"].astype(str).tolist()
    references = None
    if "references" in own:
        listed = [json.loads(text) for text in own["references"]]
        references = listed if any(listed) else None
    column, meanings = meanings_of(own)
    without_names = _delexicalised(own["text"].tolist(), meanings)
    context = _contexts(own)
    warnings = (*warnings, *about_meanings(column, meanings, without_names is not None))
    return Rated(
        own["text"].tolist(),
        quality,
        words,
        # one system, or nobody, cannot be told from others
        systems if len(set(systems)) > 1 else None,
        context,
        meanings if any(map(str.strip, meanings)) else None,
        without_names and without_names[1],
        _alike(context, own, meanings, without_names),
        references,
        {
            str(name).removeprefix("score_"): own[name].to_numpy(np.float64)
            for name in own
            if str(name).startswith("score_")
        },
        scale,
        lines,
        warnings,
    )


def meanings_of(rated: pd.DataFrame) -> tuple[str, list[str]]:
    """What stands beside the texts of a tidy table: the column, ``mr`` where it says anything, else
    ``context``, and its values."""
    there = "mr" in rated and rated["mr"].fillna("").astype(str).str.strip().any()
    column = "mr" if there else "context"
    return column, rated[column].fillna("").astype(str).tolist()


def contexts_beside(texts: pd.DataFrame, column: str) -> list[str]:
    """The contexts of a tidy table that stand beside its MRs."""
    there = column == "mr" and "context" in texts
    return texts["context"].fillna("").astype(str).tolist() if there else []


def about_meanings(
    column: str,
    meanings: Sequence[str],
    read: bool,
    as_asked: bool = False,
) -> Iterator[str]:
    """What is to be said of what stands beside texts (`meanings_of`): MRs of which not all can be
    ``read`` (if nobody asked for that), texts that have nothing."""
    if column == "mr" and not read and not as_asked:
        yield _mostly_read(meanings)
    if not any(map(str.strip, meanings)):
        yield (
            "No column says what texts answer, so texts on one document or of one dialogue may be"
            " in training and in the test. If there are such, give them one context."
        )
    blank, what = sum(not meaning.strip() for meaning in meanings), "MR" if read else "context"
    if 0 < blank < len(meanings):
        yield (
            f"No {what} stands beside {blank} of {len(meanings)} texts. Each of them is taken for a"
            " context of its own, unless its context is that of another row; if it has one that is"
            f" only missing, what is said of new contexts is too good. Give them their {what}s."
        )


def _mostly_read(meanings: Sequence[str]) -> str:
    """What to say of MRs of which not all can be read (`kind_of`)."""
    written = [meaning for meaning in meanings if meaning.strip()]
    lost, kind = min(
        (sum(not readable(mr, kind) for mr in written), kind) for kind in (ACTS, SLOTS)
    )
    said = (
        f"{lost} of {len(written)} MRs cannot be read as {kind}, as the others can."
        if lost < len(written)
        else "No MR can be read."
    )
    return (
        f"{said} So all are taken as plain words, and those that differ in values alone or in the"
        " order of slots count as different. Mend them, or leave out the column mr."
    )


def _delexicalised(texts: list[str], meanings: list[str]) -> tuple[list[str], list[str]] | None:
    """By what MRs are told apart, values aside, and texts with slots in the place of values; None
    where there are no MRs, or not all can be read."""
    kind = kind_of(meanings)
    if kind == TEXT:
        return None
    found = tokens_of(meanings, texts, kind)
    return [unordered(mr) for mr, _ in found], [" ".join(words) for _, words in found]


def _alike(
    context: Array | None,
    rated: pd.DataFrame,
    meanings: list[str],
    without_names: tuple[list[str], list[str]] | None,
) -> Array | None:
    """`Rated.alike`; ``without_names`` as from `_delexicalised`."""
    if context is None or not any(map(str.strip, meanings)):
        return None
    own = without_names[0] if without_names else list(map(wording, meanings))
    rest = rated["context"].fillna("").astype(str) if "context" in rated else [""] * len(own)
    numbers = together(context.tolist(), *_labels(own, list(map(wording, rest))))
    return numbers if numbers.max() < context.max() else None


def _labels(mrs: Sequence[str], contexts: Sequence[str]) -> tuple[list[object], list[object]]:
    """By what rows answer the same, for `together`: their MR; and their context, if some row of it
    has no MR. What is empty is like nothing else."""
    told = {context for mr, context in zip(mrs, contexts, strict=True) if not mr} - {""}
    return (
        [mr or row for row, mr in enumerate(mrs)],
        [context if context in told else row for row, context in enumerate(contexts)],
    )


def _contexts_of_several_mrs(texts: pd.DataFrame) -> int:
    """How many contexts stand beside several MRs, but for those that `_labels` keeps together."""
    if not {"mr_key", "mr"} <= set(texts):
        return 0
    there = texts["mr_key"].astype(str) != ""
    whole = texts["context"].map(wording).isin(texts["context"][~there].map(wording))
    both = there & ~whole & (texts["context"] != texts["mr"])
    own = texts[both & (texts["context"].astype(str).str.strip() != "")]
    mrs = own["mr_key"].tolist()
    pairs = set(zip(own["context"].map(wording), told_apart(mrs, kind_of(mrs)), strict=True))
    return sum(number > 1 for number in Counter(context for context, _ in pairs).values())


def _contexts(texts: pd.DataFrame) -> Array | None:
    """Numbers of the contexts; None where there are none, or one.

    They are told apart by the MR, where there is one, or the context is one. A row without one
    among others belongs to the rows of its context.
    """
    # identifiers are taken as they are
    given, form = ("context_id", plain) if "context_id" in texts else ("context", wording)
    named = texts[given].astype(str).map(form).tolist()
    keys = texts["mr_key" if "mr_key" in texts else "context"].fillna("").astype(str).tolist()
    kind = kind_of(keys)
    apart = told_apart(keys, kind) if "mr_key" in texts or kind != TEXT else [""] * len(keys)
    if not any((*named, *apart)):
        return None
    numbers = together(*_labels(apart, named))
    return numbers if numbers.max() > 0 else None
