"""What does `surface` lose where the truth is a sum, and gain where it is none? Methods are fitted
to simulated texts and asked for others: ``python -m benchmarks.surface``.

Stage: none.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.calibration import Texts, effect, noise, simulate, standard
from refless.models.additive import Additive, RatedText
from refless.models.surface import Surface, SurfaceRidge

Array = np.ndarray

SYSTEMS = 6
CONTEXTS = 50
TEXTS_OF_A_PAIR = 8
"""Texts that each system writes for each context."""
TRAINING = 240
"""Texts that a method learns from: with 300 texts, the training part of one of five folds."""
METHODS = ("additive", "surface", "surface_ridge")


def the_sum(generator: np.random.Generator, texts: Texts) -> Array:
    """Return the sum of effects of system, context and length, (texts,). Quality with the noise of
    `replication` has a correlation of about .5 with it."""
    places = effect(generator, texts.system) + effect(generator, texts.context)
    return 0.35 * places + 0.3 * standard(texts.words)


def interaction(generator: np.random.Generator, texts: Texts) -> Array:
    """Return the sum, to which each system adds a slope of length of its own, (texts,)."""
    slope = effect(generator, texts.system)
    return the_sum(generator, texts) + 0.6 * slope * standard(texts.words)


def with_words(truth: Callable[[np.random.Generator, Texts], Array]) -> Callable[..., Array]:
    """Return a function that adds what the words say to a truth."""
    return lambda generator, texts: truth(generator, texts) + 0.4 * texts.signal


TRUTHS = {
    "a sum": the_sum,
    "a sum and words": with_words(the_sum),
    "system x length": interaction,
    "system x length and words": with_words(interaction),
}


def replication(seed: int, truth: str) -> Array:
    """Return Pearson's r of each of `METHODS` on texts that it has not learned from, and the weight
    of `surface`, float64 (methods + 1,).

    truth : one of `TRUTHS`
    """
    generator = np.random.default_rng(seed)
    texts = simulate(generator, CONTEXTS, SYSTEMS * TEXTS_OF_A_PAIR)
    texts.system = texts.system % SYSTEMS
    quality = TRUTHS[truth](generator, texts) + 0.8 * noise(generator, texts)
    order = generator.permutation(len(quality))
    training = order[:TRAINING]
    rest = order[TRAINING:]
    systems = texts.system.astype(str).tolist()
    contexts = texts.context.astype(str).tolist()
    whole = list(map(RatedText, texts.texts, systems, contexts))
    pairs = [(text, text.text) for text in whole]
    # RidgeBeside hands its groups on, as `refless compare` hands on the other folds
    groups = (np.arange(TRAINING) % 4).tolist()
    additive = Additive()
    reading = SurfaceRidge(seed=seed)
    additive.fit([whole[row] for row in training], quality[training], groups)
    reading.fit([pairs[row] for row in training], quality[training], groups)
    surface: Surface = reading.baseline
    asked = [whole[row] for row in rest]
    estimates = [
        additive.predict(asked),
        surface.predict(asked),
        reading.predict([pairs[row] for row in rest]),
    ]
    r = [np.corrcoef(values, quality[rest])[0, 1] for values in estimates]
    return np.array([*r, surface.weight_])


def report(truth: str, results: Sequence[Array]) -> str:
    """Return a line with the mean r of each method, and what each adds to the one before, with its
    standard error.

    results : by `replication`
    """
    values = np.array(results)
    r = values[:, : len(METHODS)]
    weight = values[:, -1]
    means = ", ".join(f"{m} {v:.3f}" for m, v in zip(METHODS, r.mean(axis=0), strict=True))
    gains = np.diff(r, axis=1)
    error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    added = ", ".join(
        f"{method} adds {gain:+.4f} ± {deviation:.4f}"
        for method, gain, deviation in zip(METHODS[1:], gains.mean(axis=0), error, strict=True)
    )
    return f"{truth}: r {means}; {added}; weight {weight.mean():.2f}; {len(values)} times"


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--replications", type=int, default=200)


def main(arguments: argparse.Namespace) -> None:
    for truth in TRUTHS:
        simulated = partial(replication, truth=truth)
        with threadpool_limits(1):
            print(report(truth, [simulated(k) for k in range(arguments.replications)]), flush=True)


if __name__ == "__main__":
    main(options.parse_args())
