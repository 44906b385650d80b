"""Training data of the six set-ups: rated outputs, and human references and errors on top.

Stage: prediction (data of RNN-QE). In: rated outputs of one data set, human references of others;
the column ``dataset`` of an output names the data set that has its references. Out: for each split
a table of `COLUMNS`, one row an instance:

======  ==========================================================================================
id      the rated output's; of a synthetic row ``<why>:<source row>:e<errors>``, why being
        ``output``, ``reference`` (of a rated output's MR) or ``source`` (a row of a source set)
part    ``train``: rated outputs; ``pretrain``: synthetic rows, which a trainer uses at first only;
        ``dev``, ``test``
origin  ``system`` or ``human``, whoever wrote the text before errors
errors  how many were put in, 0 to `ERRORS`
mr      triples ``act slot value``, separated by blanks, delexicalised
text    tokens, separated by blanks, delexicalised
rating  1..6
======  ==========================================================================================

Set-ups, each with all of the one before it, where the paper's text and its numbers differ
(``synthesise``): 1 the rated training outputs alone; 2 errors in them; 3 human references of
their MRs; 4 the training parts of the source sets that have parts; 5 references of the test items;
6 all parts of the source sets. Every text that is added comes five times: as it is, and with 1 to 4
errors.

What gives the sizes that the paper prints, and stands in the code that the authors published
(github.com/tuetschek/ratpred, July 2017) but not in the text: in cross-validation, outputs and
references of the first of the three training parts alone are synthesised from (``first_part``);
references are those of all parts of the source sets, joined by MR; set-ups 5 and 6 add references
by MR and the source sets' rows without asking whether they are the same. ``all_parts`` is what
the text says instead, each reference once.

Source: Dušek, Novikova & Rieser (2017), sections 3.1, 3.3 and 4.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.models.rnn_qe.delex import delexicalise, tokens
from refless.models.rnn_qe.names import APART, AUTHORS, CONFIGURATIONS, CROSS, CURVE, parse
from refless.models.rnn_qe.synthesis import BEST, distort, lowered
from refless.models.rnn_qe.variants import changes

Array = np.ndarray

COLUMNS = ["id", "part", "origin", "errors", "mr", "text", "rating"]
RATED_COLUMNS = ["id", "dataset", "system", "context", "text", "mr_key", "median_quality"]
REFERENCE_COLUMNS = ["id", "task", "context", "text_nem", "mr_key"]
SYNTHESISE = ("first_part", "all_parts")
ERRORS = 4
FOLDS = 5
IN_SET_TRAIN, IN_SET_DEV = 100, 100


@dataclass(frozen=True)
class DataSettings:
    """What decides the training data, besides texts and ratings.

    seed : of the folds and of the synthetic errors
    synthesise : one of `SYNTHESISE`
    domain, system : values of the columns ``dataset`` and ``system``, which tables 4 and 5 test on
    """

    seed: int
    synthesise: str
    domain: str
    system: str

    def in_set(self, experiment: str) -> tuple[str, str]:
        """Column and value of the outputs that table 4 (``cross_domain``) or 5 tests on."""
        if experiment == "cross_domain":
            return "dataset", self.domain
        return "system", self.system


@dataclass(frozen=True)
class Synthesis:
    """How errors are put in; the authors' code does otherwise than the paper's text.

    ratings : the rule of `refless.models.rnn_qe.synthesis.lowered`, ``paper`` or ``authors``
    dictionary : ``outputs``, words of the split's training outputs, each as often as it stands
        there; ``sources``, words of what errors are put into, as written, each once more
    """

    ratings: str = "paper"
    dictionary: str = "outputs"


@dataclass(frozen=True)
class Split:
    """Row numbers of rated outputs by part.

    source : those of ``train`` that errors and references are made from
    """

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
        """Delexicalise the loaders' tables.

        Raises
        ------
        FormatError : an MR that cannot be read.
        """
        return cls(_delexicalised(rated, "text"), _delexicalised(references, "text_nem"))

    def digest(self) -> str:
        """SHA-256 of all that instances are made of, before delexicalisation."""
        found = hashlib.sha256()
        for table, columns in (
            (self.rated, RATED_COLUMNS),
            (self.references, [*REFERENCE_COLUMNS, "part"]),
        ):
            found.update(table[columns].to_json(orient="split", index=False).encode())
        return found.hexdigest()


def _delexicalised(table: pd.DataFrame, column: str) -> pd.DataFrame:
    pairs = [delexicalise(m, t) for m, t in zip(table["context"], table[column], strict=True)]
    return table.reset_index(drop=True).assign(
        mr=[p[0] for p in pairs], words=[p[1] for p in pairs]
    )


# ---- references ----------------------------------------------------------------------------------


def references_by_mr(texts: Texts) -> pd.DataFrame:
    """The references of each rated MR: columns mr_key, dataset and ``row``, of ``references``.

    The same sentence of the same MR comes once. A data set's outputs get references of their own
    source set only.
    """
    keyed = texts.references.assign(row=np.arange(len(texts.references)))
    rated = texts.rated[["dataset", "mr_key"]].drop_duplicates()
    joined = rated.merge(
        keyed.rename(columns={"task": "dataset"})[["dataset", "mr_key", "text_nem", "row"]],
        on=["dataset", "mr_key"],
    )
    return joined.drop_duplicates(["dataset", "mr_key", "text_nem"])[["dataset", "mr_key", "row"]]


def matches(texts: Texts) -> pd.DataFrame:
    """By data set: rated outputs, those with a human reference of their MR, MRs, references."""
    joined = references_by_mr(texts)
    found = set(zip(joined["dataset"], joined["mr_key"], strict=True))
    rows = []
    for dataset, own in texts.rated.groupby("dataset", sort=False):
        with_reference = [(dataset, key) in found for key in own["mr_key"]]
        rows.append(
            {
                "dataset": dataset,
                "outputs": len(own),
                "matched": sum(with_reference),
                "mrs": own["mr_key"].nunique(),
                "references": int((joined["dataset"] == dataset).sum()),
            }
        )
    return pd.DataFrame(rows)


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


def cross_validation(rated: pd.DataFrame, seed: int, synthesise: str = "first_part") -> list[Split]:
    """Five folds: of five parts, each fold trains on three, validates on one, tests on one."""
    ends = [len(rated) * part // FOLDS for part in range(FOLDS + 1)]
    parts = cut(shuffled_groups(rated, seed), np.diff(ends).tolist())
    splits = []
    for fold in range(FOLDS):
        one, two, three, dev, test = parts[fold:] + parts[:fold]
        train = np.concatenate([one, two, three])
        splits.append(Split(train, dev, test, one if synthesise == "first_part" else train))
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


# ---- instances -----------------------------------------------------------------------------------


def instances(
    texts: Texts,
    split: Split,
    setup: int,
    seed: int,
    synthesise: str = "first_part",
    synthesis: Synthesis | None = None,
) -> pd.DataFrame:
    """All rows of one split under one set-up, `COLUMNS`.

    The errors of a text follow from ``seed`` and its id alone, given the dictionary.
    """
    synthesis = synthesis or Synthesis()
    rated = texts.rated
    rows = [
        (name, part, "system", 0, mr, words, rating)
        for part, numbers in (("train", split.train), ("dev", split.dev), ("test", split.test))
        for name, mr, words, rating in _fields(rated, numbers, rated["median_quality"])
    ]
    added = _added(texts, split, setup, synthesise)
    dictionary = " ".join(rated["words"].to_numpy()[split.train]).split(" ")
    if synthesis.dictionary == "sources":
        dictionary = _words_as_written(texts, added)
    for why, origin, part in added:
        for name, mr, words, rating in part:
            start = words.split(" ")
            for errors in range(ERRORS + 1):
                row = f"{why}:{name}:e{errors}"
                generator = np.random.default_rng([seed, zlib.crc32(row.encode())])
                text = " ".join(distort(start, errors, dictionary, generator))
                left = lowered(rating, errors, synthesis.ratings)
                rows.append((row, "pretrain", origin, errors, mr, text, left))
    return pd.DataFrame(rows, columns=COLUMNS)


def _words_as_written(
    texts: Texts, added: Sequence[tuple[str, str, Sequence[tuple[str, str, str, float]]]]
) -> list[str]:
    """Tokens of what errors are put into, with their values, each once more than it stands there:
    the authors' add-one smoothing."""
    written = {
        "system": dict(zip(texts.rated["id"], texts.rated["text"], strict=True)),
        "human": dict(zip(texts.references["id"], texts.references["text_nem"], strict=True)),
    }
    words = [w for _, who, part in added for name, *_ in part for w in tokens(written[who][name])]
    return words + sorted(set(words))


