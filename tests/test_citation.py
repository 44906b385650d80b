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


@pytest.mark.parametrize(
    "change", [{"by": "context"}, {"seed": 1}, {"scale": (0, 6)}, {"plan": 0.2}]
)
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


def test_the_scale_is_in_the_signature_of_predictions_that_hang_on_it():
    given = rows(40)
    outputs = [{"text": "a new text"}]
    answers = [
        refless.score(given, outputs, method="middle", scale=scale) for scale in ((1, 5), (1, 9))
    ]
    assert [answer.table["prediction"][0] for answer in answers] == [3, 5]
    assert answers[0].signature != answers[1].signature


def test_unrated_rows_of_ratings_do_not_count_where_outputs_are_given():
    given = rows(40)
    unrated = {**given[0], "text": "nobody rated this"}
    del unrated["quality"]
    more = [*given, unrated]
    once, other = (refless.estimate(each, given, method="score_judge") for each in (given, more))
    assert once.signature == other.signature
    assert once.answer == other.answer


def test_contexts_are_in_the_signature_of_predictions_that_hang_on_them():
    """Ridge chooses its penalty by contexts where new ones will be rated."""
    given = pd.DataFrame(rows(60, references=False))
    others = given.assign(context=[f"context {row}" for row in range(60)])
    new = given[["text"]].head(3)
    for new_contexts in (True, False):
        answers = [
            refless.score(texts, new, method="ridge", new_contexts=new_contexts)
            for texts in (given, others)
        ]
        same = answers[0].signature == answers[1].signature
        assert same is not new_contexts
