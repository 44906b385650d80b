"""RNN-QE: what stands beside it, its signed files, its tables and its figure."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.ratings import RatedTexts
from refless.data.task import write_task
from refless.errors import FormatError
from refless.experiments.rnn_qe.baselines import (
    _MIN_NEIGHBORS,
    _TAUS,
    ADDED_MODELS,
    PAPER_METRICS,
    estimated,
    neighbors_curve,
    to_scale,
    write_outputs,
)
from refless.experiments.rnn_qe.runs import PREDICTION_COLUMNS, write_predictions
from refless.experiments.rnn_qe.tables import (
    ASIDE,
    outputs_by_system,
    read_predictions,
    results,
    seed_averages,
    trained_curve,
    training_instances,
    williams_p,
)
from refless.kernels import kernel
from refless.models.rnn_qe import names
from refless.models.rnn_qe.data import cross_validation
from refless.models.rnn_qe.names import CROSS
from refless.models.rnn_qe.statistics import SCALE
from refless.report.catalogue import catalogue
from refless.report.figures_rnn_qe import correlations_over_size
from refless.report.tables import with_reasons
from refless.statistics import draw_weights, williams
from refless.statistics.bootstrap import spread_scale
from refless.statistics.measure import Measure
from refless.store import sealed
from refless.store.sealed import Sealed
from tests.conftest import SHIPPED, published
from tests.models.rnn_qe.test_data import SETTINGS, small_texts

RATED = small_texts().rated
RATING = RATED["median_quality"].to_numpy()
MATRIX = kernel("bleu.char", RATED["words"].tolist(), RATED["words"].tolist())
FOLDS = cross_validation(RATED, SETTINGS.seed)


@pytest.mark.parametrize("model", ADDED_MODELS)
def test_a_model_never_uses_the_ratings_of_what_it_predicts(model):
    rating = RATING.copy()
    rating[FOLDS[2].test] = 1.0
    changed = estimated(model, RATED.assign(median_quality=rating), MATRIX, FOLDS[2])
    np.testing.assert_array_equal(estimated(model, RATED, MATRIX, FOLDS[2]), changed)


def test_a_look_up_is_the_mean_training_rating_of_the_same_output():
    split, words = FOLDS[0], RATED["words"].to_numpy(copy=True)
    words[split.test[0]] = "not said before"
    found = estimated("lookup", RATED.assign(words=words), MATRIX, split)
    assert np.isnan(found[0])
    for row, value in zip(split.test[1:], found[1:], strict=True):
        same = [k for k in split.train if words[k] == words[row]]
        assert value == pytest.approx(RATING[same].mean())


def test_bleu_neighbors_takes_the_tau_that_is_best_on_the_validation_part():
    split = FOLDS[3]

    def predict(rows: np.ndarray, tau: float) -> np.ndarray:
        found = []
        for row in rows:
            near = [k for k in split.train if MATRIX[row, k] >= tau]
            found.append(RATING[near].mean() if len(near) >= _MIN_NEIGHBORS else np.nan)
        return np.array(found)

    def worth(tau: float) -> float:
        given, truth = to_scale(predict(split.dev, tau)), RATING[split.dev]
        if len(set(given)) < 2:
            return -np.inf
        return float(stats.pearsonr(given, truth)[0] + stats.spearmanr(given, truth)[0])

    expected = predict(split.test, max(_TAUS, key=worth))
    np.testing.assert_allclose(estimated("bleu_neighbors", RATED, MATRIX, split), expected)


def test_the_learning_curve_ends_at_the_whole():
    curve = neighbors_curve(RATED, MATRIX, FOLDS, [50, 5000], SETTINGS.seed)
    assert curve["subset"].tolist() == [0, 1, 2, 3, 4, 0]
    assert curve["size"].iloc[0] == 50
    raw = np.full(500, np.nan)
    for split in FOLDS:
        raw[split.test] = estimated("bleu_neighbors", RATED, MATRIX, split)
    expected = stats.pearsonr(to_scale(raw), RATING)[0]
    assert curve["pearson"].iloc[-1] == pytest.approx(expected)


DATA = SETTINGS._asdict()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Tidy tables: the rated outputs, then the references of three data sets."""
    root = tmp_path_factory.mktemp("ratings")
    texts = small_texts()
    numbers = np.random.default_rng(0).random((500, len(PAPER_METRICS)))
    metrics = pd.DataFrame(numbers, columns=[*PAPER_METRICS.values()])
    metrics["CIDEr"] *= 10
    tables = {"nem": texts.rated.join(metrics)}
    tables |= {str(name): table for name, table in texts.references.groupby("dataset", sort=False)}
    tables["bagel"] = tables["bagel"].drop(columns="part")
    for name, table in tables.items():
        tidy = table.drop(columns=["mr", "words"]).reset_index(drop=True)
        write_task(RatedTexts(tidy), root / name, {})
    return [root / name for name in tables]


