"""The papers' claims, and the test that decides each here: QRA++ type IV.

Stage: table. In: the finished tables. Out: a row a claim: it holds (``yes``), it does not (``no``),
or these data cannot decide (``undecided``), with the number that decides and where it stands.

A claimed difference holds if its 95% interval lies on the claimed side of 0, or its two-sided
p-value, corrected where one of several would do, is below 0.05; ``no`` is the other side. What
shares its data is compared on the same draws; two intervals of their own say something where they
do not overlap, and nothing where they do. What is not shown
is not shown to be absent: that two things are level, or that nothing is lost, holds only if the
interval excludes a difference that would matter, which the test names. Else the claim is undecided,
and so is one that needs data that could not be had. What is only counted says so in its test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from refless.statistics import holm, least_between, needed

Row = dict[str, Any]
FINDINGS = ["paper", "claim", "holds", "test", "value", "table", "provenance", "note"]
YES, NO, UNDECIDED = "yes", "no", "undecided"
FEW = 20
"""Texts without which a mean hardly moves."""
_LEVEL = 0.05
MANY = 1e6
"""More than any study has."""
_NEIGHBORS, _DELTA, _QE = "BLEU Neighbors", "ΔBLEU", "RNN-QE"
_QE_CLAIMS = "rnn_qe_claims"


class Unknown(LookupError):
    """A claim asks for a number that no table has."""


class Tables:
    """The finished tables, asked by name, column and value."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = tables

    def rows(self, table: str, numbers: bool = True, **where: Any) -> list[Row]:
        """The rows with these values, in the order of the table; by default those with numbers."""
        found = self._tables.get(table, pd.DataFrame())
        for column, value in where.items():
            if column not in found:
                raise Unknown(f"{table} has no column {column}")
            values = value if isinstance(value, list) else [value]
            found = found[found[column].astype(str).isin(values)]
        if numbers and "provenance" in found:
            found = found[found["provenance"] != ""]
        return [{str(key): one for key, one in row.items()} for row in found.to_dict("records")]

    def row(self, table: str, **where: Any) -> Row:
        """The first of them: the published variant comes first."""
        if not (rows := self.rows(table, **where)):
            asked = ", ".join(f"{key} {value}" for key, value in where.items())
            raise Unknown(f"{table} has no numbers for {asked}")
        return rows[0]


def number(row: Row, column: str) -> float:
    """A number of a row."""
    value = row.get(column, "")
    if value == "" or pd.isna(value):
        raise Unknown(f"there is no {column}")
    return float(value)


@dataclass(frozen=True)
class Verdict:
    """``holds``, the number that decides, how much data would decide it, as a number and in words,
    and whether the number is on the side of the claim."""

    holds: str
    value: float
    needed: str = ""
    many: float = math.nan
    toward: bool = True


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper in our words, and how it is decided.

    table : where the number stands
    test : what is compared, in words
    decide : the tables -> the verdict; `Unknown` where a number is missing
    beside : each the tables -> what must be read beside the verdict, whichever way it comes out
    """

    paper: str
    claim: str
    table: str
    test: str
    decide: Callable[[Tables], Verdict]
    beside: Sequence[Callable[[Tables], str]] = ()


def findings(tables: Mapping[str, pd.DataFrame], claims: list[Claim] | None = None) -> pd.DataFrame:
    """A row a claim, as `FINDINGS`."""
    asked = Tables(tables)
    rows = []
    for claim in CLAIMS if claims is None else claims:
        note: list[str] = []
        try:
            verdict = claim.decide(asked)
        except Unknown as error:
            verdict, note = Verdict(UNDECIDED, float("nan")), [f"undecided: {error}"]
        if verdict.holds == UNDECIDED and verdict.needed:
            against = "" if verdict.toward else ", which goes against the claim"
            note.append(f"undecided: {verdict.needed}{against}")
        for beside in () if math.isnan(verdict.value) else claim.beside:
            try:
                note += filter(None, [beside(asked)])
            except Unknown as error:  # which changes no verdict
                note.append(f"what belongs beside it is missing: {error}")
        origins = {row["provenance"] for row in asked.rows(claim.table) if "provenance" in row} or {
            "computed"
        }
        rows.append(
            {
                "paper": claim.paper,
                "claim": claim.claim,
                "holds": verdict.holds,
                "test": claim.test,
                "value": verdict.value,
                "table": claim.table,
                "provenance": "shipped" if "shipped" in origins else "computed",
                "note": note,
            }
        )
    rows += _of_rnn_qe(asked)
    return pd.DataFrame(rows, columns=FINDINGS)


def _of_rnn_qe(tables: Tables) -> Iterator[Row]:
    """The claims that RNN-QE's own table of tests decides."""
    for row in tables.rows(_QE_CLAIMS, numbers=False):
        known = row["provenance"] != ""
        note = list(filter(None, [row["note"]])) if known else [f"undecided: {row['note']}"]
        if known and row["holds"] == UNDECIDED:
            share = f"{row['significant']:.0f} of {row['comparisons']:.0f} are significant"
            note.append(f"undecided: {_needed(row['n_needed'], _OUTPUTS) or share}")
        yield {
            "paper": _QE,
            "claim": f"{row['claim']} ({row['table']}, {row['statistic']})",
            "holds": row["holds"] if known else UNDECIDED,
            "test": row["test"],
            "value": row["value"] if known else float("nan"),
            "table": _QE_CLAIMS,
            "provenance": row["provenance"] or "computed",
            "note": note,
        }


