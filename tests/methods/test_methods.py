"""What is tested is what is used: the estimates that `refless.compare` measures are those of the
public estimators, fitted to the training part of each fold."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import refless
from refless.data.user_ratings import read_ratings
from refless.errors import ReflessError, SettingError
from refless.evaluation.evaluate import (
    Comparison,
    ComparisonSettings,
    compare,
    compared_methods,
    reason_not_tried,
)
from refless.evaluation.read import Rated, of_user
from refless.methods import (
    FOR_NEW_TEXTS,
    METHODS,
    NETWORKS,
    Making,
    column_name,
    is_text_blind,
    method,
)
from tests.evaluation.made_up import rows

SETTINGS = ComparisonSettings(
    {"bleu.char": {}}, draws=440, repeats=1, left_out={(NETWORKS, ""): "slow"}
)


def users_table(n: int = 75, meanings: bool = False) -> pd.DataFrame:
    """Texts of several systems with contexts, references and scores, among them equal texts,
    missing scores and one text without a context."""
    table = pd.DataFrame(rows(n))
    generator = np.random.default_rng(3)
    table["score_other"] = table["quality"] + generator.normal(0, 2, n)
    table.loc[:4, "score_judge"] = np.nan
    # the same words, in other contexts and of other systems
    repeated = np.arange(5, 30)
    table.loc[repeated, "text"] = table.loc[repeated % 3, "text"].to_numpy()
    table.loc[n - 1, "context"] = ""
    if meanings:
        places = [f"place {k % 18}" for k in range(n)]
        table["mr"] = [f"inform(name='{place}',near{k % 6}=x)" for k, place in enumerate(places)]
        table["text"] = [
            f"{text} {place}" for text, place in zip(table["text"], places, strict=True)
        ]
        table = table.drop(columns="context")
    return table


@pytest.fixture(scope="module", params=[False, True], ids=["contexts", "MRs"])
def compared(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, Rated, Comparison]:
    table = users_table(meanings=request.param)
    rated = of_user(read_ratings([table], scale=[1, 5]))
    return table, rated, compare(rated, SETTINGS)


def fitted_by_fold(
    name: str, making: Making, table: pd.DataFrame, quality: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    """The plain way, with nothing but the user's columns and a new estimator for each fold; of a
    slow method, the first fold alone."""
    estimates = np.full(len(table), np.nan)
    for number in np.unique(fold)[: 1 if method(name).most_texts else None]:
        training, rest = fold != number, fold == number
        estimator = method(name).make(making).fit(table[training], quality[training])
        estimates[rest] = estimator.predict(table[rest])
    return estimates


def test_every_estimate_is_that_of_the_public_estimator(compared):
    table, rated, comparison = compared
    columns = [name for name in table if name != "quality"]
    seen = set()
    for split, part in comparison.predictions.groupby(["split", "repeat"]):
        for name, kernel in compared_methods(rated, SETTINGS):
            if reason_not_tried(name, kernel, rated, SETTINGS, split[0]):
                continue
            making = Making(kernel=kernel or "bleu.char", new_contexts=split[0] == "contexts")
            expected = fitted_by_fold(
                name, making, table[columns], rated.quality, part["fold"].to_numpy()
            )
            measured = part.get(column_name(name, kernel), pd.Series(np.nan, part.index))
            asked = (part["fold"] == 0) | (method(name).most_texts is None)
            np.testing.assert_allclose(
                (measured[asked] - 1) / 4,
                expected[asked],
                atol=1e-9,
                err_msg=f"{split}, {name} {kernel}",
            )
            seen.add(name)
    assert seen >= set(METHODS) - {NETWORKS, "human"}
    assert set(comparison.splits) == {"texts", "systems", "contexts"}


def test_score_predicts_what_compare_measured(compared):
    """For every method that compare may show for new texts, from the user's files on."""
    table, rated, comparison = compared
    part = comparison.predictions.query("split == 'texts' and repeat == 0")
    training, outputs = table[part["fold"] != 0], table[part["fold"] == 0]
    outputs = outputs.drop(columns="quality")
    for name, kernel in compared_methods(rated, SETTINGS):
        if is_text_blind(name):
            continue
        choice: dict[str, Any] = {"kernel": kernel} if kernel else {"method": name}
        answer = refless.score(training, outputs, scale=[1, 5], **choice)
        measured = part.loc[part["fold"] == 0, column_name(name, kernel)]
        np.testing.assert_allclose(answer.table["prediction"].astype(float), measured, atol=4e-9)


def test_estimate_takes_every_method_that_compare_may_show():
    table = users_table()
    outputs = table.drop(columns="quality")
    for name in (*FOR_NEW_TEXTS, "score_judge"):
        answer = refless.estimate(table.iloc[:60], outputs, method=name, scale=[1, 5])
        row = answer.table.set_index("system").loc["all"]
        assert row["mean_low"] < row["mean"] < row["mean_high"]


def test_an_unknown_method_says_what_there_is():
    for call in (refless.score, refless.estimate):
        with pytest.raises(SettingError) as caught:
            call(users_table(), users_table(), method="rige")
        assert all(name in caught.value.remedy for name in FOR_NEW_TEXTS)


WRONG = [
    lambda rated, outputs: refless.score(None, outputs, method="ridge"),
    lambda rated, outputs: refless.score(None, outputs),
    lambda rated, outputs: refless.score(rated),
    lambda rated, outputs: refless.score(rated, leave_one_out=True, method="ridge"),
    lambda rated, outputs: refless.score(rated, outputs, leave_one_out=True),
    lambda rated, outputs: refless.score(None, outputs, model="file", method="ridge"),
    lambda rated, outputs: refless.score(None, outputs, model="file", tau=0.3),
    lambda rated, outputs: refless.score(rated, outputs, model="file"),
    lambda rated, outputs: refless.score(rated, outputs, method="ridge", kernel="bleu.char"),
    lambda rated, outputs: refless.score(rated, outputs, method="rnn_qe"),
    lambda rated, outputs: refless.score(rated, outputs, repeatd="mean"),
    lambda rated, outputs: refless.estimate(rated, outputs, method="ridge", kernel="bleu.char"),
    lambda rated, outputs: refless.compare(rated, seed=-1),
    lambda rated, outputs: refless.compare(rated, repeats=0),
    lambda rated, outputs: refless.compare(rated, draws=1.5),
    lambda rated, outputs: refless.compare(rated, colums={"text": "response"}),
]


@pytest.mark.parametrize("call", WRONG)
def test_arguments_that_do_not_go_together_are_refused(call):
    with pytest.raises(SettingError):
        call(users_table(), users_table().drop(columns="quality"))


def test_outputs_without_a_column_that_predictions_are_made_from_are_refused():
    table = users_table()
    for name, column in (
        ("ridge_system", "system"),
        ("surface_ridge", "context"),
        ("bleu", "references"),
        ("score_judge", "score_judge"),
        ("combined", "score_other"),
    ):
        with pytest.raises(ReflessError, match=column):
            refless.score(table, table.drop(columns=["quality", column]), method=name)


def test_who_makes_an_estimator_decides_no_number_by_what_it_counts_once():
    table = users_table().drop(columns="quality")
    quality = np.linspace(0, 1, len(table))
    making = Making(all_texts=[*table["text"], "and another"])
    for name in ("ridge", "ridge_system", "surface_ridge"):
        first, second = (
            method(name).make(how).fit(table[:60], quality[:60]).predict(table[60:])
            for how in (making, replace(making, all_texts=()))
        )
        np.testing.assert_allclose(first, second, atol=1e-9)
