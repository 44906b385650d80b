"""Correlation over the number of rated outputs: BLEU Neighbors and RNN-QE.

Stage: cell -> figure. In: the learning curve of BLEU Neighbors, predictions of RNN-QE with fewer
rated outputs, table 3. Out: the figure, and what it draws.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from refless.errors import said
from refless.experiments.rnn_qe.baselines import CURVE_COLUMNS, correlations
from refless.experiments.rnn_qe.tables import Gathered
from refless.models.rnn_qe.names import FOLDS, NAMES, SHORT
from refless.report import figures
from refless.store import sealed

LABELS = {"bleu_neighbors": "BLEU Neighbors", "rnn_qe": "RNN-QE, set-up 1"}
STATISTICS = ["pearson", "spearman"]
COLUMNS = ["model", "size", *STATISTICS, *(f"{name}_sd" for name in STATISTICS)]


def trained_curve(outputs: pd.DataFrame, predictions: Mapping[str, sealed.Sealed]) -> pd.DataFrame:
    """RNN-QE with fewer rated outputs, `CURVE_COLUMNS`, from predictions of ``curve_50_setup1`` and
    so on: a row a random subset s, whose folds f are numbered 5 s + f."""
    truth, rows = outputs.set_index("id")["rating"], []
    for name, file in predictions.items():
        test = file.content[file.content["part"] == "test"]
        for subset, own in test.groupby(test["fold"] // FOLDS):
            found = correlations(own["prediction"].to_numpy(), truth[own["id"]].to_numpy())
            rows.append(("rnn_qe", NAMES[name].size, subset, *found))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def draw(
    curve: pd.DataFrame | None, given: Gathered, table: pd.DataFrame
) -> tuple[Figure, pd.DataFrame]:
    """The figure, and what it draws: mean and standard deviation over subsets, by model and size.
    Without the curve of BLEU Neighbors, or outputs, it says why; set-up 1 on all rated outputs, and
    published values, are those of table 3."""
    if curve is None or given.outputs is None:
        why = [*map(said, given.missing), "no data set"]
        return figures.empty_figure(f"not available: {why[0]}"), pd.DataFrame(columns=COLUMNS)
    rows = table[table["setup"].astype(str) == "1"]
    whole = rows.loc[rows["schedule"] == SHORT, STATISTICS]
    last = whole.assign(model="rnn_qe", size=curve["size"].max(), subset=0).dropna()
    trained = trained_curve(given.outputs.content, given.predictions)
    every = pd.concat([part for part in (curve, trained, last) if len(part)])
    found = every.groupby(["model", "size"])[STATISTICS]
    drawn = found.mean().join(found.std(ddof=0).add_suffix("_sd")).reset_index()[COLUMNS]
    # they stand in the row that is trained as the paper says
    paper = rows[rows["paper_pearson"].astype(str) != ""].iloc[0]
    published = {name: float(paper[f"paper_{name}"]) for name in STATISTICS}
    return figures.learning_curve_figure(drawn, LABELS, published), drawn