def shares(found: pd.DataFrame) -> Iterator[Row]:
    """Type IV: for each paper and all, the share of its claims that hold, as rows of measures."""
    groups = [*found.groupby("paper", sort=False), ("all", found)]
    for paper, own in groups:
        for holds in (YES, NO, UNDECIDED):
            yield {
                "type": "IV",
                "paper": paper,
                "table": "reproducibility_findings",
                "item": "claims",
                "measure": f"share {holds}",
                "value": float((own["holds"] == holds).mean()),
                "n": len(own),
                "provenance": "shipped" if "shipped" in set(own["provenance"]) else "computed",
                "note": [],
            }


# ---- ways to decide ------------------------------------------------------------------------------


def _ends(row: Row, column: str) -> tuple[float, float]:
    """The interval of a number."""
    return number(row, f"{column}_low"), number(row, f"{column}_high")


def _span(row: Row, column: str) -> str:
    """The same in words."""
    low, high = _ends(row, column)
    return f"{low:.3f} to {high:.3f}"


def above(row: Row, column: str, ends: str = "", least: float = 0.0, of: str = "") -> Verdict:
    """Whether a number with an interval is above ``least``: 0 for a difference.

    ``of`` : what the row has n of; then an open question says how many would decide it
    """
    low, high = _ends(row, ends or column)
    value = number(row, column)
    if low > least or high < least:
        return Verdict(YES if low > least else NO, value)
    many = needed(value - least, least_between(low, high), _counted(row)) if of else math.nan
    return Verdict(UNDECIDED, value, _needed(many, of), many, value > least)


def _counted(row: Row) -> float:
    """How many texts a row is about, covered or not; NaN where it does not say."""
    value = row.get("n", "")
    return math.nan if value == "" or pd.isna(value) else float(value)


def opposite(verdict: Verdict) -> Verdict:
    """Of a claim that something is below, by whether it is above."""
    holds = {YES: NO, NO: YES}.get(verdict.holds, verdict.holds)
    return replace(verdict, holds=holds, toward=not verdict.toward)


def within(row: Row, column: str, margin: float, ends: str = "") -> Verdict:
    """Whether a difference is shown to be smaller than the margin, on either side of 0."""
    different = above(row, column, ends)
    low, high = _ends(row, ends or column)
    if -margin < low and high < margin:
        return Verdict(YES, different.value)
    return Verdict(NO if low >= margin or high <= -margin else UNDECIDED, different.value)


_SEEN = "would show a difference as large as the one seen"


def _needed(value: Any, of: str, shown: str = _SEEN) -> str:
    """How many it would take; nothing where no table says so."""
    if value == "" or pd.isna(value) or float(value) <= 0:
        return ""
    if (many := float(value)) > MANY:
        return f"no study could have the {of} that {shown}"
    # two digits: the difference seen has an error of its own
    rounded = round(many, 1 - math.floor(math.log10(many)))
    return f"about {rounded:,.0f} {of} {shown}"


def counted(condition: bool, value: float) -> Verdict:
    """A claim about numbers themselves, not about what they stand for."""
    return Verdict(YES if condition else NO, value)