def _fields(
    table: pd.DataFrame, rows: Array, ratings: pd.Series | None = None
) -> list[tuple[str, str, str, float]]:
    """(id, mr, words, rating) of some rows; human references are taken to be the best."""
    own = table.iloc[rows]
    given = [BEST] * len(own) if ratings is None else ratings.iloc[rows].tolist()
    return list(zip(own["id"], own["mr"], own["words"], given, strict=True))


def _added(
    texts: Texts, split: Split, setup: int, synthesise: str
) -> list[tuple[str, str, list[tuple[str, str, str, float]]]]:
    """What errors are put into: (why, origin, (id, mr, words, rating) of each text)."""
    if setup == 1:
        return []
    rated, references = texts.rated, texts.references
    added = [("output", "system", _fields(rated, split.source, rated["median_quality"]))]
    by_mr = source = np.empty(0, np.int64)
    if setup >= 3:
        chosen = rated.iloc[split.source if setup < 5 else np.arange(len(rated))]
        wanted = set(zip(chosen["dataset"], chosen["mr_key"], strict=True))
        joined = references_by_mr(texts)
        keys = zip(joined["dataset"], joined["mr_key"], strict=True)
        by_mr = joined["row"].to_numpy()[[key in wanted for key in keys]]
    if setup >= 4:
        parts = references["part"].fillna("").to_numpy()
        source = np.flatnonzero(parts == "train") if setup < 6 else np.arange(len(references))
    if synthesise == "all_parts":
        source, by_mr = _once(references, source, by_mr)
    added.append(("reference", "human", _fields(references, by_mr)))
    added.append(("source", "human", _fields(references, source)))
    return added


