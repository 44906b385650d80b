"""The simulations of favour: what is planted is what they count."""

import numpy as np
import pytest

from benchmarks import favour
from benchmarks.favour import Bounds, World
from refless.evaluation.bias import SYSTEM


def line(world: World, bounds: Bounds, number: int = 5) -> str:
    tables = [favour.replicate("test", world, seed) for seed in range(number)]
    return favour.report("test", world, bounds, tables)


def test_a_bound_that_is_missed_is_said():
    noisy = World(texts=300, r=0.8, icc=0.5)
    assert line(noisy, favour.NULL).startswith("holds")
    # nobody rated twice: what noise hides of quality is taken for favour
    assert line(World(texts=300, r=0.8, icc=0.5, raters=1), favour.NULL).startswith("missed")
    planted = World(texts=300, r=0.8, favour=2.0)
    assert line(planted, Bounds(found=0.8)).startswith("holds")
    assert line(World(texts=300, r=0.8, favour=0.01), Bounds(found=0.8)).startswith("missed")


@pytest.mark.parametrize("world", [World(favour=0.5), World(slope=0.5, outputs=1, whole=True)])
def test_simulated_scores_and_ratings_are_what_the_world_says(world: World):
    world = World(**{**vars(world), "texts": 6_000})
    texts, score, _ = favour.simulate(world, np.random.default_rng(0))
    first = texts.system == "system 00"
    assert set(np.bincount(texts.ratings["text"])) == {2}
    assert set(texts.ratings["quality"]) == {1, 2, 3, 4, 5} or not world.whole
    rows = favour.bias_table(texts, {"score": score}, favour.BySplit(np.arange(6_000) % 5))
    truth = favour.truth(world, rows)
    assert rows["favour"][0] == pytest.approx(truth[0], abs=0.2)
    assert truth[rows["kind"] == SYSTEM].sum() == pytest.approx(0)
    assert texts.quality[first].mean() < texts.quality.mean()