@pytest.fixture(scope="module")
def written(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rnn_qe")
    write_outputs(out / "outputs.csv", out / "curve.csv", folders[0], folders[1:], DATA, 1)
    return out


@pytest.fixture
def outputs(written: Path) -> pd.DataFrame:
    return sealed.read(written / "outputs.csv").content


def test_each_output_has_its_part_and_predictions_of_test_parts_alone(outputs):
    for name in CROSS:
        assert set(outputs[name].fillna("")) == {"", "train", "dev", "test"}
        for model in ADDED_MODELS:
            assert outputs.loc[outputs[name] != "test", f"{name}_2:{model}"].isna().all()
    assert outputs["cross_validation:ridge"].notna().all()
    # MRs that differ in values alone are one
    assert 1 < outputs["mr_number"].nunique() == RATED["mr"].nunique() < RATED["mr_key"].nunique()


def test_metrics_that_are_not_there_are_named(folders, tmp_path):
    texts = sealed.read(folders[0] / "texts.csv").content.drop(columns="CIDEr")
    write_task(RatedTexts(texts), tmp_path / "nem", {})
    with pytest.raises(FormatError, match="CIDEr"):
        write_outputs(tmp_path / "o.csv", tmp_path / "c.csv", tmp_path / "nem", folders[1:], DATA)


def test_a_training_writes_predictions_and_how_they_were_made(folders, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="make torch")
    monkeypatch.setitem(names.SCHEDULES, "short", names.Schedule(0, 1, 1e-3, 200))
    paths = [tmp_path / f"{seed}.csv.gz" for seed in (0, 1)]
    for seed, path in enumerate(paths):
        write_predictions(path, "cross_domain_1_setup2", seed, folders[0], folders[1:], DATA)
    file = sealed.read(paths[1])
    assert set(file.content["part"]) == {"dev", "test"}
    assert set(file.content["seed"]) == {1}
    metadata = file.metadata
    assert (metadata["schedule"]["name"], metadata["schedule"]["train"]) == ("short", 1)
    assert metadata["network"] == {"width": 300, "dropout": 0.5, "precision": "float32"}
    assert [best["pass"] for best in metadata["best"]] == [1]
    # the seeds that were trained are those that count
    found = read_predictions({"cross_domain_1_setup2": paths})
    assert found["cross_domain_1_setup2"]["seed"].unique().tolist() == [0, 1]


@pytest.mark.slow
def test_a_run_says_what_it_trains_and_a_later_one_trains_the_rest(fresh):
    pytest.importorskip("torch", reason="make torch")
    files = [f"results/rnn_qe/predictions/cross_domain_1_setup1/{seed}.csv.gz" for seed in (0, 1)]
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(files[0])
    made = (fresh.path / files[0]).stat().st_mtime_ns
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(*files)
    assert (fresh.path / files[1]).is_file()
    assert (fresh.path / files[0]).stat().st_mtime_ns == made


BOOTSTRAP = {"draws": 50, "seed": 1}
TABLES = {
    name: f"rnn_qe_table{number}" for number, name in enumerate(["cross_validation", *CROSS], 3)
}


def near(truth: np.ndarray, generator: np.random.Generator, by: list[int]) -> np.ndarray:
    return np.clip(truth + generator.choice(by, len(truth)), 1, 6)


def test_a_row_is_the_mean_of_its_seeds():
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 300)
    seeds = np.array([near(truth, generator, [-2, -1, 0, 1]) for _ in range(3)])
    weights = np.concatenate([np.ones((1, 300), np.uint16), draw_weights(300, 200, 0)])
    found = seed_averages(seeds, truth, weights)
    slow: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
        "pearson": lambda x, y: stats.pearsonr(x, y)[0],
        "spearman": lambda x, y: stats.spearmanr(x, y)[0],
        "mae": lambda x, y: np.abs(x - y).mean(),
        "rmse": lambda x, y: ((x - y) ** 2).mean() ** 0.5,
    }
    for name, of in slow.items():
        draws = [[of(np.repeat(s, w), np.repeat(truth, w)) for s in seeds] for w in weights]
        ends = np.quantile(np.mean(draws[1:], axis=1), [0.025, 0.975])
        expected = [np.mean(draws[0]), *ends]  # the interval is that of the mean over seeds
        assert [found[column] for column in Measure(name).interval] == pytest.approx(expected)
        if name == "pearson":
            assert found["pearson_sd"] == pytest.approx(np.std(draws[0], ddof=1))