def not_at_hand(*_: Any) -> Verdict:
    """The claim is about data that could not be had."""
    raise Unknown("its data could not be had")


# ---- BLEU Neighbors ------------------------------------------------------------------------------

_TABLE1, _SECTION, _ESSAYS = (
    "bleu_neighbors_table1",
    "bleu_neighbors_section53",
    "bleu_neighbors_table3",
)
_SUMMARIES = {"task": "huse_summarization", "reading": "published"}


def _highest_kernel(tables: Tables) -> Verdict:
    verdicts = [
        above(tables.row(_TABLE1, model=model, **_SUMMARIES), "bleu_difference", of="texts")
        for model in ("rouge", "meteor")
    ]
    return replace(_all_of(verdicts), value=min(one.value for one in verdicts))


def _all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """All must be shown: the one that is not, and asks for most; else the one nearest to 0."""
    for holds in (NO, UNDECIDED):
        if own := [one for one in verdicts if one.holds == holds]:
            return max(own, key=lambda one: 0 if math.isnan(one.many) else one.many)
    return min(verdicts, key=lambda one: abs(one.value))


_PEOPLE = "texts, and annotators in proportion,"


def _people_ahead(tables: Tables) -> Verdict:
    row = tables.row(_TABLE1, model="bleu", **_SUMMARIES)
    return above(row, "human_difference", of=_PEOPLE)


def _people_ahead_without_their_own(tables: Tables) -> str:
    row = tables.row(_TABLE1, model="bleu", task="huse_summarization", reading="others")
    found = replace(
        above(row, "human_difference"), needed=_needed(row.get("texts_needed", ""), _PEOPLE)
    )
    return (
        f"both measured against the labels of the others: {found.holds}, {found.value:.3f}"
        f" ({_span(row, 'human_difference')})" + (f"; {found.needed}" if found.needed else "")
    )


def _best_annotator_ahead(tables: Tables) -> Verdict:
    best, model = (tables.row(_TABLE1, model=name, **_SUMMARIES) for name in ("human_best", "bleu"))
    gap = number(best, "spearman") - number(model, "spearman")
    return counted(gap > 0, gap)


def _best_annotator_alone(tables: Tables) -> str:
    row = tables.row(_TABLE1, model="human_best", **_SUMMARIES)
    return (
        f"the best of {number(row, 'annotators'):.0f} annotators, picked on the same labels, would"
        " be ahead even if each were as good as the model; and its own labels count in the mean"
    )


def _smaller_error(tables: Tables) -> Verdict:
    return above(tables.row(_TABLE1, model="bleu", **_SUMMARIES), "human_mse_difference")


def _error_of_constant(tables: Tables) -> str:
    constant, model, people = (
        number(tables.row(_TABLE1, model=name, **_SUMMARIES), "mse")
        for name in ("constant", "bleu", "human_average")
    )
    return (
        f"the constant, the mean of all other texts, has an MSE of {constant:.4f} here, beside"
        f" {model:.4f} of the model and {people:.4f} of the average annotator: a single label has a"
        " spread that means have not"
    )


def _coverage_apart_from_rho(tables: Tables) -> Verdict:
    raise Unknown("three kernels on one data set are too few for a correlation")


def _no_easier(tables: Tables) -> Verdict:
    row = tables.row(_SECTION, model="bleu", task="huse_summarization")
    easier = tables.rows(_SECTION, numbers=False, model="bleu", task="huse_dialogue")
    least = number(easier[0] if easier else {}, "paper_relative_difference")
    if number(row, "n") - number(row, "n_covered") < FEW:
        raise Unknown("nearly all summaries are covered, so that their mean can hardly differ")
    return above(row, "relative_difference", least=least)


_NO_USE = 0.1
"""Rho below which grades are of no use: it explains a hundredth of the ranks' variance."""


def _essays(topic: str) -> Callable[[Tables], Row]:
    def row(tables: Tables) -> Row:
        for found in _by_topic(tables):
            if str(found["train_topic"]) == topic:
                return found
        raise Unknown(f"{_ESSAYS} has no published training set {topic}")

    return row


def _by_topic(tables: Tables) -> list[Row]:
    """The published variant of each published training set; of the paper's test set."""
    rows = [r for r in tables.rows(_ESSAYS, model="bleu_neighbors") if r["paper_spearman"] != ""]
    if not rows:
        raise Unknown(f"{_ESSAYS} has no numbers for the paper's test set")
    return list({row["train_topic"]: row for row in reversed(rows)}.values())


