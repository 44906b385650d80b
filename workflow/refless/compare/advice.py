"""The recommendation and the warnings, in words that follow from the tests.

Stage: table -> words. In: a comparison. Out: sentences.

The rule, for one split: of the methods that look at the text, and somebody else's scores, the one
with the greatest Pearson's r is tested against every trivial method by a paired bootstrap at 5%,
with Holm's correction; p is first multiplied by the number of methods that it was picked from. A
trivial method that ranks nothing, as the constant, has an r of 0 there. The best one
is recommended if it beats them all, and its r among the texts of one system is above 0, where there
are systems; a trivial method that is level with it there is named. The others
of its kind are named as not told apart from it unless they are significantly worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.compare import curve
from refless.compare.compared import Comparison, Key, difference, estimate, label, p_value
from refless.compare.measures import WITHIN, Draws
from refless.compare.predicted import TRIVIAL, named
from refless.compare.rated import Rated
from refless.compare.splits import Split
from refless.data.wording import ASIDE, wording
from refless.statistics import ENOUGH_UNITS, Estimate, drawn_whole
from refless.statistics.ratings_saved import ratings_saved

NOTHING = np.array([np.nan])
LEVEL = 0.05
JUDGED_WITH = 50
"""Ratings beside which somebody else's scores are put."""
LEAST_WIDTH = 0.02
"""The share of the scale's width that ratings use, below which squared errors round to 0."""
ITSELF = 0.96
"""Pearson's r with ratings from which on a score may be made from them: people who rate the same
texts do not agree so much."""
FEW = 200
"""Ratings below which intervals are mostly too wide to tell methods apart."""


@dataclass(frozen=True)
class Verdict:
    """What the tests say of one split.

    kind : ``use`` (better than every trivial method), ``systems`` (the same, but only shown to tell
        systems apart), ``trivial`` (not told from one of them) or ``none`` (nothing goes with the
        ratings)
    best : the method that it is about, None where nothing can rank
    rivals : the trivial methods that it is not told apart from
    equals : other methods that it is not told apart from
    within : the trivial methods that it is not told apart from among texts of one system
    """

    split: str
    kind: str
    best: Key | None
    rivals: tuple[Key, ...]
    equals: tuple[Key, ...]
    within: tuple[Key, ...] = ()


def place(found: Comparison, split: str) -> str:
    """What a split stands for, in words."""
    if split == "systems":
        return "texts of a new system"
    if split == "contexts":
        return "texts in a new context"
    known = [own.name for own in found.splits if own.name != "texts"]
    return f"new texts of {' and '.join(known) or 'the same kind'}" + (
        " that have ratings" if known else ""
    )


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """P-values corrected for how many there are. Source: Holm (1979)."""
    corrected: dict[Key, float] = {}
    most = 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[key]))
        corrected[key] = most
    return corrected


def verdict(found: Comparison, split: str) -> Verdict:
    """By the rule at the top of this module."""
    own = {key: drawn for key, drawn in found.draws.items() if key[0] == split}
    ranks = {key: d["pearson"][0] for key, d in own.items() if not np.isnan(d["pearson"][0])}
    real = [key for key in ranks if key[1] not in TRIVIAL]
    best = max(real, key=lambda key: ranks[key]) if real else None
    if best is None:
        return Verdict(split, "none", None, (), ())

    def not_beaten(
        keys: Sequence[Key], measure: str = "pearson", picked_from: int = 1
    ) -> tuple[Key, ...]:
        gaps = {key: difference(found.draws, found.first, best, key, measure) for key in keys}
        p_values = holm({key: picked_from * p_value(gap) for key, gap in gaps.items()})
        return tuple(k for k in keys if p_values[k] >= LEVEL or gaps[k][0] <= 0)

    trivial = [key for key in ranks if key[1] in TRIVIAL]
    # all that rank nothing are one comparison, with 0
    nothing = [key for key in own if key[1] in TRIVIAL and key not in ranks][:1]
    twins = {(key[1].removesuffix(".calibrated"), key[2]) for key in real}  # raw or calibrated
    unbeaten = not_beaten([*trivial, *nothing], picked_from=len(twins))
    rivals = tuple(key for key in unbeaten if key in ranks)
    within = [key for key in trivial if not np.isnan(own[key].get("pearson_within", NOTHING)[0])]
    level = not_beaten(within, "pearson_within") if "pearson_within" in own[best] else ()
    twin = best[1].removesuffix(".calibrated")
    equals = not_beaten([k for k in real if k[1].removesuffix(".calibrated") != twin or k[2]])
    equals = tuple(key for key in equals if key != best)
    above = not set(nothing).intersection(unbeaten) and estimate(own[best]["pearson"]).low > 0
    able = "systems" if _tells_only(found, best, "systems") else "use"
    kind = "none" if not above else "trivial" if rivals else able
    if kind == "none" and any(estimate(own[key]["pearson"]).low > 0 for key in rivals):
        kind = "trivial"
    return Verdict(split, kind, best, rivals, equals, level)


