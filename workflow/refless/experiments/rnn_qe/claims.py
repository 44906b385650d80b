"""What the RNN-QE paper says of significance, claim by claim, and where its text and code differ.

Stage: table. In: the tests of tables 3 to 5, the published tables; a list of differences. Out: a
row a claim, with the tests that decide it; a row a difference.

A claim is about tests of one question (`refless.experiments.rnn_qe.tables`), set-ups as in the
paper (reading without a name). It holds if all of its comparisons are significant in its direction.
It does not if one is significant the other way; otherwise these data do not decide it, also where
an interval lies below the paper's difference, which has an error of its own. That most comparisons
are not significant is all that such a claim says: it is counted. All claims are held to one
standard: tests are two-sided at `LEVEL`, also where the table of tests has the paper's one-sided p,
and the direction is the sign of the difference.

A difference was trained alone, beside the paper's schedule. It could explain the gap to the
published value (`explains`) if its interval, not corrected for the number of differences, has our
value move towards that, and perhaps as far. Its interval is that over MRs, made wider by
what another seed would move: the standard deviation over seeds of set-up 1, for each of the two, by
Student's t, since it comes from a few seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.rnn_qe.tables import CORRELATIONS, LEVEL
from refless.models.rnn_qe.names import (
    PAPER,
    SETUPS,
    parse,
    single_differences,
    training_command,
)
from refless.report.published import read_published as read_paper
from refless.report.tables import publish, read_published
from refless.store.signed import provenance

YES, NO, UNDECIDED = "yes", "no", "undecided"
PARTLY = "partly"
TABLES = ("rnn_qe_table3", "rnn_qe_table4", "rnn_qe_table5")
DIFFERENCES = ["item", "text", "code", "here", "reading", "difference"]
MOVES = ("", "_difference", "_difference_low", "_difference_high", "_gap", "_gap_before")
EVERY = tuple(map(str, SETUPS))


@dataclass(frozen=True)
class Claim:
    """A claim, in our words.

    table, question : of the tests that decide it
    statistics : Pearson's r, or Spearman's rho as well
    setups, configurations : which rows it is about
    better : whether the first of a test is said to be the better one
    counted : whether what is said is that most comparisons are significant (``mostly``) or are
        not (``mostly not``), and not that all are
    """

    sentence: str
    table: str
    question: str
    statistics: Sequence[str] = ("pearson",)
    setups: Sequence[str] = EVERY
    configurations: Sequence[str] = ("",)
    better: bool = True
    counted: str = ""


_OVER_METRICS = "the network is better than each of the four metrics"
_MORE_DATA = (
    "with a little in-set data, out-of-set data on top are mostly not significantly better"
    " (configuration 3 against 1)"
)
_LITTLE = (
    "a little in-set data is mostly better than out-of-set data alone (configuration 2 is behind 1)"
)
TESTED = (
    "p over MRs and seeds, two-sided: in all comparisons at once, the difference has the right sign"
    " and p is below 0.05; no if one is significant the other way, corrected for their number"
)
MOSTLY, MOSTLY_NOT = "mostly", "mostly not"
_COUNTED = "p over MRs and seeds, two-sided and corrected by Holm"
COUNTED = {
    MOSTLY: f"counted: share of comparisons with a significant gain, {_COUNTED}, above a half; no"
    " if that of significant losses is",
    MOSTLY_NOT: "counted: share of comparisons with a significant gain, p over MRs and seeds,"
    " two-sided, below a half; not corrected, for a correction would favour the claim",
}
CLAIMS = (
    Claim(f"{_OVER_METRICS}, in all set-ups", TABLES[0], "metrics", ("pearson", "spearman")),
    Claim("set-up 4 is better than set-up 1", TABLES[0], "set-up 1", setups=("4",)),
    Claim("set-up 6 is better than set-up 4", TABLES[0], "set-up 4", setups=("6",)),
    Claim(
        f"{_OVER_METRICS}, in all set-ups and configurations",
        TABLES[1],
        "metrics",
        configurations=("1", "2", "3"),
    ),
    Claim(
        f"{_OVER_METRICS}, in all set-ups of configurations 1 and 3",
        TABLES[2],
        "metrics",
        configurations=("1", "3"),
    ),
    Claim(
        f"{_OVER_METRICS}, in configuration 2 from set-up 4 on",
        TABLES[2],
        "metrics",
        setups=("4", "5", "6"),
        configurations=("2",),
    ),
    *(
        Claim(
            *(_LITTLE, table, "configuration 1"),
            configurations=("2",),
            better=False,
            counted=MOSTLY,
        )
        for table in TABLES[1:]
    ),
    *(
        Claim(_MORE_DATA, table, "configuration 1", configurations=("3",), counted=MOSTLY_NOT)
        for table in TABLES[1:]
    ),
)


def claims_table(
    tests: Mapping[str, pd.DataFrame], published: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """A row for each claim and statistic; those without all of their tests have no numbers.

    Parameters
    ----------
    tests : by table, as `refless.experiments.rnn_qe.tables.table` returns them
    published : by table, as `refless.report.published.read_published` returns it
    """
    rows = [
        {"claim": claim.sentence, "table": claim.table, "statistic": statistic}
        | {"test": COUNTED.get(claim.counted, TESTED)}
        | _decided(claim, statistic, tests[claim.table], published[claim.table])
        for claim in CLAIMS
        for statistic in claim.statistics
    ]
    columns = ["claim", "table", "statistic", "test", "value", "comparisons", "significant"]
    columns += [
        "difference",
        "difference_low",
        "difference_high",
        "paper_difference",
        "p",
        "p_holm",
    ]
    columns += ["least_detectable", "n", "n_needed", "holds", "provenance", "note"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    whole = dict.fromkeys(("comparisons", "significant", "n", "n_needed"), "Int64")
    texts = table[["holds", "paper_difference"]].astype(object).fillna("")
    return table.astype(whole).assign(**texts)


def _decided(
    claim: Claim, statistic: str, tests: pd.DataFrame, published: pd.DataFrame
) -> dict[str, Any]:
    tests = tests.fillna({"reading": "", "configuration": ""} if len(tests) else {})
    if "configuration" not in tests:
        tests = tests.assign(configuration="")
    own = _asked(claim, statistic, tests)
    if own.groupby(["setup", "configuration"]).ngroups < len(claim.setups) * len(
        claim.configurations
    ):
        return {"provenance": "", "note": []}
    # one that has no test cannot speak for most; for all, or for an absence, it would have to
    if own["p_clusters"].isna().any() and claim.counted != MOSTLY:
        said = "not available: too few MRs decide one of its comparisons, which has no test"
        return {"provenance": "", "note": [said]}
    sign = 1 if claim.better else -1
    single, corrected = _two_sided(own)
    # that all hold at once needs no correction, nor does an absence; a count of single gains does
    p = corrected if claim.counted == MOSTLY else single
    ahead = sign * own["difference"]
    significant = (p < LEVEL) & (ahead > 0)
    against = ((p if claim.counted else single * len(own)) < LEVEL) & (ahead < 0)
    paper = _paper_differences(own, statistic, published)
    holds, decides = UNDECIDED, float(p[~significant].max())
    if claim.counted:
        most, least_most = significant.sum() * 2 > len(own), against.sum() * 2 > len(own)
        holds = YES if most else NO if least_most else UNDECIDED
        if claim.counted == MOSTLY_NOT:
            holds = NO if significant.sum() * 2 >= len(own) else YES
        decides = float(p.max())
    elif significant.all():
        holds, decides = YES, float(p.max())
    elif against.any():
        holds, decides = NO, float(p[against].min())
    place = int(ahead.to_numpy().argmin())
    least = own.iloc[place].to_dict()
    return {
        "value": float(significant.mean()) if claim.counted else decides,
        "comparisons": len(own),
        "significant": int(significant.sum()),
        **{name: least[name] for name in ("difference", "difference_low", "difference_high")},
        "paper_difference": f"{paper.iloc[place]:.3f}",
        "p": decides,
        "p_holm": float(corrected.max()),
        "least_detectable": least["least_detectable"],
        "n": own["n"].iloc[0],
        # where all must be significant, the hardest of those that are not
        "n_needed": pd.NA
        if claim.counted or holds != UNDECIDED
        else own.loc[~significant, "n_needed"].max(),
        "holds": holds,
        "provenance": provenance({"provenance": origin} for origin in own["provenance"]),
        "note": _beside(claim, tests, statistic, own, int(against.sum())),
    }


def _asked(claim: Claim, statistic: str, tests: pd.DataFrame, reading: str = "") -> pd.DataFrame:
    """The tests that a claim is about, of one reading."""
    return tests[
        (tests["question"] == claim.question)
        & (tests["statistic"] == statistic)
        & (tests["reading"] == reading)
        & tests["setup"].astype(str).isin(claim.setups)
        & tests["configuration"].astype(str).isin(claim.configurations)
    ]


def _beside(
    claim: Claim, tests: pd.DataFrame, statistic: str, own: pd.DataFrame, against: int
) -> list[str]:
    """What must be read beside a verdict; ``own`` are the tests that it is of."""
    if claim.counted:
        untested = int(own["p_clusters"].isna().sum())
        shown = f"{against} of {len(own)} are significant the other way"
        if untested:
            shown += f"; {untested} have no test, since too few MRs decide"
        if claim.counted == MOSTLY_NOT:
            return [f"what is not significant is not shown to be absent; {shown}"]
        return [shown] if against or untested else []
    by_schedule = _asked(claim, statistic, tests, PAPER).dropna(subset="p_clusters")
    if len(claim.setups) > 1 or len(by_schedule) != 1:
        return []
    longer = by_schedule.iloc[0]
    single, corrected = (float(p.iloc[0]) for p in _two_sided(by_schedule))
    holds = single < LEVEL and (longer["difference"] > 0) == claim.better
    return [
        "by the paper's schedule, the difference of the networks trained is"
        f" {longer['difference']:.3f} ({longer['difference_low']:.3f} to"
        f" {longer['difference_high']:.3f},"
        f" MRs drawn), p {single:.3f}, by Holm {corrected:.3f}; what another seed of a set-up"
        " that has one would change is not in this"
        + ("; by it alone the claim would hold" if holds else "")
    ]


def _two_sided(tests: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """``p_clusters`` and ``p_holm`` of the tests as two-sided ones, whatever their alternative."""
    single, corrected = tests["p_clusters"], tests["p_holm"]
    two_sided = tests["alternative"] != "greater"
    # Holm's multiples of a one-sided p double with it; one of the wrong sign is above 1/2 and ends
    # at 1, so what is significant the other way is seen from the single p alone
    return (
        single.where(two_sided, 2 * single.where(single < 0.5, 1 - single)),
        corrected.where(two_sided, (2 * corrected).clip(upper=1.0)),
    )


def _paper_differences(tests: pd.DataFrame, statistic: str, published: pd.DataFrame) -> pd.Series:
    """The paper's value of the first minus that of the other, of each test."""
    values = published.assign(configuration=published.get("configuration", ""))
    lookup = values.set_index(["setup", "configuration"])[statistic].replace("", "nan")
    found = []
    for row in tests.to_dict("records"):
        other = row.get("against_configuration", "")
        keys = (row["setup"], row["configuration"]), (row["against"], other)
        a, b = (float(lookup[str(setup), str(number or "")]) for setup, number in keys)
        found.append(a - b)
    return pd.Series(found, index=tests.index, dtype=float)