def _best_essays(tables: Tables) -> Verdict:
    quoted = tables.rows(_ESSAYS, numbers=False, reason="quoted")
    if not quoted:
        raise Unknown("no model is quoted")
    best = max(float(row["paper_spearman"]) for row in quoted)
    return above(_essays("8")(tables), "spearman", least=best, of="test essays")


def _same_stars(tables: Tables) -> Verdict:
    pairs = [(number(r, "p_below_0.01"), float(r["paper_p_below_0.01"])) for r in _by_topic(tables)]
    equal = float(np.mean([a == b for a, b in pairs]))
    return counted(equal == 1, equal)


def _no_use_of_set_4(tables: Tables) -> Verdict:
    row = _essays("4")(tables)
    return opposite(above(row, "spearman", least=_NO_USE, of="test essays"))


def _about_set_4(tables: Tables) -> str:
    """How many essays set 4 cannot tell apart, if many."""
    return f"set 4: {note}" if (note := str(_essays("4")(tables)["note"])) else ""


def _all_covered(tables: Tables) -> Verdict:
    least = min(number(row, "coverage") for row in _by_topic(tables))
    return counted(least == 1, least)


def _sets_differ(tables: Tables) -> Verdict:
    pairs = tables.rows(f"{_ESSAYS}_williams", against_is="training set")
    pairs = [row for row in pairs if not pd.isna(row["p_holm"])]
    if not pairs:
        raise Unknown("no two training sets are compared that share no essay")
    each = np.array([number(row, "p_value") for row in pairs])
    least = min(number(row, "p_holm") for row in pairs)
    # at the level of the first of so many tests, and with 80% power
    seen, asked = norm.isf(each.min() / 2), norm.isf(_LEVEL / len(pairs) / 2) + norm.isf(0.2)
    n = _counted(pairs[int(each.argmin())]) * (asked / seen) ** 2
    essays = _needed(n, "test essays")
    return Verdict(YES if least < _LEVEL else UNDECIDED, least, essays)


# ---- ΔBLEU ---------------------------------------------------------------------------------------

_TABLE2 = "delta_bleu_table2"
_OURS: Row = {"task": "dstc7"}
_MARGIN = 0.1
"""Of rho, below which two metrics are about level: less than the paper's own differences."""


_ANEW = "systems like these, and contexts in proportion,"


def _tested(
    a: str, references_a: str, b: str, references_b: str, **more: str
) -> Callable[[Tables], Row]:
    """The test of one metric against another; ``more`` are values of further columns."""
    named = {"metric_a": a, "references_a": references_a, "references_b": references_b, **more}
    return lambda tables: tables.row(f"{_TABLE2}_tests", metric_b=b, **named, **_OURS)


def _delta(
    sentence: str,
    row: Callable[[Tables], Row],
    *beside: Callable[[Tables], str],
    gain: bool = True,
) -> Claim:
    """A claim that the first metric of a test is ahead (or, without ``gain``, behind): decided with
    systems and contexts drawn anew; beside it, what holds of these systems."""

    def turned(verdict: Verdict) -> Verdict:
        return verdict if gain else opposite(verdict)

    def decide(tables: Tables) -> Verdict:
        own = row(tables)
        found = turned(above(own, "difference", "difference_systems"))
        return replace(found, needed=_needed(own.get("systems_needed", ""), _ANEW))

    def these(tables: Tables) -> str:
        own = row(tables)
        return _of_these(own, turned(above(own, "difference")))

    return Claim(_DELTA, sentence, f"{_TABLE2}_tests", _SYSTEMS, decide, [these, *beside])


def _of_these(row: Row, verdict: Verdict) -> str:
    return (
        f"for these {number(row, 'systems'):.0f} systems, with contexts alone drawn anew:"
        f" {verdict.holds} ({_span(row, 'difference')})"
    )


def _without_fallback(references: str) -> Callable[[Tables], str]:
    """The same test where no context takes part in which the human response stands in."""

    def said(tables: Tables) -> str:
        both = "delta_bleu", references, "bleu", references
        row = _tested(*both, lacking_a="ignored")(tables)
        return (
            "where contexts without such a reference count for neither, the difference is"
            f" {number(row, 'difference'):.3f} ({_span(row, 'difference')}, contexts alone drawn"
            " anew)"
        )

    return said