def test_williams_is_two_sided_unless_the_claim_is_that_one_is_better():
    generator = np.random.default_rng(0)
    truth = generator.choice(SCALE, 400)
    good, poor = (
        np.array([near(truth, generator, by) for _ in range(2)])
        for by in ([-3, -2, 0, 2, 3], [-5, -3, 3, 5])
    )
    with_truth = [np.mean([stats.pearsonr(s, truth)[0] for s in one]) for one in (good, poor)]
    between = np.mean([stats.pearsonr(a, b)[0] for a in good for b in poor])
    _, p = williams(*map(float, with_truth), float(between), 400)
    assert williams_p(good, poor, truth) == pytest.approx(p)
    assert williams_p(good, poor, truth, greater=True) == pytest.approx(p / 2)
    assert williams_p(poor, good, truth, greater=True) == pytest.approx(1 - p / 2)


def predictions(ids: list[str], seeds: int = 5, provenance: str = "computed") -> Sealed:
    generator = np.random.default_rng(len(ids))
    rows = pd.DataFrame({"id": ids * seeds, "seed": np.repeat(np.arange(seeds), len(ids))})
    rows["prediction"] = generator.choice(SCALE, len(rows))
    fixed = {"experiment": "cross_validation", "setup": 1, "fold": 0, "part": "test"}
    table = rows.assign(**fixed, raw=rows["prediction"])[PREDICTION_COLUMNS]
    return Sealed(table, {"provenance": provenance})


Tabulate = Callable[..., pd.DataFrame]


@pytest.fixture
def tabulate(tmp_path: Path) -> Tabulate:
    """`results` of files with these contents."""

    def table(
        experiment: str, outputs: pd.DataFrame, predictions: dict[str, Sealed], **untrained: str
    ) -> pd.DataFrame:
        sealed.write(tmp_path / "outputs.csv", outputs)
        paths = {name: [tmp_path / f"{name}.csv"] for name in predictions}
        for name, file in predictions.items():
            sealed.write(*paths[name], file.content, file.metadata)
        reasons = [{"of": {"name": name}, "code": code} for name, code in untrained.items()]
        printed = published(TABLES[experiment])
        return results([tmp_path / "outputs.csv"], printed, experiment, paths, reasons, BOOTSTRAP)

    return table


def test_table_3_has_the_papers_rows_and_says_what_is_missing(outputs, tabulate):
    outputs.loc[::3, "cross_validation:lookup"] = np.nan
    ids = outputs["id"].tolist()
    found = {f"{way}setup{k}": predictions(ids) for way in ("", "paper_") for k in (1, 4)}
    found["paper_setup1"] = predictions(ids, seeds=1, provenance="shipped")
    table = tabulate("cross_validation", outputs, found, setup2="not_trained")
    rows = table.set_index(["setup", "schedule"])
    assert rows.index.is_unique
    new = "1_without_lookup"
    setups = ["1", new, "1", new, "2", "3", "4", "4", "5", "6"]
    assert table["setup"].tolist()[5:] == [*setups, "lookup", "ridge", "bleu_neighbors"]
    assert rows.loc[("2", "short"), ["reason", "provenance"]].tolist() == ["not_trained", ""]
    cells = rows.loc[("1", "paper"), ["provenance", "paper_pearson"]]
    assert cells.tolist() == ["shipped", "0.273"]
    assert rows.loc[("lookup", ""), "paper_pearson"] == ""
    tested = rows["p_setup1"].dropna().index.tolist()
    expected = [("4", "paper"), ("lookup", ""), ("ridge", ""), ("bleu_neighbors", "")]
    assert tested == expected  # the short set-up 4 predicts what set-up 1 does
    assert rows["p_metrics"].notna().sum() == 7
    unseen = outputs["cross_validation:lookup"].isna()
    assert rows.loc[(new, "short"), "n"] == unseen.sum() > 0
    values = found["setup1"].content.groupby("seed")["prediction"]
    r = [stats.pearsonr(v[unseen.to_numpy()], outputs["rating"][unseen])[0] for _, v in values]
    assert rows.loc[(new, "short"), "pearson"] == pytest.approx(np.mean(r))
    with_references = table.loc[table["uses_references"] == 1, "setup"].tolist()
    assert with_references == ["bleu", "meteor", "rouge_l", "cider", "5", "6"]