def differences_table(
    differences: pd.DataFrame, table: pd.DataFrame, ways: pd.DataFrame
) -> pd.DataFrame:
    """Where the paper's text and the authors' code differ, which row shows the other variant, and
    what the difference alone moves.

    Parameters
    ----------
    differences : columns `DIFFERENCES`; ``difference`` is of `refless.models.rnn_qe.variants`
    table : table 3; a reading that has no numbers there shows nothing
    ways : by `refless.experiments.rnn_qe.ways`
    """
    shown = set(table.loc[table["pearson"].notna(), "reading"].dropna())
    names = {parse(name).difference: name for name in single_differences()}
    trained = ways[ways["provenance"].astype(object).fillna("") != ""]
    made = {row["name"]: row for row in trained.to_dict("records")}
    rows = []
    for given in differences.to_dict("records"):
        reading, name = given["reading"], names.get(given["difference"], "")
        row: dict[Any, Any] = given | {"alone": name, "note": [], "provenance": "", "reason": ""}
        there = reading and reading in shown
        row["other_variant"] = f"table 3, reading {reading}" if there else "no row"
        if name in made:
            found = made[name]
            row |= {"against": found["against"], "setup": found["setup"], "seeds": found["seeds"]}
            row["provenance"] = str(found["provenance"])
            for statistic in CORRELATIONS:
                row |= _moved(found, statistic, _over_seeds(table, statistic))
            if all(found[f"pearson_difference{end}"] == 0 for end in ("", "_low", "_high")):
                row["note"] = ["it chose the same passes, so its predictions are the same"]
                row |= {f"{statistic}_explains": NO for statistic in CORRELATIONS}
        elif name:
            row["note"] = [f"not available: not run; {training_command(name)} trains it"]
            row["reason"] = "not_trained"
        else:
            row |= {"note": ["quoted from text and code, not computed here"], "reason": "quoted"}
        rows.append(row)
    columns = ["item", "text", "code", "here", "other_variant", "alone", "against", "setup"]
    for statistic in CORRELATIONS:
        columns += [*(f"{statistic}{end}" for end in MOVES), f"{statistic}_explains"]
    made_table = pd.DataFrame(rows).reindex(
        columns=[*columns, "seeds", "provenance", "reason", "note"]
    )
    texts = ["alone", "against", *(f"{statistic}_explains" for statistic in CORRELATIONS)]
    made_table[texts] = made_table[texts].astype(object).fillna("")
    return made_table.astype({"setup": "Int64", "seeds": "Int64"})


