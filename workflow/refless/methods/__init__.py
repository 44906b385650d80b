"""The methods: by which name each is called, what it reads, what it needs, and what it makes.

A `Method` makes an estimator with ``fit(table, quality)`` and ``predict(table)``. Whoever compares
methods, predicts unrated texts, or estimates means, takes them from here: what is tested is what is
used. (`refless.score` makes the same neighbors itself, since it also explains them and reads their
files.) A new method is an entry of `METHODS`.

>>> import pandas as pd
>>> rated = pd.DataFrame({"text": ["good food", "bad food", "good place", "bad place"]})
>>> ridge = method("ridge").make().fit(rated, [5.0, 1.0, 5.0, 1.0])
>>> good, bad = ridge.predict(pd.DataFrame({"text": ["good", "bad"]}))
>>> bool(good > bad)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refless.errors import SettingError

if TYPE_CHECKING:
    from refless.methods.estimators import TableEstimator

TEXT_BLIND = "text-blind"
"""A kind of method: it does not look at what a text says, but perhaps at its system, context and
length, or whether the same text was rated."""
READS_TEXT = "reads text"
"""A kind of method: it predicts from what a text says."""
GIVEN_SCORE = "score"
"""A kind of method: the user gave its values."""
NETWORK = "network"
"""A kind of method: RNN-QE."""
NEIGHBORS = "neighbors"
RIDGE = "ridge"
COMBINED = "combined"
NETWORKS = "rnn_qe"
SURFACE = "surface"
SURFACE_RIDGE = "surface_ridge"
DEFAULT_KERNEL = "bleu.char"
"""The kernel of neighbors where nobody names another."""
SCORE_PREFIX = "score_"
"""What the names of given scores begin with."""
SURFACE_PREFIX = "surface_"
"""What stands before these where scores are beside the surface: ``surface_score_judge``."""


@dataclass(frozen=True)
class Making:
    """What decides an estimator besides the texts that it is fitted to.

    kernel, options : of neighbors
    scale : the lowest and the highest possible quality
    all_texts : the texts that it will be fitted to and asked about, if they are known, so that
        their n-grams are counted once; it decides no number
    new_contexts : whether texts of contexts without a rated text will be asked about; then what an
        estimator chooses, it chooses by texts of left-out contexts, otherwise of left-out texts
    threads : None for as many as the process may use; it decides no number
    """

    kernel: str = DEFAULT_KERNEL
    options: Mapping[str, Any] = field(default_factory=dict)
    scale: tuple[float, float] = (0.0, 1.0)
    all_texts: Sequence[str] = ()
    new_contexts: bool = False
    threads: int | None = None


@dataclass(frozen=True)
class Method:
    """A method.

    name : by which commands and tables know it
    label : what a reader is told
    kind : `TEXT_BLIND`, `READS_TEXT`, `GIVEN_SCORE` or `NETWORK`
    making : makes its estimator
    needs : columns without which there is no estimate; ``context`` also stands for ``mr``
    reads : columns, if the ratings have them, that estimates are made from besides ``text``
    system_offset : whether it learns a level of each system, so that it cannot tell a new one's
    most_texts : in all repeats of a split together, beyond which a comparison repeats it less, for
        it is slow; None: no limit of its own
    learns : whether other training texts would have ranked texts otherwise, so that intervals are
        wider; not so of what learns nothing but a line, of a given score, and of networks, whose
        estimates are held fixed
    """

    name: str
    label: str
    kind: str
    making: Callable[[Making], TableEstimator]
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    system_offset: bool = False
    most_texts: int | None = None
    learns: bool = True

    def make(self, making: Making | None = None) -> TableEstimator:
        """A new estimator."""
        return self.making(making or Making())


def _estimator(model: Any, features: str) -> TableEstimator:
    from refless.methods import estimators

    return estimators.Estimator(model, getattr(estimators, features))


def _constant(value: float | None) -> TableEstimator:
    from refless.models.baselines import Constant

    return _estimator(Constant(value), "texts_of")


def _line(features: str) -> TableEstimator:
    from refless.models.baselines import Line

    return _estimator(Line(), features)


def _values(*names: str) -> Any:
    from refless.methods.estimators import values_of

    return values_of(*names)


def _lookup(name: str) -> TableEstimator:
    from refless.methods.estimators import Estimator
    from refless.models.baselines import Lookup

    return Estimator(Lookup(), _values(name))


def _lookup_context() -> TableEstimator:
    from refless.models.baselines import Lookup

    return _estimator(Lookup(), "contexts_of")


def _additive(making: Making) -> TableEstimator:
    from refless.methods.estimators import Estimator, origins_of
    from refless.models.additive import Additive

    return Estimator(Additive(), origins_of, making.new_contexts)


def _ridge(making: Making) -> TableEstimator:
    from refless.methods.estimators import Estimator, texts_of
    from refless.models.baselines import RidgeTfidf

    return Estimator(RidgeTfidf(_ngrams(making)), texts_of, making.new_contexts)


def _ridge_system(making: Making) -> TableEstimator:
    from refless.methods.estimators import Estimator
    from refless.models.baselines import Lookup, RidgeBeside

    model = RidgeBeside(Lookup(), _ngrams(making))
    return Estimator(model, _values("system", "text"), making.new_contexts)


def _surface(making: Making) -> TableEstimator:
    from refless.methods.estimators import Estimator, origins_of
    from refless.models.surface import Surface

    return Estimator(Surface(), origins_of, making.new_contexts)


def _surface_ridge(making: Making) -> TableEstimator:
    from refless.methods.estimators import Estimator, origins_of, paired, texts_of
    from refless.models.surface import SurfaceRidge

    model = SurfaceRidge(_ngrams(making))
    return Estimator(model, paired(origins_of, texts_of), making.new_contexts)


def _neighbors(making: Making) -> TableEstimator:
    from refless.methods.estimators import Neighbors

    return Neighbors(making.kernel, making.options, making.threads, making.new_contexts)


def _weighted_references(making: Making, rated_texts: bool) -> TableEstimator:
    from refless.methods.estimators import WeightedReferences

    return WeightedReferences(rated_texts, making.scale, making.new_contexts)


def _combined(_: Making) -> TableEstimator:
    from refless.methods.estimators import CombinedScores
    from refless.models.baselines import RidgeScores

    return CombinedScores(RidgeScores())


def _score(name: str) -> TableEstimator:
    from refless.methods.estimators import Estimator
    from refless.models.baselines import Line

    return Estimator(Line(), _values(name))


def _surface_score(making: Making, name: str) -> TableEstimator:
    from refless.methods.estimators import Estimator, origins_of, paired
    from refless.models.surface import SurfaceScore

    return Estimator(SurfaceScore(), paired(origins_of, _values(name)), making.new_contexts)


def _ngrams(making: Making) -> Any:
    """The n-grams of all texts, if these are known, counted once for methods in a row."""
    from refless.models.baselines import counted_ngrams

    return counted_ngrams(tuple(making.all_texts)) if making.all_texts else None


def _networks(_: Making) -> TableEstimator:
    raise SettingError(
        "networks are not trained by refless score or refless estimate",
        remedy="train them with refless train-qe, and rate with refless qe",
    )


_MIDDLE = 0.5
"""Half of the sum of the scale's two ends is its middle."""
_ORIGIN = ("system", "context", "mr")
_MOST_BOOSTED = 1000
METHODS = {
    entry.name: entry
    for entry in (
        Method(
            name="constant",
            label="mean of all ratings",
            kind=TEXT_BLIND,
            making=lambda _: _constant(None),
            learns=False,
        ),
        Method(
            name="middle",
            label="middle of the scale",
            kind=TEXT_BLIND,
            making=lambda making: _constant(sum(making.scale) * _MIDDLE),
            learns=False,
        ),
        Method(
            name="length",
            label="number of characters",
            kind=TEXT_BLIND,
            making=lambda _: _line("characters_of"),
            learns=False,
        ),
        Method(
            name="words",
            label="number of words",
            kind=TEXT_BLIND,
            making=lambda _: _line("words_of"),
            learns=False,
        ),
        Method(
            name="lookup",
            label="same text seen in training",
            kind=TEXT_BLIND,
            making=lambda _: _lookup("lookup_key"),
            reads=("mr",),
        ),
        Method(
            name="human",
            label="written by a person",
            kind=TEXT_BLIND,
            making=lambda _: _lookup("human"),
            needs=("human",),
            reads=("human",),
        ),
        Method(
            name="system_mean",
            label="mean of the system",
            kind=TEXT_BLIND,
            making=lambda _: _lookup("system"),
            needs=("system",),
            reads=("system",),
            system_offset=True,
        ),
        Method(
            name="context_mean",
            label="mean of the context",
            kind=TEXT_BLIND,
            making=lambda _: _lookup_context(),
            needs=("context",),
            reads=("context", "mr"),
        ),
        Method(
            name="additive",
            label="system, context and length",
            kind=TEXT_BLIND,
            making=_additive,
            reads=_ORIGIN,
        ),
        Method(
            name=SURFACE,
            label="surface, system and context",
            kind=TEXT_BLIND,
            making=_surface,
            reads=_ORIGIN,
            most_texts=_MOST_BOOSTED,
        ),
        Method(RIDGE, RIDGE, READS_TEXT, _ridge),
        Method(
            name="ridge_system",
            label="ridge beside the mean of the system",
            kind=READS_TEXT,
            making=_ridge_system,
            needs=("system",),
            reads=("system",),
            system_offset=True,
        ),
        Method(
            name="surface_ridge",
            label="ridge beside the surface, system and context",
            kind=READS_TEXT,
            making=_surface_ridge,
            reads=_ORIGIN,
            most_texts=_MOST_BOOSTED,
        ),
        Method(NEIGHBORS, NEIGHBORS, READS_TEXT, _neighbors),
        Method(
            name="bleu",
            label="BLEU against references",
            kind=READS_TEXT,
            making=lambda making: _weighted_references(making, rated_texts=False),
            needs=("references",),
            reads=("references",),
            learns=False,
        ),
        Method(
            name="delta_bleu",
            label="ΔBLEU against references and rated texts",
            kind=READS_TEXT,
            making=lambda making: _weighted_references(making, rated_texts=True),
            reads=("references", "context", "mr"),
        ),
        Method(
            name=NETWORKS,
            label="RNN-QE",
            kind=NETWORK,
            making=_networks,
            needs=("context",),
            learns=False,
        ),
        Method(COMBINED, "ridge over all scores", GIVEN_SCORE, _combined),
    )
}
"""Every method by its name, in the order of tables; columns of scores follow."""
FOR_NEW_TEXTS = tuple(
    name for name, entry in METHODS.items() if entry.kind not in (TEXT_BLIND, NETWORK)
)
"""Methods by which new texts are scored, besides columns ``score_<name>``."""


