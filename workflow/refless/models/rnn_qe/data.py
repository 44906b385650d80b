"""Training data of the six set-ups: rated outputs, and human references and errors on top.

Stage: prediction (data of RNN-QE). In: rated outputs of one data set, human references of others;
the column ``dataset`` of an output names the data set that has its references. Out: for each split
a table of `COLUMNS`, one row an instance. ``id`` is the rated output's, or of a synthetic row
``<why>:<source row>:e<errors>``, why being ``output``, ``reference`` (of a rated output's MR) or
``source`` (a row of a source set). ``part`` is ``train`` (rated), ``pretrain`` (synthetic, for the
first passes only), ``dev`` or ``test``. MR and text are delexicalised tokens.

Set-ups, each with all of the one before it: 1 the rated training outputs alone; 2 errors in them;
3 human references of their MRs; 4 the training parts of the source sets that have parts; 5
references of the test items; 6 all parts of the source sets. Every text that is added comes five
times: as it is, and with 1 to 4 errors.

What gives the sizes that the paper prints stands in the code that the authors published
(github.com/tuetschek/ratpred, July 2017) and not in the text: in cross-validation, outputs and
references of the first of the three training parts alone are synthesised from; references are those
of all parts of the source sets, joined by MR; set-ups 5 and 6 add references by MR and the source
sets' rows without asking whether they are the same.

Source: Dušek, Novikova & Rieser (2017), sections 3.1, 3.3 and 4.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.models.rnn_qe.delex import delexicalise
from refless.models.rnn_qe.names import CROSS, CURVE, CURVE_SUBSETS, FOLDS, Name, parse
from refless.models.rnn_qe.synthesis import BEST, distort, lowered

Array = np.ndarray

COLUMNS = ["id", "part", "mr", "text", "rating"]
RATED_COLUMNS = ["id", "dataset", "system", "context", "text", "mr_key", "median_quality"]
REFERENCE_COLUMNS = ["id", "task", "context", "text_nem", "mr_key"]
ERRORS = 4
IN_SET_TRAIN, IN_SET_DEV = 100, 100


@dataclass(frozen=True)
class DataSettings:
    """What decides the training data, besides texts and ratings.

    seed : of the folds and of the synthetic errors
    domain, system : values of the columns ``dataset`` and ``system``, which tables 4 and 5 test on
    """

    seed: int
    domain: str
    system: str

    def in_set(self, experiment: str) -> tuple[str, str]:
        """Column and value of the outputs that table 4 (``cross_domain``) or 5 tests on."""
        if experiment == "cross_domain":
            return "dataset", self.domain
        return "system", self.system


@dataclass(frozen=True)
class Split:
    """Row numbers of rated outputs by part; ``source`` are those of ``train`` that errors and
    references are made from."""

    train: Array
    dev: Array
    test: Array
    source: Array


@dataclass(frozen=True)
class Texts:
    """What the splits are made of, delexicalised.

    rated : `RATED_COLUMNS`, and mr and words (see `delexicalise`)
    references : `REFERENCE_COLUMNS` and ``part`` (train, valid, test or empty), mr, words
    """

    rated: pd.DataFrame
    references: pd.DataFrame

    @classmethod
    def of(cls, rated: pd.DataFrame, references: pd.DataFrame) -> Texts:
        """Delexicalise the loaders' tables; FormatError for an MR that cannot be read."""
        return cls(_delexicalised(rated, "text"), _delexicalised(references, "text_nem"))


def _delexicalised(table: pd.DataFrame, column: str) -> pd.DataFrame:
    pairs = [delexicalise(m, t) for m, t in zip(table["context"], table[column], strict=True)]
    return table.reset_index(drop=True).assign(
        mr=[p[0] for p in pairs], words=[p[1] for p in pairs]
    )