def _over_seeds(table: pd.DataFrame, statistic: str) -> float:
    """How far a seed of set-up 1 may lie from the mean, at 95%: Student's t times the standard
    deviation over seeds, by the paper's schedule, else by the other one; NaN without two seeds."""
    from scipy.special import stdtrit

    own = table[table["setup"].astype(str) == "1"]
    for reading in (PAPER, ""):
        found = own[own["reading"].fillna("") == reading].dropna(subset=f"{statistic}_sd")
        if len(found):
            sd, seeds = found.iloc[0][[f"{statistic}_sd", "seeds"]]
            return float(sd * stdtrit(seeds - 1, 0.975))
    return math.nan


def _moved(way: Mapping[Any, Any], statistic: str, of_seed: float) -> dict[str, Any]:
    """The `MOVES` of one statistic, and whether they explain the gap; nothing without an interval
    or without a published value."""
    moved, before = way[f"{statistic}_difference"], way[f"against_{statistic}_gap"]
    below, above = (way[f"{statistic}_difference_{end}"] - moved for end in ("low", "high"))
    seeds = of_seed * math.sqrt(2 / way["seeds"])
    low, high = moved - math.hypot(below, seeds), moved + math.hypot(above, seeds)
    values = [way[statistic], moved, low, high, way[f"{statistic}_gap"], before]
    row = {f"{statistic}{end}": value for end, value in zip(MOVES, values, strict=True)}
    return row | {f"{statistic}_explains": explains(before, moved, low, high)}