def test_outputs_of_one_mr_are_drawn_together(outputs, tabulate):
    few = tabulate("cross_validation", outputs, {}).set_index("setup")
    apart = outputs.assign(mr_number=range(500))
    each = tabulate("cross_validation", apart, {}).set_index("setup")
    assert few.loc["ridge", "pearson"] == each.loc["ridge", "pearson"]
    mr = pd.factorize(outputs["mr_number"])[0]
    values = outputs["cross_validation:ridge"].pipe(to_scale)
    drawn = [
        stats.pearsonr(np.repeat(values, w[mr]), np.repeat(outputs["rating"], w[mr]))[0]
        for w in draw_weights(mr.max() + 1, **BOOTSTRAP)
    ]
    # and as far again as other training parts, of three fifths, would have moved it
    value, scale = few.loc["ridge", "pearson"], spread_scale(mr.max() + 1, 3 / 5, **BOOTSTRAP)
    far = np.arctanh(value) + scale * (np.arctanh(drawn) - np.arctanh(drawn).mean())
    low = np.quantile(np.tanh(far), 0.025)
    assert few.loc["ridge", "pearson_low"] == pytest.approx(low)
    assert few.loc["ridge", "pearson_low"] != each.loc["ridge", "pearson_low"]


def test_a_seed_that_misses_an_output_does_not_count(outputs, tabulate):
    file = predictions(outputs["id"].tolist())
    part = Sealed(file.content.iloc[:-1], file.metadata)
    other = Sealed(file.content[file.content["id"] != outputs["id"][0]], file.metadata)
    table = tabulate("cross_validation", outputs, {"setup1": part, "setup2": other})
    rows = table.set_index("setup").loc[["1", "2"]]
    assert rows["seeds"].tolist() == [4, 0]
    assert rows["provenance"].tolist() == ["computed", ""]
    assert rows["pearson"].isna().tolist() == [False, True]


def test_the_short_schedule_keeps_the_papers_numbers_until_the_papers_own_is_whole(
    outputs, tabulate
):
    ids = outputs["id"].tolist()
    part = predictions(ids, seeds=1)
    part = Sealed(part.content.iloc[1:], part.metadata)
    for own, schedule in ((part, "short"), (predictions(ids), "paper")):
        table = tabulate("cross_validation", outputs, {"setup2": part, "paper_setup2": own})
        rows = table[table["setup"] == "2"]
        assert rows.loc[rows["paper_pearson"] != "", "schedule"].tolist() == [schedule]


def test_what_stands_in_the_record_alone_is_not_in_the_csv():
    for name in TABLES.values():
        assert set(catalogue()[name].aside) == set(ASIDE)


@pytest.mark.parametrize("experiment", CROSS)
def test_tables_4_and_5_compare_with_configuration_1(experiment, outputs, tabulate):
    ids = outputs.loc[outputs[experiment] == "test", "id"].tolist()
    same = predictions(ids)
    reversed_ = same.content["prediction"].to_numpy()[::-1]
    other = Sealed(same.content.assign(prediction=reversed_), same.metadata)
    found = {f"{experiment}_{n}_setup1": same for n in (1, 2)} | {f"{experiment}_3_setup1": other}
    table = tabulate(experiment, outputs, found)
    assert len(table) == 3 * 14
    rows = table.set_index(["setup", "configuration"])
    assert rows.index.is_unique
    truth = outputs.set_index("id").loc[ids, "rating"].to_numpy()
    seeds = [one.content["prediction"].to_numpy().reshape(5, -1) for one in (other, same)]
    assert rows.loc[("1", "3"), "p_configuration1"] == pytest.approx(williams_p(*seeds, truth))
    assert np.isnan(rows.loc[("1", "2"), "p_configuration1"])  # the same predictions: no test
    assert rows.loc[(slice(None), "1"), "p_configuration1"].isna().all()
    assert set(table["n"]) == {len(ids)}


