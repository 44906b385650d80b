"""Training data of the six set-ups: rated outputs, and human references and errors on top.

Stage: prediction (data of RNN-QE). In: rated outputs of one data set, human references of others;
the column ``domain`` of an output names the data set that has its references. Out: for each split
a table of `INSTANCE_COLUMNS`. Source: Dušek, Novikova & Rieser (2017), sections 3.1, 3.3 and 4.
"""

import zlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.models.rnn_qe.meaning import ACTS, tokens_of
from refless.models.rnn_qe.names import CROSS, CURVE, CURVE_SUBSETS, CV_FOLDS
from refless.models.rnn_qe.scale import HIGHEST, LOWEST

Array = np.ndarray
_T = TypeVar("_T")

INSTANCE_COLUMNS = ["id", "part", "mr", "text", "rating"]
"""``id`` is the rated output's, or of a synthetic row ``<origin>:<id>:e<errors>``; the origin is
``output``, ``reference`` (of a rated output's MR) or ``source`` (a row of a source set); ``part``
is ``train`` (rated), ``pretrain`` (synthetic, for the first epochs only), ``dev`` or ``test``; MR
and text are delexicalised tokens, ratings from 1 to 6."""
PARTS = ("train", "dev", "test")
"""The parts into which rated outputs are divided."""
RATED_COLUMNS = ["id", "domain", "system", "context", "text", "mr_key", "median_quality"]
REFERENCE_COLUMNS = ["id", "dataset", "context", "text_nem", "mr_key"]
MAX_ERRORS = 4
IN_SET_TRAIN, IN_SET_DEV = 100, 100
HIGHEST_WITH_ERROR = 4.0
SPARED = frozenset(["the", "a", "an", *".,:;!?"])
ACTIONS = ("duplicate", "duplicate_elsewhere", "insert", "replace", "remove")


class DataSettings(NamedTuple):
    """What decides the training data, besides texts and ratings: the seed of folds and errors, and
    the ``domain`` and ``system`` of the outputs which tables 4 and 5 test on."""

    seed: int
    domain: str
    system: str


class OutputSplit(NamedTuple):
    """Row numbers of rated outputs by part; ``source`` are those of ``train`` that errors and
    references are made from."""

    train: Array
    dev: Array
    test: Array
    source: Array


class TrainingTexts(NamedTuple):
    """What the splits are made of.

    rated : `RATED_COLUMNS`, and the tokens ``mr`` and ``words``, separated by blanks
    references : `REFERENCE_COLUMNS` and ``part`` (train, valid, test or empty), mr, words
    """

    rated: pd.DataFrame
    references: pd.DataFrame


def tokenised(
    meanings: Sequence[str], texts: Sequence[str], kind: str = ACTS
) -> dict[str, list[str]]:
    """The columns ``mr`` and ``words``: tokens of meanings and of texts, delexicalised, with blanks
    between them. Raises FormatError: an MR that cannot be read; ``line`` is its number, from 1.

    >>> tokenised(["name[Old Mill]"], ["The old mill."], "slots")
    {'mr': ['inform name X-name'], 'words': ['the X-name .']}
    """
    pairs = tokens_of(meanings, texts, kind)
    mrs, words = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
    return {"mr": mrs, "words": words}


# ---- splits --------------------------------------------------------------------------------------


def _shuffled_groups(rated: pd.DataFrame, seed: int) -> list[Array]:
    """Row numbers of the outputs with the same MR and text, such groups in random order."""
    group = rated.groupby(["mr_key", "text"], sort=False).ngroup().to_numpy()
    order = np.random.default_rng(seed).permutation(int(group.max()) + 1)
    return [np.flatnonzero(group == number) for number in order]


def _cut(groups: Sequence[Array], ends: Sequence[int]) -> list[Array]:
    """Consecutive parts of whole groups: each ends with the group that brings all rows so far to
    its number of ``ends``, and one more has the rest."""
    totals = np.cumsum([0, *map(len, groups)])
    stops = totals[np.searchsorted(totals, ends)]
    return np.split(np.concatenate([np.empty(0, np.int64), *groups]), stops)