def _saved(own: Mapping[str, np.ndarray]) -> tuple[str, Estimate]:
    """What predictions save, of one system's mean where there are systems."""
    within = "pearson_within" in own and not np.isnan(own["pearson_within"][0])
    what = "the mean quality of one system" if within else "the mean quality of such texts"
    return what, estimate(ratings_saved(own["pearson_within" if within else "pearson"]))


def recommendation(found: Comparison) -> list[str]:
    """The recommendation for the split that matters most; then a sentence for each other split."""
    main = found.main_split()
    others = [split.name for split in found.splits if split.name != main]
    return [_sentences(found, verdict(found, main)), *(_short(found, o) for o in others)]


def _sentences(found: Comparison, given: Verdict) -> str:
    where = place(found, given.split)
    if given.best is None or given.kind == "none":
        text = f"For {where}, trust none of these methods: none goes with the ratings for sure"
        if given.best is not None:
            text += f" ({_described(found, given.best)} comes nearest)"
        return text + ". Rate the texts, or rate more of them and compare again."
    own = found.draws[given.best]
    name = label(*given.best[1:])
    if given.kind == "trivial":
        strongest = max(given.rivals, key=lambda key: found.draws[key]["pearson"][0])
        return (
            f"For {where}, no method that looks at the text is shown to beat the trivial method"
            f" {strongest[1]} ({_r(found, strongest)}); the best of them is"
            f" {_described(found, given.best)}."
            + (
                " It is shown to be worse: do not use it."
                if _is_worse(found, given.best, strongest)
                else " Do not use it before more ratings tell them apart."
            )
        )
    what, saved = _saved(own)
    described = _described(found, given.best)
    if given.kind == "systems":
        text = (
            f"For {where}, put no method in the place of ratings. {described} beats every trivial"
            " method, but it is only shown to tell systems apart: among texts of one system no"
            " correlation is shown."
        )
    else:
        text = f"For {where}, use {described}. It beats every trivial method{_on(found, given)}."
        if given.within:
            names = _listed([label(*key[1:]) for key in given.within])
            text += f" Among texts of one system alone it is not shown to beat {names}."
        if _tells_only(found, given.best, "contexts"):
            text += (
                " Among texts of one context no correlation is shown: do not choose between those"
                " by it."
            )
    if given.equals:
        text += f" Not told apart from it: {_listed([label(*key[1:]) for key in given.equals])}."
    text += (
        f" With many predictions beside the ratings, {name} saves {_percent(saved)} of the ratings"
        f" that {what} takes."
    )
    if "pairwise_accuracy" in own and not np.isnan(own["pairwise_accuracy"][0]):
        pairs = estimate(own["pairwise_accuracy"])
        text += f" It orders {_percent(pairs)} of the pairs of systems as people do."
    return text


def _is_worse(found: Comparison, key: Key, rival: Key) -> bool:
    gap = difference(found.draws, found.first, key, rival)
    return bool(gap[0] < 0 and p_value(gap) < LEVEL)


def _short(found: Comparison, split: str) -> str:
    given, where = verdict(found, split), place(found, split)
    if given.best is None or given.kind == "none":
        return f"For {where}: none."
    if given.kind == "trivial":
        strongest = max(given.rivals, key=lambda key: found.draws[key]["pearson"][0])
        return (
            f"For {where}: {_described(found, given.best)} is not shown to beat the trivial method"
            f" {strongest[1]} ({_r(found, strongest)})."
        )
    apart = [what for what in WITHIN if _tells_only(found, given.best, what)]
    but = f" but may only tell {' and '.join(apart)} apart" if apart else ""
    beats = f"which beats every trivial method{_on(found, given)}"
    return f"For {where}: {_described(found, given.best)}, {beats}{but}."


def _on(found: Comparison, given: Verdict) -> str:
    """What a test that draws texts alone is about, where systems or contexts are left out."""
    split = next(own for own in found.splits if own.name == given.split)
    few = split.name == "contexts" and len(np.unique(split.group[split.inside])) < ENOUGH_UNITS
    return f" on the {split.name} at hand" if few or split.name == "systems" else ""


