"""One way of training RNN-QE beside another: schedules, the plateau, the authors' network.

Stage: cell -> table. In: predictions and their records. Out: a row a pair, the same set-up trained
in two ways, and which of the two is to be had.

The choice between two ways looks at validation parts alone. Each model (fold and seed, those that
both ways have) counts with Pearson plus Spearman in the common pass, in which the models of a seed
together are best: the maximum of each model over 500 passes is larger than over twelve by luck
alone. A way that costs more instance passes is chosen if the 95% interval of the mean difference is
above 0, else the cheaper one: Student's t over folds, each the mean of its seeds, since models of
one fold share its validation part; over seeds where there is one split.

What a difference does to the statistics of the tables is read off the test parts, seed by seed with
intervals of a bootstrap over MRs, and chooses nothing. The gap is to the published value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.outputs import SCALE, drawn_mrs
from refless.experiments.rnn_qe.stored import Gathered
from refless.models.rnn_qe.names import AUTHORS, CROSS, EXPERIMENTS, LONGER, PAPER, pairs, parse
from refless.models.rnn_qe.variants import notes as what_differs
from refless.report.published import read_published
from refless.report.tables import publish
from refless.statistics import interval, least_detectable, scale_counts, scale_statistics
from refless.statistics.variances import could_be_found, over_seeds
from refless.store.signed import Signed

Array = np.ndarray

STATISTICS = ("pearson", "spearman")
FORMS = (
    *(("", ""), ("against_", ""), ("", "_difference"), ("", "_difference_low")),
    *(("", "_difference_high"), ("published_", ""), ("", "_gap"), ("against_", "_gap")),
)
COLUMNS = [
    *("name", "against", "setup", "what", "models", "dev", "against_dev"),
    *("dev_difference", "dev_difference_low", "dev_difference_high"),
    *("dev_least_detectable", "cost", "chosen", "seeds", "n"),
    *(f"{form}{name}{end}" for name in STATISTICS for form, end in FORMS),
    *(f"{name}_least_detectable" for name in STATISTICS),
    *("training", "provenance", "note"),
]


def common_scores(models: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], float]:
    """(seed, fold) -> Pearson plus Spearman on the validation part in the common pass."""
    rows = [
        {
            "seed": model["seed"],
            "fold": model["fold"],
            "step": step,
            "score": sum(-1 if one[k] is None else one[k] for k in STATISTICS),
        }
        for model in models
        for step, one in enumerate(model["history"])
        if one["phase"] == "train"
    ]
    table = pd.DataFrame(rows).pivot_table(index=["seed", "step"], columns="fold", values="score")
    found: dict[tuple[int, int], float] = {}
    for seed in {model["seed"] for model in models}:
        own = table.loc[seed].dropna(axis=1, how="all").dropna()
        best = own.mean(axis=1).to_numpy().argmax()
        found |= {(seed, fold): float(own[fold].iloc[best]) for fold in own}
    return found


def cost(facts: Mapping[str, Any], rows: Mapping[str, Mapping[str, int]]) -> float:
    """Instance passes of a model, mean.

    ``rows`` are the instances of a pass, by fold and phase; without them, passes over rated rows
    count alone, and a model that was pretrained is NaN.
    """
    alone = {"pretrain": math.nan, "train": 1}
    made = [
        sum(rows.get(str(model["fold"]), alone)[one["phase"]] for one in model["history"])
        for model in facts["models"]
    ]
    return float(np.mean(made))


def _validation(one: Signed, other: Signed) -> dict[str, Any]:
    ours, theirs = (common_scores(file.about["facts"]["models"]) for file in (one, other))
    both = sorted(set(ours) & set(theirs))
    if not both:
        return {}
    a, b = (np.array([found[key] for key in both]) for found in (ours, theirs))
    fold = np.array([one for _, one in both])
    by_fold = np.array([(a - b)[fold == one].mean() for one in np.unique(fold)])
    each = by_fold if len(by_fold) > 1 else a - b
    low, high = _t_interval(each)
    # both are trained on as many rows; older records do not say how many
    facts = [file.about["facts"] for file in (one, other)]
    rows: Mapping[str, Any] = next((found["rows"] for found in facts if "rows" in found), {})
    ratio = cost(facts[0], rows) / cost(facts[1], rows)
    row = {
        "models": len(both),
        "dev": a.mean(),
        "against_dev": b.mean(),
        "dev_difference": (a - b).mean(),
        "dev_difference_low": low,
        "dev_difference_high": high,
        "dev_least_detectable": could_be_found(over_seeds(each)) if len(each) > 1 else math.nan,
        "cost": ratio,
    }
    if not math.isnan(low) and not math.isnan(ratio):
        dearer = low > 0 if ratio > 1 else not high < 0
        row["chosen"] = "name" if dearer else "against"
    return row


def _t_interval(values: Array) -> tuple[float, float]:
    """95%, of the mean; NaN of a single value."""
    from scipy import stats

    if len(values) < 2:
        return float("nan"), float("nan")
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def _tested(
    one: Signed, other: Signed, truth: pd.Series, weights: Array, published: Mapping[str, float]
) -> dict[str, Any]:
    """Statistics on the test parts, of the seeds that both have."""
    by_seed = []
    for file in (one, other):
        table = file.content[file.content["part"] == "test"]
        wide = table.pivot_table(index="id", columns="seed", values="prediction", aggfunc="first")
        wide = wide.reindex(truth.index)
        by_seed.append(wide[[seed for seed in wide if wide[seed].notna().all()]])
    seeds = [seed for seed in by_seed[0] if seed in by_seed[1]]
    if not seeds:
        return {}
    row: dict[str, Any] = {"seeds": len(seeds), "n": len(truth)}
    once = np.ones((1, len(truth)))
    found = []
    for table in by_seed:
        for by in (once, weights):
            values = [
                scale_statistics(
                    scale_counts(table[seed].to_numpy(), truth.to_numpy(), SCALE, by), SCALE
                )
                for seed in seeds
            ]
            found.append({k: np.mean([one[k] for one in values], axis=0) for k in STATISTICS})
    ours, our_draws, theirs, their_draws = found
    for k in STATISTICS:
        own, against = float(ours[k][0]), float(theirs[k][0])
        draws = our_draws[k] - their_draws[k]
        low, high = interval(draws)
        row |= {k: own, f"against_{k}": against, f"{k}_difference": own - against}
        row |= {f"{k}_difference_low": low, f"{k}_difference_high": high}
        row[f"{k}_least_detectable"] = least_detectable(draws)
        if k in published:
            row |= {f"published_{k}": published[k], f"{k}_gap": own - published[k]}
            row[f"against_{k}_gap"] = against - published[k]
    return row


def ways_table(
    made: Mapping[str, Signed],
    outputs: pd.DataFrame | None,
    published: Mapping[str, pd.DataFrame],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """A row for each of `pairs`, `COLUMNS`; without numbers where one of the two is missing.

    ``name`` of a pair without its second is all that a row of a cell of tables 4 and 5 would say:
    such a row is left out.

    Parameters
    ----------
    made : predictions by name
    outputs : see `refless.experiments.rnn_qe.outputs.outputs`
    published : experiment -> the paper's table
    bootstrap : ``draws`` and ``seed``
    """
    rows = []
    drawn: dict[str, tuple[pd.Series, Array]] = {}
    for name, against in pairs():
        found = parse(name)
        there = outputs is not None and name in made and against in made
        if not there and found.experiment in CROSS:
            continue
        row: dict[str, Any] = {
            "name": name,
            "against": against,
            "setup": found.setup,
            "what": "; ".join(_what(name)),
            "training": name if name not in made else against,
            "provenance": "",
        }
        if there and outputs is not None:
            if found.experiment not in drawn:
                drawn[found.experiment] = _truth(outputs, found.experiment, bootstrap)
            one, other = made[name], made[against]
            cells = _published(published, name)
            row |= _validation(one, other) | _tested(one, other, *drawn[found.experiment], cells)
            provenances = {file.about["provenance"] for file in (one, other)}
            row["provenance"] = "shipped" if "shipped" in provenances else "computed"
        rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("chosen", "what", "training", "provenance"):
        table[column] = table[column].astype(object).fillna("")
    table["note"] = pd.Series([[] for _ in rows], dtype=object)
    return table.astype(dict.fromkeys(["setup", "models", "seeds", "n"], "Int64"))


def choice_of_schedule(ways: pd.DataFrame, experiment: str) -> str:
    """For a caption: which of the paper's schedule and the configuration's validation parts choose.

    Rows of table 3 speak for those of an experiment none of which was trained by both.

    Parameters
    ----------
    ways : by `ways_table`
    """
    chosen: dict[str, dict[str, list[str]]] = {}
    for row in ways[ways["chosen"].astype(object).fillna("") != ""].to_dict("records"):
        found = parse(row["name"])
        if found.way == PAPER:
            plain = row["name"].removeprefix(f"{PAPER}_")
            chosen.setdefault(found.experiment, {}).setdefault(row["chosen"], []).append(plain)
    own = chosen.get(experiment, chosen.get(EXPERIMENTS[0], {}))
    if not own:
        return "No set-up was trained by two schedules, so validation parts choose none."
    said = [
        f"{what} for {', '.join(f'`{name}`' for name in own[one])}"
        for one, what in (
            ("name", "the paper's schedule"),
            ("against", "the configuration's schedule"),
        )
        if one in own
    ]
    where = "" if experiment in chosen else "Here no row was trained by two schedules. In table 3, "
    return f"{where}{'v' if where else 'V'}alidation parts choose {' and '.join(said)}."


def _what(name: str) -> Iterator[str]:
    found = parse(name)
    if found.way == AUTHORS:
        yield from what_differs(found.difference)
    else:
        yield {PAPER: "the paper's schedule", LONGER: "a plateau twice as long"}[found.way]


def _truth(
    outputs: pd.DataFrame, experiment: str, bootstrap: Mapping[str, int]
) -> tuple[pd.Series, Array]:
    tested = outputs if experiment not in CROSS else outputs[outputs[experiment] == "test"]
    truth = tested.set_index("id")["rating"].astype(float)
    return truth, drawn_mrs(tested["mr_number"], **bootstrap)


def _published(tables: Mapping[str, pd.DataFrame], name: str) -> dict[str, float]:
    """The paper's cells of a set-up, those that it prints."""
    found = parse(name)
    table = tables[found.experiment]
    own = table[table["setup"].astype(str) == str(found.setup)]
    if found.experiment in CROSS:
        own = own[own["configuration"].astype(str) == str(found.number)]
    cells = {k: pd.to_numeric(own[k], errors="coerce") for k in STATISTICS if len(own)}
    return {k: float(cell.iloc[0]) for k, cell in cells.items() if cell.notna().all()}


def write_table(
    folder: str | Path,
    given: Gathered,
    published: Mapping[str, str | Path],
    bootstrap: Mapping[str, int],
) -> None:
    """Publish the table.

    Parameters
    ----------
    published : experiment -> the paper's table
    bootstrap : ``draws`` and ``seed``

    Raises
    ------
    FormatError : a published table is not the one that comes with refless.
    """
    papers = {
        experiment: read_published(
            path, ["setup", *(["configuration"] if experiment in CROSS else [])]
        )
        for experiment, path in published.items()
    }
    made = given.predictions
    outputs = None if given.outputs is None else given.outputs.content
    used = {name for pair in pairs() if set(pair) <= set(made) for name in pair}
    publish(
        "rnn_qe_ways",
        ways_table(made, outputs, papers, bootstrap),
        folder,
        missing=[*given.missing, *given.untrained],
        facts=bootstrap,
        notes=given.notes(sorted(used)),
    )