def explains(gap: float, moved: float, low: float, high: float) -> str:
    """Whether what moves our value by ``moved`` (95% interval) explains its gap to the published.

    ``yes``: it moves it towards the published value, and a move as large as the gap or larger lies
    within the interval; ``partly``: towards it, and surely not as far; ``no``: away from it, or
    surely not as far while nothing may have moved; ``undecided``: both no move and a move as large
    as the gap are within the interval. Empty where a number is missing.
    """
    if any(math.isnan(value) for value in (gap, moved, low, high)):
        return ""
    if gap > 0:  # as if the published value were above ours
        return explains(-gap, -moved, -high, -low)
    if low > 0:
        return YES if high >= -gap else PARTLY
    return UNDECIDED if high >= -gap else NO


def write_tables(
    folder: str | Path,
    published: Sequence[str | Path],
    differences: str | Path,
    missing: Sequence[Mapping[str, Any]],
) -> None:
    """Publish both tables, beside tables 3 to 5 and that of `refless.experiments.rnn_qe.ways`.

    Parameters
    ----------
    published : the paper's tables 3 to 5
    differences : a CSV with the columns `DIFFERENCES`
    missing : see `refless.report.tables.publish`

    Raises
    ------
    FormatError, StaleError : as `refless.report.tables.read_published`.
    """
    folder = Path(folder)
    columns = ["question", "statistic", "setup", "reading", "difference", "alternative"]
    columns += ["p_clusters", "p_holm"]
    made = claims_table(
        {name: read_published(folder / f"{name}_williams.csv", columns) for name in TABLES},
        {name: read_paper(path, ["setup"]) for name, path in zip(TABLES, published, strict=True)},
    )
    publish("rnn_qe_claims", made, folder, missing=missing, facts={"level": LEVEL})
    given = read_paper(differences, DIFFERENCES)
    sds = [f"{statistic}_sd" for statistic in CORRELATIONS]
    columns = ["setup", "reading", "pearson", "seeds", *sds]
    third = read_published(folder / f"{TABLES[0]}.csv", columns)
    alone = read_published(folder / "rnn_qe_ways.csv", ["name", "against", "setup", "provenance"])
    publish("rnn_qe_differences", differences_table(given, third, alone), folder)