def judged(rated: Rated, found: Comparison) -> list[str]:
    """Somebody else's scores beside what a method of ours makes of `JUDGED_WITH` ratings."""
    trained = [key for key in found.curve_draws if key[1] == JUDGED_WITH]
    where = place(found, found.main_split())
    sentences = []
    for name, own in other_scores(rated, found).items():
        raw = estimate(own["pearson"])
        if raw.high < 0:
            sentences.append(
                f"{name} goes against the ratings (Pearson's r {_number(raw)} on {where})."
                " If less of it is better, give it with the other sign."
            )
        elif trained:
            best = max(trained, key=lambda one: found.curve_draws[one][0])
            # the curve is of the first deal
            given = found.first[found.main_split(), named(name), ""]["pearson"]
            shown = estimate(np.nan_to_num(given) - found.curve_draws[best])
            told = shown.low > 0 or shown.high < 0
            word = f"worth {'more' if shown.low > 0 else 'less'} than" if told else "not told from"
            sentences.append(
                f"{name} is {word} {JUDGED_WITH} ratings: its Pearson's r less that of {best[0]}"
                f" with {JUDGED_WITH} ratings is {_number(shown)} on {where}."
            )
    return sentences


def other_scores(rated: Rated, found: Comparison) -> dict[str, Draws]:
    """Somebody else's scores, as they were given, on the split that matters most."""
    keys = {named(name): (found.main_split(), named(name), "") for name in rated.scores}
    return {name: found.draws[key] for name, key in keys.items() if key in found.draws}


def warnings(rated: Rated, found: Comparison) -> list[str]:
    """What a reader has to know before trusting the table."""
    said = list(rated.warnings)
    different = rated.different
    if different < ENOUGH_UNITS:
        said.append(
            f"{different} different texts are too few for intervals and tests, so no method is"
            f" recommended. Rate {ENOUGH_UNITS} or more that differ."
        )
    elif different < FEW:
        said.append(
            f"{different} different texts are few: intervals are wide, and a method that is not"
            " told from another may still be better."
        )
    systems = len(rated.memberships()[0])
    contexts = 0 if rated.apart is None else int(rated.apart.max()) + 1
    if 1 < contexts < ENOUGH_UNITS <= different:
        over = "texts" if drawn_whole(rated.context) is None else "MRs with their values"
        said.append(
            f"{contexts} contexts are few: intervals are over {over}, and a method may do otherwise"
            " with the next context."
        )
    if systems > 1:
        said.append(
            f"The {systems} systems are not drawn anew: intervals say nothing of the next system,"
            " and what is shown for all texts may be shown of these systems alone."
        )
    said += _far_away(rated)
    said += [
        _repeated(split, found.deals.get(split.name, 1)) for split in found.splits if split.repeated
    ]
    if different < len(rated):
        said.append(
            f"{len(rated) - different} of {len(rated)} texts repeat an earlier one ({ASIDE})."
            " A random split would put them on both sides; here new texts never are."
        )
    again, twice = _same_rows(rated)
    if again:
        said.append(
            f"{again} of {len(rated)} rows have the same text, system and context as an earlier"
            f" one, and {twice} of them the same quality too. If several people rated these texts,"
            " add a column rater, and write them alike: then each text is one row. If a file is"
            " there twice, take one away."
        )
    if (width := float(np.ptp(rated.quality))) < LEAST_WIDTH:
        said.append(
            f"The ratings use {width:.2g} of the scale's width, so squared errors are tiny, and 0"
            " to the digits of a page; comparison.csv has them. Give the scale as it is: --scale."
        )
    said += _only_apart(found)
    split = next((one for one in found.splits if one.name == found.curve_split), None)
    # of what the curve has, ridge regression has all
    ends = split is not None and ("ridge", curve.whole(split)) in found.curve_draws
    if split is not None and (curve.cut_short(split) or not ends):
        said.append(
            f"The {found.curve_split} differ in size, so the learning curve ends where a fold has"
            " too few texts to give as many as the others, or is not there at all. Scores are set"
            " beside what is on it."
        )
    for name in rated.scores:
        missing = int(np.isnan(rated.scores[name]).sum())
        if missing == len(rated):
            said.append(f"score_{name} is missing for all texts, so nothing is said of it.")
        elif missing:
            said.append(
                f"score_{name} is missing for {missing} of {len(rated)} texts; its mean stands in"
                " there."
            )
    off = [f"score_{name}" for name in rated.scores if not rated.on_scale(name)]
    if off:
        said.append(
            f"Off the ratings' scale, or within less than half of it: {_listed(off)}. There raw"
            " squared errors are not shown, see the calibrated ones."
        )
    if same := [f"score_{name}" for name, own in rated.scores.items() if _is_rating(own, rated)]:
        said.append(
            f"So close to the ratings that it may be made from them: {_listed(same)}. If it is,"
            " nothing is said by that."
        )
    copied = _copied(rated)
    if copied:
        said.append(
            f"{copied} texts are word for word among their own references, which flatters bleu and"
            " delta_bleu."
        )
    said += [f"No split by {name}: {reason}." for name, reason in found.why.items()]
    return said