def cross_validation(rated: pd.DataFrame, seed: int) -> list[OutputSplit]:
    """The five folds of table 3: of five parts, each trains on three, validates on one, tests on
    one. Errors and references are made from the first of the three, as in the code of the authors.

    >>> rated = pd.DataFrame({"mr_key": list("aabbccddee"), "text": list("xyxyxyxyxy")})
    >>> split = cross_validation(rated, seed=0)[0]
    >>> split.train, split.dev, split.test
    (array([4, 6, 2, 7, 3, 5]), array([9, 0]), array([8, 1]))
    """
    ends = [len(rated) * part // CV_FOLDS for part in range(1, CV_FOLDS)]
    parts, splits = _cut(_shuffled_groups(rated, seed), ends), []
    for fold in range(CV_FOLDS):
        first, second, third, dev, test = [*parts[fold:], *parts[:fold]]
        train = np.concatenate([first, second, third])
        splits.append(OutputSplit(train, dev, test, source=first))
    return splits


def cross_split(
    rated: pd.DataFrame, experiment: str, configuration: int, settings: DataSettings
) -> OutputSplit:
    """Tables 4 and 5: which rows train, validate and test under one configuration.

    Of the in-set, 100 rows may train, 100 validate, and the rest tests. Configuration 1 uses these
    alone; 2 trains and validates (3 to 1) on the out-of-set; 3 trains on the out-of-set and the
    100. An out-of-set row with the MR and the output of a row that tests or validates is not used.

    Raises SettingError: an in-set without a test part.
    """
    column, value = "system", settings.system
    if experiment == "cross_domain":
        column, value = "domain", settings.domain
    inside = (rated[column] == value).to_numpy()
    if inside.sum() <= IN_SET_TRAIN + IN_SET_DEV:
        raise SettingError(f"{inside.sum()} outputs with {column} {value} are too few to test on")
    groups = _shuffled_groups(rated, settings.seed)
    in_set = [rows[inside[rows]] for rows in groups]
    train, dev, test = _cut(in_set, [IN_SET_TRAIN, IN_SET_TRAIN + IN_SET_DEV])
    held_out = np.concatenate([dev, test])
    out_of_set = [rows[~inside[rows]] for rows in groups if not np.isin(rows, held_out).any()]
    if configuration == 2:
        train, dev = _cut(out_of_set, [sum(map(len, out_of_set)) * 3 // 4])
    elif configuration == 3:
        train = np.concatenate([*out_of_set, train])
    return OutputSplit(train, dev, test, source=train)


def smaller(splits: Sequence[OutputSplit], size: int, subset: int, seed: int) -> list[OutputSplit]:
    """The splits with training parts cut to ``size`` random rows; subsets are numbered from 0.
    Raises SettingError: a training part has fewer rows.

    >>> split = OutputSplit(*np.arange(8).reshape(4, 2))._replace(train=np.arange(5))
    >>> smaller([split], size=3, subset=0, seed=0)[0].train.tolist()
    [3, 0, 2]
    """
    fewest = min(len(split.train) for split in splits)
    if size > fewest:
        raise SettingError(f"{size} rated outputs are asked for, and a training part has {fewest}")
    generator = np.random.default_rng([seed, size, subset])
    trains = [generator.permutation(split.train)[:size] for split in splits]
    return [
        split._replace(train=train, source=np.intersect1d(split.source, train))
        for split, train in zip(splits, trains, strict=True)
    ]


def splits_of(rated: pd.DataFrame, evaluation: str, settings: DataSettings) -> list[OutputSplit]:
    """The splits of `TrainingRun.evaluation`: five folds, of a learning curve for each subset, or
    the one of tables 4 and 5. Raises SettingError: as `cross_split` and `smaller`."""
    experiment, _, number = evaluation.rpartition("_")
    if experiment in CROSS:
        return [cross_split(rated, experiment, int(number), settings)]
    folds = cross_validation(rated, settings.seed)
    if experiment != CURVE:
        return folds
    subsets = range(CURVE_SUBSETS)
    return [s for k in subsets for s in smaller(folds, int(number), k, settings.seed)]


# ---- instances -----------------------------------------------------------------------------------


def instances(texts: TrainingTexts, split: OutputSplit, setup: int, seed: int) -> pd.DataFrame:
    """All rows of one split under one set-up, `INSTANCE_COLUMNS`. The errors of a text follow from
    ``seed`` and its id alone, given the training outputs.

    >>> columns = {"id": list("abc"), "mr": [""] * 3, "words": ["a pub"] * 3, "median_quality": 4.0}
    >>> texts = TrainingTexts(pd.DataFrame(columns), references=pd.DataFrame())
    >>> split = OutputSplit(train=[0], dev=[1], test=[2], source=[0])
    >>> instances(texts, split, setup=2, seed=0)["rating"].tolist()  # 3 outputs, 0 to 4 errors
    [4.0, 4.0, 4.0, 4.0, 3.0, 2.0, 1.0, 1.0]
    """
    rated = texts.rated.assign(text=texts.rated["words"], rating=texts.rated["median_quality"])
    parts = [rated.iloc[getattr(split, part)].assign(part=part)[INSTANCE_COLUMNS] for part in PARTS]
    dictionary = " ".join(parts[0]["text"]).split(" ")
    rows = []
    for id, mr, words, rating in _to_corrupt(texts, split, setup).itertuples(index=False):
        tokens = words.split(" ")
        for errors in range(MAX_ERRORS + 1):
            row_id = f"{id}:e{errors}"
            generator = np.random.default_rng([seed, zlib.crc32(row_id.encode())])
            text = " ".join(corrupt(tokens, errors, dictionary, generator))
            rows.append((row_id, "pretrain", mr, text, penalised_rating(rating, errors)))
    return pd.concat([*parts, pd.DataFrame(rows, columns=INSTANCE_COLUMNS)], ignore_index=True)


def number_of_instances(texts: TrainingTexts, split: OutputSplit, setup: int) -> int:
    """How many rows of `instances` are trained on, without making them."""
    return len(split.train) + len(_to_corrupt(texts, split, setup)) * (MAX_ERRORS + 1)


def _to_corrupt(texts: TrainingTexts, split: OutputSplit, setup: int) -> pd.DataFrame:
    """The texts that errors are put into: id, mr, words, rating of each.

    Set-ups, each with all of the one before it: 1 nothing; 2 training outputs; 3 human references
    of their MRs; 4 the training parts of the source sets; 5 references of the test items; 6 all
    parts of the source sets. As in the authors' code (github.com/tuetschek/ratpred, July 2017),
    references are those of all parts of the source sets, and a row may be there as a reference and
    as a row of its source set.
    """
    rated = texts.rated.rename(columns={"median_quality": "rating"})
    # a human reference is taken to be the best
    references = texts.references.assign(rating=HIGHEST)
    added = {"output": rated.iloc[split.source if setup >= 2 else []]}
    if setup >= 3:
        chosen = rated if setup >= 5 else added["output"]
        added["reference"] = _references_of(rated, chosen, references)
    if setup >= 4:
        added["source"] = references if setup >= 6 else references[references["part"] == "train"]
    columns = ["id", "mr", "words", "rating"]
    tables = (table.assign(id=f"{origin}:" + table["id"]) for origin, table in added.items())
    return pd.concat([table[columns] for table in tables], ignore_index=True)


def _references_of(
    rated: pd.DataFrame, chosen: pd.DataFrame, references: pd.DataFrame
) -> pd.DataFrame:
    """The references of the MRs of some outputs, of their own source sets, in the order of all
    ``rated`` MRs; the same sentence of one MR comes once."""
    keys = ["domain", "mr_key"]
    all_mrs = rated[keys].drop_duplicates()
    chosen_mrs = all_mrs.merge(chosen[keys].drop_duplicates(), on=keys)
    joined = chosen_mrs.merge(references.rename(columns={"dataset": "domain"}), on=keys)
    return joined.drop_duplicates([*keys, "text_nem"])


# ---- errors (section 3.3) ------------------------------------------------------------------------


def penalised_rating(rating: float, errors: int) -> float:
    """The rating on 1..6 of a text with some errors: a point less for each, never below 1.

    From 5.5 or 6, the first error leads to 4. Source: Dušek et al. (2017), section 3.3.

    >>> [penalised_rating(6.0, errors) for errors in range(5)]
    [6.0, 4.0, 3.0, 2.0, 1.0]
    """
    if errors == 0:
        return rating
    return max(LOWEST, min(HIGHEST_WITH_ERROR, rating - 1) - (errors - 1))


def corrupt(
    words: Sequence[str], errors: int, dictionary: Sequence[str], generator: np.random.Generator
) -> list[str]:
    """The tokens of a text, at least one, with errors, each put in after the one before.

    An error falls on any word but an article or a mark, unless there is nothing else, and is one
    of `ACTIONS` with equal chances; the last word left is not removed. A word that is in the
    ``dictionary`` twice is drawn twice as often.

    >>> corrupt(["a", "cheap", "pub"], 1, ["park"], np.random.default_rng(4))
    ['a', 'cheap']
    """
    result = list(words)
    for _ in range(errors):
        content = [i for i, word in enumerate(result) if word not in SPARED]
        position = _pick(content or range(len(result)), generator)
        action = ACTIONS[generator.integers(len(ACTIONS) - (len(result) == 1))]
        if action == "remove":
            del result[position]
        elif action == "replace":
            result[position] = _other(result[position], dictionary, generator)
        elif action == "insert":
            result.insert(position, _pick(dictionary, generator))
        elif action == "duplicate":
            result.insert(position, result[position])
        else:
            result.insert(int(generator.integers(len(result) + 1)), result[position])
    return result


def _pick(values: Sequence[_T], generator: np.random.Generator) -> _T:
    return values[int(generator.integers(len(values)))]


def _other(word: str, dictionary: Sequence[str], generator: np.random.Generator) -> str:
    """A word of the dictionary that is not this one, if a hundred draws find it."""
    for _ in range(100):
        other = _pick(dictionary, generator)
        if other != word:
            return other
    return word
