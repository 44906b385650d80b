"""The claims of the papers and of the findings: does the interval lie on the claimed side?

Stage: table. In: ``resources/published/claims.yaml`` and the finished tables with the draws of
their rows. Out: a row a claim: about a value of one row, or about that value ``less`` another
row's, on the draws that both have. Of several rows that fit, that of the greatest value counts.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from refless.statistics import Estimate
from refless.statistics.bootstrap import unpacked

COLUMNS = [
    *("paper", "claim", "where", "ours", "ours_low", "ours_high", "bound", "holds"),
    *("provenance", "reason"),
]
SIDES = {"above": 1, "below": -1}


def read_claims(path: str | Path) -> list[dict[str, Any]]:
    """The claims of a file, whose head says what they have."""
    return list(yaml.safe_load(Path(path).read_text(encoding="utf-8")))


def claims_table(
    claims: Iterable[Mapping[str, Any]],
    tables: Mapping[str, pd.DataFrame],
    names: Mapping[str, str],
) -> pd.DataFrame:
    """A row a claim, as `COLUMNS`.

    tables : by name, by `refless.report.tables.read_table`
    names : what a claim calls a data set, such as the paper's name of it -> its name here
    """
    rows = []
    for claim in claims:
        both = [claim["row"], {**claim["row"], **claim.get("less", {})}]
        wanted = [
            {
                key: names.get(value, value) if key == "dataset" else value
                for key, value in row.items()
            }
            for row in both[: 2 if "less" in claim else 1]
        ]
        found = [_row(tables[claim["table"]], row, claim["column"]) for row in wanted]
        where, bound = f"{claim['column']}: {_said(found, wanted)}", claim.get("bound", 0.0)
        told = {"paper": claim["paper"], "claim": claim["claim"], "where": where, "bound": bound}
        rows.append(told | _decided(found, claim["column"], claim["side"], bound))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(table: pd.DataFrame, wanted: Mapping[str, Any], column: str) -> dict[Any, Any]:
    """The row with these values that has the greatest number; why there is none, as ``lost``."""
    for name, value in wanted.items():
        values = [str(one) for one in (value if isinstance(value, list) else [value])]
        table = table[table[name].fillna("").astype(str).isin(values)]
    if table[column].notna().any():
        return dict(table.iloc[int(np.nanargmax(table[column].to_numpy(np.float64)))])
    reasons = [one for one in table.get("reason", ()) if one]
    return {"lost": reasons[0] if reasons else "not_configured"}


def _decided(rows: list[dict[Any, Any]], column: str, side: str, bound: float) -> dict[str, Any]:
    """What is found of a claim about one row or two; a word of why where there are no numbers."""
    if lost := [row["lost"] for row in rows if "lost" in row]:
        return {"holds": "", "provenance": "", "reason": lost[0]}
    found, *rest = (_estimate(row, column) for row in rows)
    if rest:
        found = found - rest[0]
        if np.isnan(found.low):
            return {"holds": "", "provenance": "", "reason": "no_draws"}
    provenance = "shipped" if "shipped" in {row["provenance"] for row in rows} else "computed"
    holds = verdict(found, side, bound)
    return {**found.columns("ours"), "holds": holds, "provenance": provenance, "reason": ""}


def verdict(found: Estimate, side: str, bound: float = 0.0) -> str:
    """``yes``: the interval lies on the side of the bound; ``no``: on the other; ``undecided``."""
    low, high = sorted(SIDES[side] * (end - bound) for end in (found.low, found.high))
    return "yes" if low > 0 else "no" if high < 0 else "undecided"


def _estimate(row: Mapping[Any, Any], column: str) -> Estimate:
    low, high = (float(row.get(f"{column}_{end}", np.nan)) for end in ("low", "high"))
    draws = row.get(f"{column}_draws")
    return Estimate(float(row[column]), low, high, unpacked(draws) if draws else None)


def _said(rows: list[dict[Any, Any]], wanted: list[dict[str, Any]]) -> str:
    """The values that name a row, and those in which the other one differs."""
    first, *other = (
        {key: str(row.get(key, value)) for key, value in each.items()}
        for row, each in zip(rows, wanted, strict=True)
    )
    parts = [list(first.values())]
    parts += [[value for key, value in own.items() if value != first[key]] for own in other]
    return " less ".join(", ".join(v for v in part if v not in ("", "nan")) for part in parts)
