"""Bands of random test parts: what they are, which published numbers lie in them, and whether an
error of ours would be noticed."""

import re
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest
from nltk.translate.bleu_score import sentence_bleu
from scipy import stats

from refless.data.sources import bagel, nem, rnnlg
from refless.experiments.rnn_qe.baselines import PAPER_METRICS, untrained_rows
from refless.experiments.rnn_qe.random_parts import bands, bands_of_table, random_test_parts
from refless.models.rnn_qe.data import PARTS
from refless.models.rnn_qe.names import CROSS
from refless.models.rnn_qe.scale import clip_to_scale
from refless.statistics.measure import Measure
from refless.store import sealed
from tests.conftest import SHIPPED, published

OUTPUTS = sealed.read(SHIPPED / "rnn_qe/outputs.csv").content
TABLES = dict(zip(CROSS, ("rnn_qe_table4", "rnn_qe_table5"), strict=True))
SEED = 1
Rows = Mapping[str, np.ndarray]


def noticed(experiment: str, table: pd.DataFrame) -> pd.Series:
    """Whether the published number lies outside the band, by row and measure."""
    printed = published(TABLES[experiment]).drop_duplicates("setup").set_index("setup")
    outside = {}
    for row in table.to_dict("records"):
        for name in ("pearson", "spearman", "mae", "rmse"):
            _, low, high = (row[column] for column in Measure(name).deals)
            value = printed.loc[row["setup"], name]
            if value:
                outside[row["setup"], name] = not low <= float(value) <= high
    return pd.Series(outside)


def test_a_division_tests_on_so_many_and_each_output_as_often():
    parts = random_test_parts(in_set=50, tested=40, seed=0, number=2000)
    assert set(parts.sum(axis=1)) == {40}
    assert parts.mean(axis=0) == pytest.approx(np.full(50, 0.8), abs=0.05)
    assert len(np.unique(parts, axis=0)) == 2000
    np.testing.assert_array_equal(parts, random_test_parts(50, 40, 0, 2000))


def test_a_band_has_what_95_of_100_divisions_give():
    generator = np.random.default_rng(0)
    half_points, truth = generator.integers(2, 12, (2, 60)) / 2
    parts = random_test_parts(60, 40, seed=3, number=200)
    (row,) = bands({"bleu": half_points}, truth, parts).to_dict("records")
    tested = [part == 1 for part in parts]
    pearson = [stats.pearsonr(half_points[part], truth[part])[0] for part in tested]
    rmse = [np.sqrt(np.mean((half_points[part] - truth[part]) ** 2)) for part in tested]
    for name, values in (("pearson", pearson), ("rmse", rmse)):
        band = [row[column] for column in Measure(name).deals]
        assert band == pytest.approx(np.quantile(values, [0.5, 0.025, 0.975]))


def test_published_numbers_lie_in_the_bands():
    """All but the errors of CIDEr in table 4."""
    outside = pd.concat([noticed(name, bands_of_table(OUTPUTS, name, SEED)) for name in CROSS])
    assert len(outside) == 36
    assert set(outside[outside].index) == {("cider", "mae"), ("cider", "rmse")}
    assert outside.sum() == 2


def test_the_largest_value_of_the_tested_file_explains_most_of_ciders_gap():
    """The authors' code can divide a metric by it; hotels have no CIDEr of 10."""
    in_set = OUTPUTS[OUTPUTS["cross_domain"].isin(PARTS)]
    truth, cider = in_set["rating"].to_numpy(), in_set["CIDEr"].to_numpy()
    assert 9.7 < cider.max() < 9.8
    errors = []
    for part in random_test_parts(len(in_set), 675, SEED) == 1:
        scaled = in_set[part].assign(CIDEr=10 * cider[part] / cider[part].max())
        errors.append(untrained_rows(scaled)["cider"] - truth[part])
    mae = np.quantile([np.abs(gap).mean() for gap in errors], [0.025, 0.975])
    rmse = np.quantile([np.sqrt((gap**2).mean()) for gap in errors], [0.025, 0.975])
    assert rmse[0] < 2.921 < rmse[1]
    assert 2.590 < mae[0] < 2.601
    table = bands_of_table(OUTPUTS, "cross_domain", SEED).set_index("setup")
    assert table.loc["cider", "mae_deals_low"] > 2.61