def _papers_best(tables: Tables) -> str:
    row = _tested("delta_bleu", "all", "bleu", "w>=0.6")(tables)
    return (
        "with the references that are best in the paper, all for ΔBLEU and w >= 0.6 for BLEU, the"
        f" difference is {number(row, 'difference'):.3f} ({_span(row, 'difference_systems')})"
    )


def _papers_threshold(tables: Tables) -> str:
    row = _tested("delta_bleu", "w>=0.6", "bleu", "w>=0.6")(tables)
    return (
        "with references of w >= 0.6 for both, the difference is"
        f" {number(row, 'difference'):.3f} ({_span(row, 'difference_systems')}; with contexts alone"
        f" drawn, {_span(row, 'difference')})"
    )


def _hangs_on_rule(tables: Tables) -> str:
    """How much ΔBLEU with all references hangs on the rule of smoothing, and on the centre."""
    rows = tables.rows(_TABLE2, metric="delta_bleu", references="all", **_OURS)
    # those that differ in nothing else; the first is the one that the tests are about
    named = [{one.split(" ")[0] for one in row["choices"].split(", ")} for row in rows]
    rows = [row for row, own in zip(rows, named, strict=True) if own <= {"", "rule", "centre"}]
    if not rows:
        raise Unknown(f"{_TABLE2} has no numbers for ΔBLEU with all references")
    rho = [number(row, "spearman") for row in rows]
    return (
        f"with all references, {number(rows[0], 'negative'):.0%} of the scores have a numerator"
        f" that is not positive, and the rule {rows[0]['rule']} says what they are; over rules and"
        f" centres, rho is from {min(rho):.2f} to {max(rho):.2f} there ({_TABLE2})"
    )


_SENTENCES = _tested("sbleu", "w>=0.6", "bleu", "w>=0.6")


def _level(tables: Tables) -> Verdict:
    row = _SENTENCES(tables)
    found = within(row, "difference", _MARGIN, "difference_systems")
    if found.holds != UNDECIDED:
        return found
    room = _MARGIN - abs(found.value)
    low, high = _ends(row, "difference_systems")
    n = needed(room, least_between(low, high), number(row, "systems"))
    side = "within" if room > 0 else "outside"
    said = _needed(n, _ANEW, f"would show that it lies {side} {_MARGIN:g}")
    return replace(found, needed=said, toward=room > 0)


def _level_of_these(tables: Tables) -> str:
    """At the paper's threshold, which decides, and at the one where rho is highest here."""
    said = []
    for references in ("w>=0.6", "w>=0.4"):
        row = _tested("sbleu", references, "bleu", references)(tables)
        said.append(f"{references}: {_of_these(row, within(row, 'difference', _MARGIN))}")
    return "; ".join(said)


# ---- RNN-QE --------------------------------------------------------------------------------------


_OUTPUTS = "outputs, and MRs in proportion,"


def _beside_constant(
    column: str, setups: Sequence[str] = ("1",), greater: bool = False
) -> Callable[[Tables], Verdict]:
    """Whether the error of all these set-ups, by the short schedule, is smaller than the constant's
    (or ``greater``)."""

    def decide(tables: Tables) -> Verdict:
        rows = [tables.row(_QE3, setup=setup, reading="") for setup in setups]
        found = [above(row, f"{column}_less_constant", of=_OUTPUTS) for row in rows]
        return _all_of([one if greater else opposite(one) for one in found])

    return decide


def _by_the_papers_schedule(column: str, setups: Sequence[str] = ("1",)) -> Callable[[Tables], str]:
    def said(tables: Tables) -> str:
        rows = [tables.row(_QE3, setup=setup, reading="paper") for setup in setups]
        name = f"{column}_less_constant"
        found = [f"{number(row, name):.3f} ({_span(row, name)})" for row in rows]
        return f"by the paper's schedule, the difference is {', '.join(found)}"

    return said


_ERRORS = ("mae", "rmse")