def references_by_mr(texts: Texts) -> pd.DataFrame:
    """The references of each rated MR: columns mr_key, dataset and ``row``, of ``references``.

    The same sentence of the same MR comes once. A data set's outputs get references of their own
    source set only.
    """
    keyed = texts.references.assign(row=np.arange(len(texts.references)))
    keyed = keyed.rename(columns={"task": "dataset"})[["dataset", "mr_key", "text_nem", "row"]]
    rated = texts.rated[["dataset", "mr_key"]].drop_duplicates()
    joined = rated.merge(keyed, on=["dataset", "mr_key"])
    return joined.drop_duplicates(["dataset", "mr_key", "text_nem"])[["dataset", "mr_key", "row"]]


# ---- splits --------------------------------------------------------------------------------------


def shuffled_groups(rated: pd.DataFrame, seed: int) -> list[Array]:
    """Row numbers in random order, those with the same MR and output together."""
    group = rated.groupby(["mr_key", "text"], sort=False).ngroup().to_numpy()
    order = np.random.default_rng(seed).permutation(int(group.max()) + 1)
    rows = [np.flatnonzero(group == number) for number in range(len(order))]
    return [rows[number] for number in order]


def cut(groups: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
    """Consecutive parts of at least these sizes, the last one taking the rest; groups stay whole.

    A part that comes out larger makes the next one smaller, so that sizes do not drift.
    """
    parts: list[list[Array]] = [[] for _ in sizes]
    ends = np.cumsum(sizes)
    part = total = 0
    for rows in groups:
        while part < len(sizes) - 1 and total >= ends[part]:
            part += 1
        parts[part].append(rows)
        total += len(rows)
    return [np.concatenate(p) if p else np.empty(0, np.int64) for p in parts]


def cross_validation(rated: pd.DataFrame, seed: int) -> list[Split]:
    """Five folds: of five parts, each fold trains on three, validates on one, tests on one."""
    ends = [len(rated) * part // FOLDS for part in range(FOLDS + 1)]
    parts = cut(shuffled_groups(rated, seed), np.diff(ends).tolist())
    splits = []
    for fold in range(FOLDS):
        one, two, three, dev, test = parts[fold:] + parts[:fold]
        splits.append(Split(np.concatenate([one, two, three]), dev, test, one))
    return splits


def cross_split(
    rated: pd.DataFrame, experiment: str, configuration: int, settings: DataSettings
) -> Split:
    """Tables 4 and 5: which rows train, validate and test under one configuration.

    Of the shuffled in-set, 100 rows may train, 100 validate, and the rest tests, in each
    configuration the same. Configuration 1 uses these alone; 2 trains and validates (3 to 1) on
    rated outputs of the out-of-set (human references are of both, from set-up 4 on, as the
    authors' are); 3 trains on the out-of-set and the 100. An out-of-set row with the MR and the
    output of a row that tests or validates is not used: two systems may have said the same.

    Raises
    ------
    SettingError : an in-set without a test part.
    """
    column, value = settings.in_set(experiment)
    inside = (rated[column] == value).to_numpy()
    if inside.sum() <= IN_SET_TRAIN + IN_SET_DEV:
        raise SettingError(f"{inside.sum()} outputs with {column} {value} are too few to test on")
    groups = shuffled_groups(rated, settings.seed)
    own = [rows[inside[rows]] for rows in groups if inside[rows].any()]
    train, dev, test = cut(own, [IN_SET_TRAIN, IN_SET_DEV, int(inside.sum())])
    held = set(np.concatenate([dev, test]).tolist())
    outside = ((rows, rows[~inside[rows]]) for rows in groups)
    out = [own for rows, own in outside if len(own) and not held & set(rows.tolist())]
    if configuration == 2:
        size = sum(map(len, out))
        train, dev = cut(out, [size * 3 // 4, size])
    elif configuration == 3:
        train = np.concatenate([*out, train])
    return Split(train, dev, test, train)


def smaller(splits: Sequence[Split], size: int, subset: int, seed: int) -> list[Split]:
    """The splits with training parts cut to ``size`` random rows; subsets are numbered from 0.

    Raises
    ------
    SettingError : a training part has fewer rows.
    """
    fewest = min(len(split.train) for split in splits)
    if size > fewest:
        raise SettingError(f"{size} rated outputs are asked for, and a training part has {fewest}")
    generator = np.random.default_rng([seed, size, subset])
    kept = [generator.permutation(split.train)[:size] for split in splits]
    return [
        replace(split, train=train, source=np.intersect1d(split.source, train))
        for split, train in zip(splits, kept, strict=True)
    ]


# ---- instances -----------------------------------------------------------------------------------


def instances(texts: Texts, split: Split, setup: int, seed: int) -> pd.DataFrame:
    """All rows of one split under one set-up, `COLUMNS`.

    The errors of a text follow from ``seed`` and its id alone, given the dictionary.
    """
    rated = texts.rated
    rows = [
        (name, part, mr, words, rating)
        for part, numbers in (("train", split.train), ("dev", split.dev), ("test", split.test))
        for name, mr, words, rating in _fields(rated, numbers, rated["median_quality"])
    ]
    dictionary = " ".join(rated["words"].to_numpy()[split.train]).split(" ")
    for why, added in _added(texts, split, setup):
        for name, mr, words, rating in added:
            start = words.split(" ")
            for errors in range(ERRORS + 1):
                row = f"{why}:{name}:e{errors}"
                generator = np.random.default_rng([seed, zlib.crc32(row.encode())])
                text = " ".join(distort(start, errors, dictionary, generator))
                rows.append((row, "pretrain", mr, text, lowered(rating, errors)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _fields(
    table: pd.DataFrame, rows: Array, ratings: pd.Series | None = None
) -> list[tuple[str, str, str, float]]:
    """(id, mr, words, rating) of some rows; human references are taken to be the best."""
    own = table.iloc[rows]
    given = [BEST] * len(own) if ratings is None else ratings.iloc[rows].tolist()
    return list(zip(own["id"], own["mr"], own["words"], given, strict=True))


def _added(
    texts: Texts, split: Split, setup: int
) -> list[tuple[str, list[tuple[str, str, str, float]]]]:
    """What errors are put into: (why, (id, mr, words, rating) of each text)."""
    if setup == 1:
        return []
    rated, references = texts.rated, texts.references
    added = [("output", _fields(rated, split.source, rated["median_quality"]))]
    if setup >= 3:
        chosen = rated.iloc[split.source if setup < 5 else np.arange(len(rated))]
        wanted = set(zip(chosen["dataset"], chosen["mr_key"], strict=True))
        joined = references_by_mr(texts)
        keys = zip(joined["dataset"], joined["mr_key"], strict=True)
        by_mr = joined["row"].to_numpy()[[key in wanted for key in keys]]
        added.append(("reference", _fields(references, by_mr)))
    if setup >= 4:
        parts = references["part"].fillna("").to_numpy()
        source = np.flatnonzero(parts == "train") if setup < 6 else np.arange(len(references))
        added.append(("source", _fields(references, source)))
    return added


def size(texts: Texts, split: Split, setup: int) -> int:
    """How many rows of `instances` are trained on, without making them."""
    synthetic = sum(len(part) for _, part in _added(texts, split, setup))
    return len(split.train) + synthetic * (ERRORS + 1)


def splits_of(rated: pd.DataFrame, of: Name, settings: DataSettings) -> list[Split]:
    """The splits of a name: five folds, of a learning curve for each subset, or the one of tables 4
    and 5.

    Raises
    ------
    SettingError : as `cross_split` and `smaller`.
    """
    if of.experiment in CROSS:
        return [cross_split(rated, of.experiment, of.number, settings)]
    folds = cross_validation(rated, settings.seed)
    if of.experiment != CURVE:
        return folds
    subsets = range(CURVE_SUBSETS)
    return [s for k in subsets for s in smaller(folds, of.number, k, settings.seed)]


def tables(texts: Texts, name: str, settings: DataSettings) -> Iterator[pd.DataFrame]:
    """`instances` of each split behind a name (`refless.models.rnn_qe.names`).

    Raises
    ------
    SettingError : an unknown name; as `splits_of`.
    """
    of = parse(name)
    for split in splits_of(texts.rated, of, settings):
        yield instances(texts, split, of.setup, settings.seed)
