"""What the RNN-QE paper says of significance, claim by claim, and where its text and code differ.

Stage: table. In: the tests of tables 3 to 5, the published tables; a list of differences. Out: a
row a claim, with the tests that decide it; a row a difference.

A claim is about tests of one question (`refless.experiments.rnn_qe.tables`), set-ups as in the
paper (reading without a name). It holds if all of its comparisons are significant in its direction.
It does not if one is significant the other way, or if the interval of one excludes, from below, a
difference as large as the paper's; otherwise these data do not decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.rnn_qe.tables import LEVEL
from refless.models.rnn_qe.names import SETUPS
from refless.report.published import read_published as read_paper
from refless.report.tables import publish, read_published
from refless.store.signed import provenance

YES, NO, UNDECIDED = "yes", "no", "undecided"
TABLES = ("rnn_qe_table3", "rnn_qe_table4", "rnn_qe_table5")
DIFFERENCES = ["item", "text", "code", "here", "reading"]
EVERY = tuple(map(str, SETUPS))


@dataclass(frozen=True)
class Claim:
    """A claim, in our words.

    table, question : of the tests that decide it
    statistics : Pearson's r, or Spearman's rho as well
    setups, configurations : which rows it is about
    better : whether the first of a test is said to be the better one
    mostly_not : whether what is said is that most comparisons are not significant
    """

    sentence: str
    table: str
    question: str
    statistics: Sequence[str] = ("pearson",)
    setups: Sequence[str] = EVERY
    configurations: Sequence[str] = ("",)
    better: bool = True
    mostly_not: bool = False


_OVER_METRICS = "the network is better than each of the four metrics"
_MORE_DATA = (
    "with a little in-set data, out-of-set data on top mostly do not help (configuration 3 against"
    " 1)"
)
_LITTLE = "a little in-set data is better than out-of-set data alone (configuration 2 is behind 1)"
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
        Claim(_LITTLE, table, "configuration 1", configurations=("2",), better=False)
        for table in TABLES[1:]
    ),
    *(
        Claim(_MORE_DATA, table, "configuration 1", configurations=("3",), mostly_not=True)
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
        | _decided(claim, statistic, tests[claim.table], published[claim.table])
        for claim in CLAIMS
        for statistic in claim.statistics
    ]
    columns = ["claim", "table", "statistic", "comparisons", "significant", "difference"]
    columns += ["difference_low", "difference_high", "paper_difference", "p_holm"]
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
    own = tests[
        (tests["question"] == claim.question)
        & (tests["statistic"] == statistic)
        & (tests["reading"] == "")
        & tests["setup"].astype(str).isin(claim.setups)
        & tests["configuration"].astype(str).isin(claim.configurations)
    ]
    if own.groupby(["setup", "configuration"]).ngroups < len(claim.setups) * len(
        claim.configurations
    ):
        return {"provenance": "", "note": []}
    sign = 1 if claim.better else -1
    one_sided = own["alternative"] == "greater"
    significant = (own["p_holm"] < LEVEL) & (one_sided | (sign * own["difference"] > 0))
    against = (own["p_holm"] < LEVEL) & ~one_sided & (sign * own["difference"] < 0)
    paper = _paper_differences(own, statistic, published)
    best = own["difference_high"] if claim.better else -own["difference_low"]
    excluded = best < sign * paper
    holds = UNDECIDED
    if claim.mostly_not:
        holds = YES if significant.sum() * 2 < len(own) else NO
    elif significant.all():
        holds = YES
    elif (against | (excluded & ~significant)).any():
        holds = NO
    place = int((sign * own["difference"]).to_numpy().argmin())
    least = own.iloc[place].to_dict()
    return {
        "comparisons": len(own),
        "significant": int(significant.sum()),
        **{name: least[name] for name in ("difference", "difference_low", "difference_high")},
        "paper_difference": f"{paper.iloc[place]:.3f}",
        "p_holm": own["p_holm"].max(),
        "least_detectable": own["least_detectable"].max(),
        "n": own["n"].iloc[0],
        "n_needed": least["n_needed"] if holds == UNDECIDED else pd.NA,
        "holds": holds,
        "provenance": provenance({"provenance": origin} for origin in own["provenance"]),
        "note": [],
    }


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


def differences_table(differences: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Where the paper's text and the authors' code differ, and which row shows the other variant.

    Parameters
    ----------
    differences : columns `DIFFERENCES`
    table : table 3; a reading that has no numbers there shows nothing
    """
    shown = set(table.loc[table["pearson"].notna(), "reading"].dropna())
    other = [
        f"table 3, reading {name}" if name in shown else "no row" for name in differences["reading"]
    ]
    # facts from the two sources, none of them computed
    given = differences.drop(columns="reading").assign(other_variant=other, provenance="quoted")
    return given.assign(note=pd.Series([[] for _ in other], dtype=object))


def write_tables(
    folder: str | Path,
    tests: Sequence[str | Path],
    published: Sequence[str | Path],
    table: str | Path,
    differences: str | Path,
    missing: Sequence[Mapping[str, Any]],
) -> None:
    """Publish both tables.

    Parameters
    ----------
    tests, published : the tests of tables 3 to 5, and the paper's tables
    table : table 3
    differences : a CSV with the columns `DIFFERENCES`
    missing : see `refless.report.tables.publish`

    Raises
    ------
    FormatError, StaleError : as `refless.report.tables.read_published`.
    """
    columns = ["question", "statistic", "setup", "reading", "p_holm", "difference"]
    made = claims_table(
        {name: read_published(path, columns) for name, path in zip(TABLES, tests, strict=True)},
        {name: read_paper(path, ["setup"]) for name, path in zip(TABLES, published, strict=True)},
    )
    publish("rnn_qe_claims", made, folder, missing=missing, facts={"level": LEVEL})
    given = read_paper(differences, DIFFERENCES)
    publish(
        "rnn_qe_differences",
        differences_table(given, read_published(table, ["reading", "pearson"])),
        folder,
    )