def _smaller_errors_than_metrics(tables: Tables) -> Verdict:
    own = tables.row(_QE3, setup="1", reading="")
    others = tables.rows(_QE3, reading="floor")  # the metrics alone have such rows
    if not others:
        raise Unknown(f"{_QE3} has no numbers of the metrics")
    pairs = [(row, error) for row in others for error in _ERRORS]
    gap = max(number(own, error) - number(row, error) for row, error in pairs)
    ends = [(_ends(own, error), _ends(row, error)) for row, error in pairs]
    if all(high < least for (_, high), (least, _) in ends):
        return Verdict(YES, gap)
    return Verdict(NO if any(low > most for (low, _), (_, most) in ends) else UNDECIDED, gap)


def _mostly_no_better_than_constant(table: str) -> Callable[[Tables], Verdict]:
    def decide(tables: Tables) -> Verdict:
        rows = tables.rows(table, setup=list("123456"), reading="")
        if not rows:
            raise Unknown(f"{table} has no set-up with numbers")
        gap, p = (
            np.array([[number(row, f"{e}_less_constant{end}") for e in _ERRORS] for row in rows])
            for end in ("", "_p")
        )
        # a set-up is better in both errors; one would do to be no better, so each has half of the
        # level. Then Holm over the set-ups, which are counted
        worse = np.where(gap > 0, np.minimum(len(_ERRORS) * p, 1), 1).min(axis=1)
        better = (holm(np.where(gap < 0, p, 1).max(axis=1)) < _LEVEL).mean()
        no_better = (holm(worse) < _LEVEL).mean()
        holds = NO if better > 0.5 else YES if no_better > 0.5 else UNDECIDED
        seen = int((gap > 0).any(axis=1).sum())
        said = (
            f"of {len(rows)} set-ups, {no_better:.0%} are shown to be no better and {better:.0%} to"
            f" be better; by value alone, {seen} have a greater error in one or both"
        )
        return Verdict(holds, float(no_better), said)

    return decide


_QE3, _QE4, _QE5 = (f"rnn_qe_table{number}" for number in (3, 4, 5))
_PAIRED = "95% interval of the difference, on the same draws of contexts"
_WITH_PEOPLE = f"{_PAIRED} and annotators"
_MOSTLY = (
    "share of set-ups shown to be no better (MAE or RMSE is greater, p over MRs and seeds corrected"
    " for the two errors, and by Holm for the set-ups) more than a half; no if more than a half are"
    " shown to be better (in both)"
)
_SYSTEMS = "95% interval of the difference, systems and contexts drawn anew"

