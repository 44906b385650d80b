"""A correlation over texts of several systems, taken apart: between systems, and within them.

Stage: cell. In: predictions and quality, who wrote each text, what it answers. Out: the share of
the rank covariance between systems, the rho without the systems' offsets, how systems are ranked,
and how often two texts in answer to the same context are.

A rho over all texts may come from telling good systems from bad ones, from telling good texts of a
system from bad ones, or from both; alone it does not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.correlation import as_weights, spearman, weighted_spearman

Array = np.ndarray


@dataclass(frozen=True)
class Members:
    """Which text is of which system: one entry a (text, system).

    text, system : int64 (members,)
    part : 1 / number of the text's systems, float64 (members,)
    names : of the systems
    """

    text: Array
    system: Array
    part: Array
    names: tuple[str, ...]


def members(systems: Sequence[str]) -> Members:
    """Memberships of texts; a text of several systems has their names joined by ``+``."""
    split = [name.split("+") for name in systems]
    names = tuple(sorted({name for row in split for name in row}))
    place = {name: i for i, name in enumerate(names)}
    sizes = np.array([len(row) for row in split], np.int64)
    return Members(
        np.repeat(np.arange(len(split)), sizes),
        np.array([place[name] for row in split for name in row], np.int64),
        1 / np.repeat(sizes, sizes),
        names,
    )


@dataclass(frozen=True)
class Systems:
    """Over the covered texts.

    between_share : share of the rank covariance that lies between systems: above 1 or below 0 where
        between and within systems go opposite ways; NaN where the interval of rho contains 0, since
        it is a part of nothing then
    within_spearman : rho with quality once each system's mean prediction is subtracted
    system_spearman : rho of the systems' mean prediction and mean quality; NaN for fewer than 3
    system_accuracy : share of the pairs of systems in their right order
    systems : their number
    """

    between_share: Estimate
    within_spearman: Estimate
    system_spearman: float
    system_accuracy: float
    systems: int


def between_and_within(
    prediction: Array,
    truth: Array,
    systems: Sequence[str],
    *,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Systems:
    """Take Spearman's rho apart.

    The ranks' covariance is the sum of two: between systems, of the systems' mean ranks, and
    within, of the differences from these. A text of k systems belongs to each by 1/k.

    Parameters
    ----------
    prediction : shape (candidates,), NaN where undefined
    truth : shape (candidates,), the human quality
    systems : who wrote each candidate; see `members`
    units, draws, seed : of the bootstrap, as in `evaluate`. For ``within_spearman``, the systems'
        means are those of all candidates in every draw.

    Everything is NaN where there are fewer than two systems.
    """
    from refless.statistics._system_loops import between_loop

    covered = np.flatnonzero(~np.isnan(prediction))
    p, t = prediction[covered], truth[covered]
    own = members([systems[int(i)] for i in covered])
    number = len(own.names)
    nan = float("nan")
    if number < 2:
        return Systems(Estimate(nan), Estimate(nan), nan, nan, number)
    size = np.bincount(own.system, own.part)
    means = [np.bincount(own.system, own.part * v[own.text]) / size for v in (p, t)]
    # without rounding noise, so that equal texts of a system stay equal
    away = np.round(p - np.bincount(own.text, own.part * means[0][own.system]), 12)
    groups = [np.unique(v, return_inverse=True)[1].astype(np.int64) for v in (p, t)]
    columns = covered.astype(np.int64)
    shares, withins, whole = [], [], []
    once = np.ones((1, len(truth)), np.uint16)
    for block in (once, *draw_blocks(len(truth) if units is None else units, draws, seed)):
        weights = as_weights(block)
        between, rho = np.empty(len(weights)), np.empty(len(weights))
        between_loop(
            *(groups[0], groups[1], columns, own.text, own.system, own.part, number),
            *(weights, between, rho),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            shares.append(between / rho)
        whole.append(rho)
        withins.append(weighted_spearman(away, t, weights, covered))
    within = np.concatenate(withins)
    return Systems(
        part_of(np.concatenate(shares), interval(np.concatenate(whole)[1:])),
        Estimate(float(within[0]), *interval(within[1:])),
        spearman(*means)[0],
        float(pairwise_counts(means[0], means[1], np.zeros(number, np.int64))[0][0])
        / (number * (number - 1) / 2),
        number,
    )


def part_of(share: Array, whole: tuple[float, float]) -> Estimate:
    """A share of a correlation with its interval.

    Parameters
    ----------
    share : in the sample, and after it in each draw, shape (1 + draws,)
    whole : the interval of the correlation; where it contains 0, the share is NaN, for it is a
        part of nothing
    """
    low, high = whole
    if not (low > 0 or high < 0):
        return Estimate(float("nan"))
    return Estimate(float(share[0]), *interval(share[1:]))


def pairwise_counts(prediction: Array, truth: Array, group: Array) -> tuple[Array, Array]:
    """Of each group (numbered from 0), its pairs in the right order, and all of its pairs."""
    order = np.argsort(group, kind="stable")
    group, p, t = group[order], np.round(prediction[order], 9), np.round(truth[order], 9)
    size = np.bincount(group)
    right = np.zeros(len(size))
    for step in range(1, int(size.max(initial=0))):
        pair = group[step:] == group[:-step]
        alike = np.sign(p[step:] - p[:-step]) == np.sign(t[step:] - t[:-step])
        right += np.bincount(group[step:][pair & alike], minlength=len(size))
    return right, (size * (size - 1) // 2).astype(np.float64)