def _once(references: pd.DataFrame, *groups: Array) -> tuple[Array, ...]:
    """The same groups of rows without any that repeats the MR and sentence of one before it."""
    keys = list(zip(references["task"], references["mr_key"], references["text_nem"], strict=True))
    seen: set[tuple[str, str, str]] = set()
    result = []
    for rows in groups:
        kept = []
        for row in rows.tolist():
            if keys[row] not in seen:
                seen.add(keys[row])
                kept.append(row)
        result.append(np.array(kept, np.int64))
    return tuple(result)


def sizes(texts: Texts, split: Split, setup: int, synthesise: str = "first_part") -> dict[str, int]:
    """How many rows of `instances` are what, without making them: rated, from_output,
    from_reference, from_source (synthetic rows by what they are made from), dev and test."""
    counts = {"rated": len(split.train)}
    counts |= {f"from_{why}": 0 for why in ("output", "reference", "source")}
    for why, _, part in _added(texts, split, setup, synthesise):
        counts[f"from_{why}"] = len(part) * (ERRORS + 1)
    return counts | {"dev": len(split.dev), "test": len(split.test)}


def own_references(texts: Texts, split: Split, setup: int, synthesise: str = "first_part") -> float:
    """Share of test outputs of which a human reference, of their MR, is trained on.

    In set-ups 5 and 6 that is meant; in 3 and 4 it comes about where an MR stands on both sides.
    """
    references = texts.references
    name = references["task"] + "\n" + references["mr_key"]
    sentence = (name + "\n" + references["text_nem"]).to_numpy()
    used = {text for _, _, part in _added(texts, split, setup, synthesise) for text, *_ in part}
    trained = set(sentence[references["id"].isin(used)])
    joined = references_by_mr(texts)["row"].to_numpy()
    known = set(name.to_numpy()[joined][[key in trained for key in sentence[joined]]])
    test = texts.rated.iloc[split.test]
    return float((test["dataset"] + "\n" + test["mr_key"]).isin(known).mean())


