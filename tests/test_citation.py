"""A signature names all that decides an answer, and nothing else."""

import numpy as np
import pandas as pd
import pytest

import refless
from refless.citation import signature, tables_sum
from tests.evaluation.made_up import rows

TABLE = {"text": ["a", "b"], "quality": [0.1, np.nan], "references": [["x", "y"], []]}


def test_a_sum_of_tables_is_of_their_values_in_their_order():
    table = pd.DataFrame(TABLE)
    same = [table[[*reversed(TABLE)]], table.set_axis([7, 8]), table.assign(mr=None)]
    assert {tables_sum(each) for each in same} == {tables_sum(table)}
    others = [
        table[::-1],
        table.assign(quality=[0.1, 0.5]),
        table.assign(quality=[0.1 + 1e-14, np.nan]),
        table.assign(references=[["x y"], []]),
        table.rename(columns={"text": "mr"}),
    ]
    assert len({tables_sum(table), *map(tables_sum, others)}) == len(others) + 1


def test_what_is_not_given_is_not_in_a_signature():
    assert signature(a=None, b=(), c="", d=0) == signature(d=0) != signature(d=1)


@pytest.mark.parametrize("change", [{"by": "context"}, {"seed": 1}, {"scale": (0, 6)}])
def test_what_decides_an_estimate_is_in_its_signature(change):
    given = rows(40)
    asked = {"by": "system", "seed": 0, "scale": (1, 5), "method": "score_judge"}
    once = refless.estimate(given[:30], given, **asked)
    again = refless.estimate(given[:30], given, **asked)
    other = refless.estimate(given[:30], given, **asked | change)
    assert once.signature == again.signature != other.signature
    assert f"version:refless.{refless.__version__}" in once.signature.split("|")
    given[35]["score_judge"] += 1  # an output
    assert refless.estimate(given[:30], given, **asked).signature != once.signature