@pytest.mark.parametrize("experiment", TABLES)
def test_without_numbers_each_published_row_says_why(experiment):
    table = results([], published(TABLES[experiment]), experiment, {}, [], BOOTSTRAP)
    joined = with_reasons(table, [{"of": {}, "code": "raw_file_missing"}])
    assert len(joined) == len(published(TABLES[experiment]))
    assert set(joined["reason"]) == {"raw_file_missing"}
    assert (joined["paper_mae"] != "").all()
    for empty in (
        outputs_by_system([], published("rnn_qe_table1")),
        training_instances([], published("rnn_qe_table2")),
    ):
        assert set(empty["provenance"]) == {""}
        assert empty.iloc[:, 1].isna().all()


def test_a_curve_counts_the_folds_of_a_subset_together():
    outputs = pd.DataFrame({"id": list("abcdef"), "rating": [1.0, 2, 3, 4, 5, 6]})
    tested = zip([0, 1, 2, 3, 4, 4], outputs["id"], outputs["rating"], strict=True)
    rows = [(fold, "test", name, value) for fold, name, value in tested]
    rows += [(fold + 5, part, name, 7 - value) for fold, part, name, value in rows]
    rows += [(0, "dev", "b", 6.0)]
    table = pd.DataFrame(rows, columns=["fold", "part", "id", "prediction"]).assign(seed=0)
    found = trained_curve(outputs, {"curve_50_setup1": table}, 300)
    assert found["size"].tolist() == [50, 50]
    assert found["subset"].tolist() == [0, 1]
    assert found["pearson"].tolist() == pytest.approx([1, -1])


OUTPUTS = SHIPPED / "rnn_qe/outputs.csv"
PREDICTIONS = {
    folder.name: sorted(folder.glob("*.csv.gz"))
    for folder in (SHIPPED / "rnn_qe/predictions").iterdir()
}
GOLDEN = [
    ("bleu", "", 0.074234, 2.264228),
    ("cider", "", 0.061136, 2.606301),
    ("1", "paper", 0.302989, 0.962602),
    ("6", "paper", 0.392050, 0.859146),
    ("lookup", "", 0.315623, 0.919919),
    ("ridge", "", 0.262900, 0.933537),
    ("bleu_neighbors", "", 0.312123, 0.920325),
]


@pytest.fixture(scope="module")
def shipped() -> dict[str, pd.DataFrame]:
    """Tables 3 to 5."""
    return {
        experiment: results([OUTPUTS], published(name), experiment, PREDICTIONS, [], BOOTSTRAP)
        for experiment, name in TABLES.items()
    }


def test_shipped_numbers_give_the_tables(shipped):
    totals = outputs_by_system([OUTPUTS], published("rnn_qe_table1"))["total"]
    assert totals.tolist() == [1181, 1077, 202, 2460]
    sizes = training_instances([OUTPUTS], published("rnn_qe_table2"))["training_instances"]
    assert sizes.tolist() == [1476, 3936, 12417, 44102, 56781, 79941]
    third = shipped["cross_validation"].set_index(["setup", "schedule"])
    for setup, schedule, pearson, mae in GOLDEN:
        row = third.loc[(setup, schedule), ["pearson", "mae"]].tolist()
        assert row == pytest.approx([pearson, mae], abs=1e-6)
    keys = ["setup", "configuration", "schedule"]
    fourth, fifth = (shipped[experiment].set_index(keys) for experiment in CROSS)
    assert fourth.loc[("lookup", "3", ""), "pearson"] == pytest.approx(0.199595, abs=1e-6)
    assert fifth.loc[("1", "1", "paper"), "pearson"] == pytest.approx(0.340391, abs=1e-6)
    assert set(fourth["provenance"]) | set(fifth["provenance"]) == {"shipped"}


def test_the_figure_has_what_is_shipped(shipped):
    smaller = {k: v for k, v in PREDICTIONS.items() if k.startswith(("curve", "setup1"))}
    figure, points = correlations_over_size(
        [OUTPUTS], [SHIPPED / "rnn_qe/curve.csv"], published("rnn_qe_table3"), smaller
    )
    assert len(figure.axes) == 2
    table = shipped["cross_validation"]
    rows = points.set_index(["model", "size"])
    whole = table.set_index(["setup", "schedule"]).loc[("1", "short"), "pearson"]
    assert rows.loc[("rnn_qe", 1476), "pearson"] == pytest.approx(whole)
    assert rows.loc[("rnn_qe", 50), "pearson"] < 0.15 < whole
    assert rows.loc[("bleu_neighbors", 50), "pearson_sd"] == pytest.approx(0.024413, abs=1e-6)