# ---- by name -------------------------------------------------------------------------------------


def apart(rated: pd.DataFrame) -> pd.DataFrame:
    """The rated outputs of `Texts` keyed by delexicalised MR and text.

    Folds made of them never have the same on both sides; those of the paper do, where the MR or
    the output differ in a value.
    """
    return rated.assign(mr_key=rated["mr"], text=rated["words"])


def experiments(rated: pd.DataFrame, settings: DataSettings) -> dict[str, list[Split]]:
    """The splits of tables 3 to 5: ``cross_validation``, the same ``apart``, and each configuration
    of tables 4 and 5, e.g. ``cross_domain_1``.

    Raises
    ------
    SettingError : as `cross_split`.
    """
    return {
        "cross_validation": cross_validation(rated, settings.seed),
        "apart": cross_validation(apart(rated), settings.seed),
        **{
            f"{name}_{configuration}": [cross_split(rated, name, configuration, settings)]
            for name in CROSS
            for configuration in CONFIGURATIONS
        },
    }


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


def splits_of(rated: pd.DataFrame, name: str, settings: DataSettings, subsets: int) -> list[Split]:
    """The splits behind a name (see `tables`): five folds, or one split of tables 4 and 5; of a
    learning curve five folds for each subset."""
    found = parse(name)
    seed, synthesise = settings.seed, settings.synthesise
    if found.experiment in ("cross_validation", APART):
        keyed = apart(rated) if found.experiment == APART else rated
        return cross_validation(keyed, seed, synthesise)
    if found.experiment != CURVE:
        return [cross_split(rated, found.experiment, found.number, settings)]
    folds = cross_validation(rated, seed, synthesise)
    return [s for subset in range(subsets) for s in smaller(folds, found.number, subset, seed)]


def share(rated: pd.DataFrame, name: str, settings: DataSettings) -> float:
    """Of the rated training rows that there are, those that a learning curve's data keep; else 1.

    A trainer makes its batches smaller by it, so that a pass has as many steps as with all rows.
    """
    found = parse(name)
    if found.experiment != CURVE:
        return 1.0
    folds = cross_validation(rated, settings.seed, settings.synthesise)
    whole = min(len(split.train) for split in folds)
    return found.number / whole


def tables(
    texts: Texts, name: str, settings: DataSettings, subsets: int = 1
) -> Iterator[pd.DataFrame]:
    """`instances` of each fold, in order.

    Parameters
    ----------
    name : ``setup1`` ... (cross-validation), ``cross_domain_1_setup1`` ... (tables 4 and 5); not in
        the paper ``apart_setup1`` ... (cross-validation on the folds of `apart`),
        ``curve_100_setup1`` ... (cross-validation with 100 rated training outputs) and
        ``authors_setup2`` ... (errors as the authors' code makes them)
    subsets : random ones, of a learning curve

    Raises
    ------
    SettingError : an unknown name; more rows than a training part has.
    """
    found = parse(name)
    synthesis = Synthesis(**changes(found.difference)["data"]) if found.way == AUTHORS else None
    for split in splits_of(texts.rated, name, settings, subsets):
        own = without_held(texts, split) if found.experiment == APART else texts
        yield instances(
            own, split, found.setup, settings.seed, settings.synthesise, synthesis=synthesis
        )


def without_held(texts: Texts, split: Split) -> Texts:
    """The texts without references that are, delexicalised, a row that tests or validates."""
    held = texts.rated.iloc[np.concatenate([split.dev, split.test])]
    keys = set(zip(held["mr"], held["words"], strict=True))
    references = texts.references
    pairs = zip(references["mr"], references["words"], strict=True)
    kept = references[[pair not in keys for pair in pairs]].reset_index(drop=True)
    return replace(texts, references=kept)