def method(name: str) -> Method:
    """The method of a name; of ``score_<name>``, a line from that column to quality; of
    ``surface_score_<name>``, least squares on `SURFACE` and that column. Raises SettingError: there
    is no such method."""
    if name in METHODS:
        return METHODS[name]
    if name.startswith(SURFACE_PREFIX + SCORE_PREFIX):
        score = name.removeprefix(SURFACE_PREFIX)
        return Method(
            name=name,
            label=f"{score} beside the surface",
            kind=GIVEN_SCORE,
            making=lambda making: _surface_score(making, score),
            needs=(score,),
            reads=(score, *_ORIGIN),
            most_texts=_MOST_BOOSTED,
        )
    if name.startswith(SCORE_PREFIX):
        return Method(
            name=name,
            label=name,
            kind=GIVEN_SCORE,
            making=lambda _: _score(name),
            needs=(name,),
            reads=(name,),
            learns=False,
        )
    raise SettingError(
        f"there is no method {name!r}",
        remedy=f"take {', '.join(FOR_NEW_TEXTS)}, or a column score_<name>",
    )


def label(name: str, kernel: str = "") -> str:
    """What a reader is told of a method: ``neighbors (bleu.char)``."""
    words = method(name).label
    return f"{words} ({kernel})" if kernel else words


def column_name(name: str, kernel: str = "") -> str:
    """What a method is called in files: ``neighbors:bleu.char``."""
    return ":".join(filter(None, (name, kernel)))


def adds_to_surface(name: str) -> bool:
    """Whether a method is `SURFACE` and something that reads the text, so that its lead over
    text-blind methods is what reading adds."""
    return name == SURFACE_RIDGE or name.startswith(SURFACE_PREFIX + SCORE_PREFIX)


def is_candidate(name: str) -> bool:
    """Whether a method may be the best one; text-blind methods are what it is compared with, and
    scores beside the surface answer another question."""
    return not is_text_blind(name) and not name.startswith(SURFACE_PREFIX + SCORE_PREFIX)


def is_text_blind(name: str) -> bool:
    """Whether a method does not look at what a text says."""
    return method(name).kind == TEXT_BLIND