def _same_rows(rated: Rated) -> tuple[int, int]:
    """How many rows rate again what an earlier one rates, and how many with the same quality."""
    nothing = [None] * len(rated)
    context = nothing if rated.context is None else rated.context.tolist()
    rows = list(zip(rated.texts, rated.systems or nothing, context, strict=True))
    whole = set(zip(rows, rated.quality.tolist(), strict=True))
    return len(rated) - len(set(rows)), len(rated) - len(whole)


def _far_away(rated: Rated) -> list[str]:
    """A few ratings that decide every squared error and Pearson's r."""
    low, high = rated.quality.min(), rated.quality.max()
    # between the quantiles, so that of a few ratings the last one is left out at either end
    middle_low = np.quantile(rated.quality, 0.01, method="higher")
    middle_high = np.quantile(rated.quality, 0.99, method="lower")
    if high - low < 4 * (middle_high - middle_low):
        return []
    least, most = rated.scale

    def given(value: float) -> float:
        return least + value * (most - least)

    return [
        f"A few ratings lie far from all others: they go from {given(low):g} to {given(high):g},"
        f" nearly all of them from {given(middle_low):g} to {given(middle_high):g}. These few"
        " decide Pearson's r and squared errors. Mend them, or give ranks instead."
    ]


def _repeated(split: Split, deals: int) -> str:
    most = "up to " if deals > 1 else ""
    return (
        f"Split {split.name}: {most}{split.repeated} of {int(split.inside.sum())} texts stand word"
        " for word in their training part, since several systems or contexts have them."
    )


def _only_apart(found: Comparison) -> list[str]:
    """Methods that go with the ratings over all texts, but not among texts of one system, or of one
    context."""
    said = []
    for split in found.splits:
        keys = [key for key in found.draws if key[0] == split.name and key[1] not in TRIVIAL]
        for what in WITHIN:
            # of contexts once, where they are left out, but for what has no row there
            there = [
                k
                for k in keys
                if what in ("systems", split.name) or (what, *k[1:]) not in found.draws
            ]
            if some := [label(*key[1:]) for key in there if _tells_only(found, key, what)]:
                said.append(
                    f"Split {split.name}: {_listed(some)} may only tell {what} apart, for among"
                    f" texts of one {what[:-1]} no correlation with the ratings is shown."
                )
    return said


def _tells_only(found: Comparison, key: Key, what: str) -> bool:
    """Whether a method goes with the ratings, and not among texts of one of the ``what``, systems
    or contexts, as far as is shown. Of contexts only the split that leaves them out tells:
    elsewhere a method that learns the other ratings of a context falls as the own one rises. What
    needs ratings of the own context is not there, so of it nothing is shown."""
    own = found.draws[key]
    if what == "contexts" and (what, *key[1:]) not in found.draws:
        return any(split == what for split, *_ in found.draws) and estimate(own["pearson"]).low > 0
    within = found.draws.get((what, *key[1:]), {}) if what == "contexts" else own
    name = WITHIN[what]
    return (
        name in within and estimate(own["pearson"]).low > 0 and not estimate(within[name]).low > 0
    )


def _is_rating(score: np.ndarray, rated: Rated) -> bool:
    """Whether a score goes with the ratings as closely as if it were these, rounded."""
    known = ~np.isnan(score)
    if known.sum() < 3 or np.ptp(score[known]) == 0 or np.ptp(rated.quality[known]) == 0:
        return False
    return bool(abs(np.corrcoef(score[known], rated.quality[known])[0, 1]) > ITSELF)


def _copied(rated: Rated) -> int:
    if rated.references is None:
        return 0
    pairs = zip(rated.texts, rated.references, strict=True)
    return sum(wording(text) in set(map(wording, own)) for text, own in pairs)


def _described(found: Comparison, key: Key) -> str:
    return f"{label(*key[1:])} ({_r(found, key)})"


def _r(found: Comparison, key: Key) -> str:
    return f"Pearson's r {_number(estimate(found.draws[key]['pearson']))}"


def _number(shown: Estimate) -> str:
    if np.isnan(shown.low):
        return f"{shown.value:.2f}, no interval"
    return f"{shown.value:.2f}, 95% {shown.low:.2f} to {shown.high:.2f}"


def _percent(shown: Estimate) -> str:
    if np.isnan(shown.low):
        return f"{shown.value:.0%} (no interval)"
    return f"{shown.value:.0%} (95% {shown.low:.0%} to {shown.high:.0%})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