def rounded_up(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    return _other_steps(in_set, np.ceil), in_set["rating"].to_numpy()


def rounded_to_the_nearest(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    return _other_steps(in_set, np.round), in_set["rating"].to_numpy()


def scaled_by_lowest_and_highest(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    metrics = in_set[[*PAPER_METRICS.values()]]
    scaled = (metrics - metrics.min()) / (metrics.max() - metrics.min())
    scaled["CIDEr"] *= 10
    return untrained_rows(in_set.assign(**scaled)), in_set["rating"].to_numpy()


def higher_of_two_middle_ratings(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    return untrained_rows(in_set), np.ceil(in_set["rating"].to_numpy())


def lower_of_two_middle_ratings(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    return untrained_rows(in_set), np.floor(in_set["rating"].to_numpy())


def ratings_of_other_outputs(in_set: pd.DataFrame) -> tuple[Rows, np.ndarray]:
    return untrained_rows(in_set), np.roll(in_set["rating"].to_numpy(), 1)


def _other_steps(in_set: pd.DataFrame, rounding: Callable[[np.ndarray], np.ndarray]) -> Rows:
    rows = untrained_rows(in_set)
    for metric, column in PAPER_METRICS.items():
        values = in_set[column].to_numpy() * (1 if metric == "cider" else 10)
        rows[metric] = clip_to_scale(1 + 0.5 * rounding(values))
    return rows


@pytest.mark.parametrize(
    ("error", "least"),
    [
        (rounded_up, 0.35),
        (rounded_to_the_nearest, 0.4),
        (scaled_by_lowest_and_highest, 0.1),
        (higher_of_two_middle_ratings, 0.35),
        (lower_of_two_middle_ratings, 0.45),
        (ratings_of_other_outputs, 0.5),
    ],
)
def test_an_error_of_ours_puts_published_numbers_outside(error, least):
    """At least this share of the 36 cells notices it; without an error, 2 lie outside."""
    outside = []
    for experiment in CROSS:
        in_set = OUTPUTS[OUTPUTS[experiment].isin(PARTS)]
        tested = int((in_set[experiment] == "test").sum())
        parts = random_test_parts(len(in_set), tested, SEED)
        outside.append(noticed(experiment, bands(*error(in_set), parts)))
    cells = pd.concat(outside)
    report(error.__name__, cells)
    assert cells.mean() >= least


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [str.split, list])
def test_another_tokenisation_puts_published_numbers_of_bleu_outside(tokens, mirror):
    """Punctuation at its word, or characters, in place of words: three of BLEU's eight numbers or
    more notice it. The metric's own references are not public; so it is moved by what the
    tokenisation moves BLEU against those of the source sets."""
    texts = nem.load(f"{mirror}/nem/emnlp_data_medians.csv", "nem").texts
    of_mr = references(mirror)
    moved = [
        bleu(tokens, text, of_mr[domain, key]) - bleu(words_and_marks, text, of_mr[domain, key])
        for domain, key, text in zip(texts["domain"], texts["mr_key"], texts["text"], strict=True)
    ]
    assert texts["id"].tolist() == OUTPUTS["id"].tolist()
    other = OUTPUTS.assign(Bleu_4=np.clip(OUTPUTS["Bleu_4"] + moved, 0, 1))
    outside = [noticed(name, bands_of_table(other, name, SEED))["bleu"] for name in CROSS]
    report(f"BLEU of {tokens.__name__}", pd.concat(outside))
    assert pd.concat(outside).sum() >= 3


def references(mirror: str) -> dict[tuple[str, str], set[str]]:
    """Human references by data set and MR."""
    sets = {"bagel": bagel.load(f"{mirror}/bagel/ACL10-inform-training.txt", "bagel").texts}
    for dataset, name in (("sfrest", "restaurant"), ("sfhot", "hotel")):
        train, valid, test = (f"{mirror}/rnnlg/{name}/{k}.json" for k in ("train", "valid", "test"))
        sets[dataset] = rnnlg.load(train, valid, test, dataset).texts
    of_mr: dict[tuple[str, str], set[str]] = {}
    for dataset, rows in sets.items():
        for key, text in zip(rows["mr_key"], rows["text_nem"], strict=True):
            of_mr.setdefault((dataset, key), set()).add(text)
    return of_mr


def words_and_marks(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def bleu(tokens: Callable[[str], list[str]], text: str, of_mr: set[str]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts without a common 4-gram
        return float(sentence_bleu([tokens(one.lower()) for one in of_mr], tokens(text.lower())))


def report(error: str, outside: pd.Series) -> None:
    """Print who notices an error; shown by ``pytest -s``."""
    correlation = outside.index.isin(["pearson", "spearman"], level=-1)
    parts = {"all": outside, "correlations": outside[correlation], "errors": outside[~correlation]}
    counts = (f"{part.sum()} of {len(part)} ({name})" for name, part in parts.items())
    print(f"{error.replace('_', ' ')}: {', '.join(counts)}")
