"""Rated texts as the comparison takes them.

Stage: ratings. In: a user's files, or a data set's tidy table. Out: `Rated`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.sources import table
from refless.errors import FormatError
from refless.models.rnn_qe.meaning import TEXT, kind_of, tokens_of

log = logging.getLogger(__name__)

Array = np.ndarray

FEWEST = 20
"""Rated texts without which nothing can be said."""


@dataclass(frozen=True)
class Rated:
    """Rated texts; everything has one entry a text.

    quality : float64 (n,), in [0, 1]
    wording : int64 (n,), number of the text among the different ones, in which case and blanks do
        not count
    systems : who wrote it, or None where nobody says or one wrote all; ``a+b`` wrote it both
    context : int64 (n,), number of its context or MR, or None
    alike : int64 (n,), the same, where contexts of one wording (several dialogues about one
        passage) or MRs that differ in names alone have one number; None where all differ
    meanings : the MR or the context as it is written, or None
    slots : the texts with the MR's names replaced by slots, where there are MRs that can be read
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

    @property
    def apart(self) -> Array | None:
        """The contexts that are new to each other, by number."""
        return self.context if self.alike is None else self.alike

    def memberships(self) -> tuple[list[str], Array]:
        """The systems' names, sorted, and who wrote what, bool (n, systems)."""
        own = [name.split("+") for name in self.systems or ["" for _ in self.texts]]
        names = sorted({name for row in own for name in row})
        at = {name: k for k, name in enumerate(names)}
        wrote = np.zeros((len(own), len(names)), bool)
        for row, written_by in enumerate(own):
            wrote[row, [at[name] for name in written_by]] = True
        return names, wrote

    def on_scale(self, name: str) -> bool:
        """Whether somebody else's scores lie on the ratings' scale, and use half of it or more."""
        low, high = self.scale
        known = self.scores[name][~np.isnan(self.scores[name])]
        if not known.size:
            return False
        inside = bool(low <= known.min() and known.max() <= high)
        return inside and float(np.ptp(known)) >= (high - low) / 2


def read_rated(
    paths: Sequence[str | Path], scale: Sequence[float] | None = None, format: str = ""
) -> Rated:
    """Read a user's files; a folder stands for all files in it whose endings tell their format.

    Parameters
    ----------
    scale, format : as `refless.data.sources.table.load_all`

    Raises
    ------
    FormatError : a file cannot be read or has a bad row (it is named); there are no files; fewer
        than `FEWEST` rated texts; all are rated alike.
    """
    files = [file for path in paths for file in files_of(path)]
    found = table.load_all(files, "ratings", scale, format)
    found.require_clean("compare")
    low = min(low for low, _ in found.ranges.values()) if found.ranges else 0.0
    high = max(high for _, high in found.ranges.values()) if found.ranges else 1.0
    given = (float(scale[0]), float(scale[1])) if scale else (low, high)
    warnings = _about_scales(found.ranges)
    if not scale:
        warnings.append(
            f"The scale of the ratings is not given; it is taken from the lowest, {low:g}, to the"
            f" highest, {high:g}. Squared errors are on that scale, brought to 0 to 1."
        )
    return rated_of(found.texts, given, tuple(warnings), ", ".join(map(str, files)))


def files_of(path: str | Path) -> list[Path]:
    """The file, or those in the folder whose endings tell their format.

    Raises
    ------
    FormatError : the folder has none.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in table.FORMATS and p.is_file())
    if not found:
        raise FormatError(
            f"the folder has no file that ends in {', '.join(table.FORMATS)}",
            path=path,
            remedy="name the files one by one, with --format",
        )
    return found


def _about_scales(ranges: dict[str, tuple[float, float]]) -> list[str]:
    """A file whose ratings have another width, or lie elsewhere, was hardly rated on one scale."""
    if len(ranges) < 2:
        return []
    widths = [high - low for low, high in ranges.values()]
    apart = max(low for low, _ in ranges.values()) > min(high for _, high in ranges.values())
    if not apart and max(widths) < 2 * max(min(widths), 1e-12):
        return []
    listed = ", ".join(f"{Path(p).name} {low:g} to {high:g}" for p, (low, high) in ranges.items())
    return [
        f"The files' ratings differ in range: {listed}. If the scales differ, bring them to one"
        " before you trust any number here."
    ]


def rated_of(
    texts: pd.DataFrame,
    scale: tuple[float, float] = (0.0, 1.0),
    warnings: tuple[str, ...] = (),
    path: str | None = None,
) -> Rated:
    """The rated texts of a tidy table (see `refless.data.ratings`); unrated ones are left out.

    Raises
    ------
    FormatError : fewer than `FEWEST` rated texts, or all are rated alike.
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
    lost = int((~there).sum())
    if lost:
        warnings = (*warnings, f"Left out, since nobody rated them: {lost} of {len(texts)} texts.")
    words = [wording(text) for text in own["text"]]
    systems = own["system"].astype(str).tolist()
    references = None
    if "references" in own:
        listed = [json.loads(text) for text in own["references"]]
        references = listed if any(listed) else None
    meanings = _meanings(own)
    without_names = _delexicalised(own["text"].tolist(), meanings)
    context = _contexts(own)
    return Rated(
        own["text"].tolist(),
        quality,
        pd.factorize(pd.Series(words, dtype=object))[0].astype(np.int64),
        # one system, or nobody, cannot be told from others
        systems if len(set(systems)) > 1 else None,
        context,
        meanings if any(map(str.strip, meanings)) else None,
        without_names and without_names[1],
        _alike(context, without_names[0] if without_names else meanings),
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


def apart_of(rated: pd.DataFrame) -> Array | None:
    """Numbers of the contexts that are new to each other (`Rated.apart`), of a tidy table of rated
    texts; None where there are none, or one."""
    context, meanings = _contexts(rated), _meanings(rated)
    without_names = _delexicalised(rated["text"].tolist(), meanings)
    alike = _alike(context, without_names[0] if without_names else meanings)
    return context if alike is None else alike


def _meanings(rated: pd.DataFrame) -> list[str]:
    return rated["mr" if "mr" in rated else "context"].fillna("").astype(str).tolist()


def _delexicalised(texts: list[str], meanings: list[str]) -> tuple[list[str], list[str]] | None:
    """MRs and texts with slots in the place of names; None where there are no MRs to read."""
    kind = kind_of(meanings)
    if kind == TEXT:
        return None
    try:
        found = tokens_of(meanings, texts, kind)
    except FormatError:
        return None
    return [" ".join(mr) for mr, _ in found], [" ".join(words) for _, words in found]


def _alike(context: Array | None, meanings: list[str]) -> Array | None:
    if context is None or not all(map(str.strip, meanings)):
        return None
    plain = pd.Series([table.plain(meaning) for meaning in meanings], dtype=object)
    numbers = pd.factorize(plain)[0].astype(np.int64)
    return numbers if numbers.max() < context.max() else None


def _contexts(texts: pd.DataFrame) -> Array | None:
    """Numbers of the contexts; None where there are none, or one."""
    if "mr_key" in texts and (texts["mr_key"].astype(str) != "").all():
        named = texts["mr_key"]
    elif "context_id" in texts:
        named = texts["context_id"]
    else:
        named = texts["context"]
    numbers = pd.factorize(named.astype(str).map(table.plain).astype(object))[0].astype(np.int64)
    return numbers if numbers.max() > 0 else None


def wording(text: str) -> str:
    """A text as it is compared with others, the case of its letters aside."""
    return table.plain(text).casefold()