CLAIMS = [
    Claim(
        _NEIGHBORS,
        "On summaries, BLEU* as the kernel has a higher rho than ROUGE-L and METEOR have",
        _TABLE1,
        f"{_PAIRED}, over the texts that both kernels cover: both above 0; no if one is below,"
        " uncorrected",
        _highest_kernel,
    ),
    Claim(
        _NEIGHBORS,
        "On summaries, the average annotator has a higher rho than BLEU Neighbors",
        _TABLE1,
        _WITH_PEOPLE,
        _people_ahead,
        [_people_ahead_without_their_own],
    ),
    Claim(
        _NEIGHBORS,
        "On summaries, the best annotator has a higher rho than BLEU Neighbors",
        _TABLE1,
        "counted: of the annotators, the best is picked on the same labels",
        _best_annotator_ahead,
        [_best_annotator_alone],
    ),
    Claim(
        _NEIGHBORS,
        "On summaries, BLEU Neighbors has a smaller squared error than the average annotator",
        _TABLE1,
        _WITH_PEOPLE,
        _smaller_error,
        [_error_of_constant],
    ),
    Claim(
        _NEIGHBORS,
        "On dialogue and generation, BLEU Neighbors has a higher rho than the average annotator",
        _TABLE1,
        _WITH_PEOPLE,
        not_at_hand,
    ),
    Claim(
        _NEIGHBORS,
        "Over kernels, coverage has nothing to do with error and rho",
        _TABLE1,
        "a correlation over kernels",
        _coverage_apart_from_rho,
    ),
    Claim(
        _NEIGHBORS,
        "Training on another task still gives a rho above 0.27 on dialogue",
        "bleu_neighbors_table2",
        "the value",
        not_at_hand,
    ),
    Claim(
        _NEIGHBORS,
        "Covered summaries are no easier for annotators than all are",
        _SECTION,
        "95% interval of the relative difference excludes one as large as the paper's on dialogue",
        _no_easier,
    ),
    Claim(
        _NEIGHBORS,
        "Covered dialogue is easier for annotators, which explains its rho in part at most",
        _SECTION,
        "permutation test",
        not_at_hand,
    ),
    Claim(
        _NEIGHBORS,
        "Trained on essays of set 8, rho is above that of all quoted models (not significantly, as"
        " the paper says)",
        _ESSAYS,
        "95% interval of rho above the best of theirs",
        _best_essays,
    ),
    Claim(
        _NEIGHBORS,
        "The training sets of essays that have a star (p < 0.01) are those of the paper",
        _ESSAYS,
        "counted: all stars are equal",
        _same_stars,
    ),
    Claim(
        _NEIGHBORS,
        "Essays of set 4 are of no use for grading set 3",
        _ESSAYS,
        f"95% interval of rho below {_NO_USE:g}; no if above",
        _no_use_of_set_4,
        [_about_set_4],
    ),
    Claim(
        _NEIGHBORS,
        "How good grades are hangs on the training set",
        f"{_ESSAYS}_williams",
        "Williams' test of all pairs of training sets that share no essay, least p corrected by"
        " Holm < 0.05",
        _sets_differ,
        [_about_set_4],
    ),
    Claim(
        _NEIGHBORS,
        "Every test essay gets a grade, whichever set trains",
        _ESSAYS,
        "counted: the least coverage is 1",
        _all_covered,
    ),
    _delta(
        "ΔBLEU follows ratings more closely than BLEU, each with its best references",
        _tested("delta_bleu", "w>=0.4", "bleu", "w>=0.4"),
        _without_fallback("w>=0.4"),
        _papers_best,
        _papers_threshold,
    ),
    _delta(
        "ΔBLEU follows ratings more closely than sentence BLEU, each with its best references",
        _tested("delta_bleu", "w>=0.4", "sbleu", "w>=0.4"),
    ),
    _delta(
        "ΔBLEU follows ratings more closely than BLEU, both with the single reference",
        _tested("delta_bleu", "single", "bleu", "single"),
    ),
    _delta(
        "BLEU gets worse from good references to all",
        _tested("bleu", "all", "bleu", "w>=0.6"),
        gain=False,
    ),
    _delta(
        "ΔBLEU gets better from good references to all",
        _tested("delta_bleu", "all", "delta_bleu", "w>=0.6"),
        _hangs_on_rule,
    ),
    _delta(
        "ΔBLEU gains from references with negative ratings",
        _tested("delta_bleu", "all", "delta_bleu", "w>=0"),
        _hangs_on_rule,
    ),
    Claim(
        _DELTA,
        "Sentence BLEU and BLEU are about level",
        f"{_TABLE2}_tests",
        f"{_SYSTEMS}, lies within {_MARGIN:g}",
        _level,
        [_level_of_these],
    ),
    Claim(
        _QE,
        "Set-up 1 has smaller errors than each of the four metrics",
        _QE3,
        "the 95% intervals of set-up 1 and of each metric do not overlap, for MAE and RMSE; no if"
        " one metric is shown to be better, uncorrected",
        _smaller_errors_than_metrics,
    ),
    Claim(
        _QE,
        "Set-up 1 has a smaller absolute error than the constant",
        _QE3,
        "95% interval of the difference below 0, on the same draws",
        _beside_constant("mae"),
        [_by_the_papers_schedule("mae")],
    ),
    Claim(
        _QE,
        "Set-up 1 has a greater squared error than the constant",
        _QE3,
        "95% interval of the difference above 0, on the same draws",
        _beside_constant("rmse", greater=True),
        [_by_the_papers_schedule("rmse")],
    ),
    Claim(
        _QE,
        "Set-ups 4 and 6 have a smaller squared error than the constant",
        _QE3,
        "95% intervals of both differences below 0, on the same draws; no if one is above 0,"
        " uncorrected",
        _beside_constant("rmse", ("4", "6")),
        [_by_the_papers_schedule("rmse", ("4", "6"))],
    ),
    Claim(
        _QE,
        "On another domain, most set-ups are no better than the constant in error",
        _QE4,
        _MOSTLY,
        _mostly_no_better_than_constant(_QE4),
    ),
    Claim(
        _QE,
        "On another system, most set-ups are no better than the constant in error",
        _QE5,
        _MOSTLY,
        _mostly_no_better_than_constant(_QE5),
    ),
]
