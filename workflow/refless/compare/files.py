"""A comparison as files: table, page for reading, report, record, predictions.

Stage: table. In: a comparison. Out: ``comparison.csv``, ``comparison.md``, ``report.html`` (opens
offline, asks for nothing), ``comparison.json``, ``predictions.csv``, ``learning_curve.csv``. None
of them holds a text, a time or a path, so the same ratings and seed give the same bytes.
"""

from __future__ import annotations

import base64
import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.compare import advice
from refless.compare.compared import Comparison, Settings, estimate, label
from refless.compare.predicted import MAX_SHARE, MIN_NEIGHBORS, TAUS, TRIVIAL
from refless.compare.rated import Rated
from refless.kernels.signatures import sign
from refless.report import figures_compare as draw
from refless.report.catalogue import Section, catalogue
from refless.report.figures import empty_figure
from refless.report.render import Part, page, parts_of
from refless.report.tables import markdown_page
from refless.store.files import json_text, text_sum, write_together
from refless.store.sealed import table_text

FILES = ("comparison.csv", "comparison.md", "report.html", "comparison.json")
BESIDE = ("predictions.csv", "learning_curve.csv")
TITLE = "Which method predicts these ratings?"
DIGITS = 6
"""Digits after the point in the files, and as many that tell of a number below 0.1, where it may
lie on any scale: the last bits of a sum hang on the machine."""
NOISE = 1e-15
"""A value that is this share of the largest of its column is what rounding left."""
DECISIVE = ("numpy", "scipy", "pandas", "numba", "scikit-learn")
KEY = (
    "Every estimate is of a text that the method has not seen: it learns from the other folds, and"
    " thresholds and regularisation are chosen inside these.",
    "Texts are dealt to folds several times; the column deals says how often, and pearson_least and"
    " pearson_most are r in the worst and the best of the deals. Where each system is"
    " a fold of its own, there is one deal. Correlations, errors and coverage are means over the"
    " deals, and so are the draws of their intervals. Of the first deal are RNN-QE, the thresholds"
    " that are shown, and the learning curve but for its last point. The difference of RNN-QE is"
    " from the trivial method in that deal.",
    "Intervals draw the texts that are predicted, and hold for models trained as they are here."
    " What other training texts would change is not in them: for the next sample of texts, a 95%"
    " interval is too narrow, the more so, the fewer texts there are.",
    "All methods are measured on the same candidates. Where a method abstains, the mean of its"
    " training part stands in; coverage says how often it does not, and the columns that end in"
    " _covered are over the covered candidates alone.",
    "Correlations are among the texts of each fold (where systems are left out: of each system),"
    " all together: the mean of a training part falls as the ratings that are left out rise, so"
    " that across folds it would decide.",
    f"Trivial methods ({', '.join(TRIVIAL)}) learn nothing about"
    " words that they could carry to another text. difference is Pearson's r less that of the best"
    " trivial method, with its p, not corrected for the number of methods; the recommendation is.",
    "pairwise_accuracy: pairs of systems whose estimates are in the order of their mean ratings,"
    " where there are three systems and they tie the folds together; a system's estimate is its"
    " mean, the folds' own parts taken off. Where each context has a text of each system, the"
    " context's other texts are those of the other systems: what leans on their ratings"
    " (context_mean, delta_bleu) is the lower, the better the text's own system is."
    " ratings_saved: r squared, the share of the ratings that is saved when the mean quality of all"
    " texts is estimated from ratings together with many predictions"
    " (prediction-powered inference with power tuning);"
    " ratings_saved_within: the same for the mean of one system, from the correlation within"
    " systems.",
    "Squared errors are on the ratings' scale, brought to 0 to 1.",
)
ENTRY = replace(
    catalogue()["comparison"],
    paper="Your ratings",
    caption="",
    sections=(Section(title="New {value}", by="split"),),
)


def record_of(
    rated: Rated, found: Comparison, settings: Settings, sums: Mapping[str, str]
) -> dict[str, Any]:
    """What decides the numbers, for ``comparison.json``.

    ``sums`` are the SHA-256 of the input files by name.
    """
    ratings = [repr(float(value)) for value in rated.quality]
    from refless.kernels import signature

    data = text_sum([*rated.texts, *ratings])
    return {
        "refless": importlib.metadata.version("refless"),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in DECISIVE},
        "input": dict(sums),
        "settings": {
            "scale": list(rated.scale),
            "kernels": list(settings.kernels),
            "draws": settings.draws,
            "seed": settings.seed,
            "deals": settings.deals,
            "learning_curve": settings.curve,
            "taus": list(TAUS),
            "min_neighbors": list(MIN_NEIGHBORS),
            "max_share": MAX_SHARE,
        },
        "signature": sign(["compare/compared.py", "compare/advice.py"], data, packages=DECISIVE),
        "kernels": {
            name: signature(name, data, **settings.options.get(name, {}))
            for name in settings.kernels
        },
        "texts": len(rated),
        "splits": {
            split.name: {
                "folds": split.folds,
                "deals": found.deals[split.name],
                "candidates": int(split.inside.sum()),
                "repeated": split.repeated,
            }
            for split in found.splits
        },
        "no_split": found.why,
        "recommendation": advice.recommendation(found),
        "judged": advice.judged(rated, found),
        "warnings": advice.warnings(rated, found),
        "verdicts": {split.name: advice.verdict(found, split.name).kind for split in found.splits},
    }


def rounded(table: pd.DataFrame, scores: bool = False) -> pd.DataFrame:
    """Numbers to `DIGITS` after the point; notes in one cell.

    Squared errors have at least `DIGITS` digits that tell, and so has each number where the table
    holds ``scores``: on a wide scale all of them are tiny.
    """
    table = table.copy()
    for name in table.select_dtypes("number"):
        squared = str(name).startswith("mse")
        if scores or squared:
            table[name] = significant(table[name], DIGITS, NOISE**2 if squared else NOISE)
        else:
            table[name] = table[name].round(DIGITS)
    if "note" in table:
        table["note"] = [" | ".join(note) for note in table["note"]]
    return table


def significant(values: pd.Series, digits: int, noise: float = 0.0) -> pd.Series:
    """To ``digits`` after the point; numbers below 0.1 to that many digits from their first.

    noise : the share of the largest up to which a number is left as 0
    """
    size = values.abs()
    tiny = (size < 0.1) & (size > noise * size.max())
    return values.round(digits).where(~tiny, [float(f"{value:.{digits}g}") for value in values])


def write_comparison(
    rated: Rated, found: Comparison, settings: Settings, folder: str | Path, sums: Mapping[str, str]
) -> None:
    """Write all files of a comparison, or none of them.

    Raises
    ------
    OutputError : a file cannot be written.
    """
    folder = Path(folder)
    record = record_of(rated, found, settings, sums)
    table = rounded(found.table)
    texts = {
        "comparison.csv": table_text(table),
        "predictions.csv": table_text(rounded(found.predictions, scores=True)),
        "comparison.md": _markdown(found, record),
        "report.html": _page(rated, found, record, table),
        "comparison.json": json_text(record),
    }
    if len(found.curve):
        texts["learning_curve.csv"] = table_text(rounded(found.curve))
    write_together({folder / name: text for name, text in texts.items()})
    if not len(found.curve):  # that of a comparison before
        (folder / "learning_curve.csv").unlink(missing_ok=True)


def _markdown(found: Comparison, record: Mapping[str, Any]) -> str:
    said = [*record["recommendation"], *record["judged"]]
    warned = "\n".join(f"- {sentence}" for sentence in record["warnings"])
    caption = "\n\n".join([*said, f"Before you trust it:\n\n{warned}", *KEY])
    return markdown_page(ENTRY, _shown(found.table), f"{caption}\n\ntexts: {record['texts']}")


def _page(rated: Rated, found: Comparison, record: Mapping[str, Any], table: pd.DataFrame) -> str:
    main = found.main_split()
    order = [main, *(split.name for split in found.splits if split.name != main)]
    systems = 0 if rated.systems is None else len(rated.memberships()[0])
    contexts = 0 if rated.apart is None else int(rated.apart.max()) + 1
    about = f"{len(rated):,} rated texts"
    about += f", {systems} systems" if systems else ""
    about += f", {contexts:,} contexts" if contexts else ""
    return page(
        "compare.html",
        title=TITLE,
        about=f"{about}. Every method is asked about texts that it has not seen.",
        advice=[*record["recommendation"], *record["judged"]],
        warnings=record["warnings"] or ["Nothing was noticed."],
        views={name: _view(table, name) for name in order},
        left_out={name: _left_out(found.table, name) for name in order},
        places={name: _capital(advice.place(found, name)) for name in order},
        pictures=_pictures(rated, found, main),
        key=KEY,
        record=record,
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _view(table: pd.DataFrame, split: str) -> list[Part]:
    own = table[(table["split"] == split) & table["coverage"].notna()].sort_values(
        "pearson", ascending=False, kind="stable", na_position="last"
    )
    return parts_of(ENTRY, _shown(own))


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Without the interval of coverage, which would only be in the way."""
    return table.drop(columns=["coverage_low", "coverage_high"])


def _left_out(table: pd.DataFrame, split: str) -> dict[str, str]:
    """Method -> why it has no row on the page."""
    own = table[(table["split"] == split) & table["coverage"].isna()]
    rows = zip(own["method"], own["kernel"], own["note"], strict=True)
    return {
        label(method, kernel): " ".join(note).removeprefix("left out: ")
        for method, kernel, note in rows
    }


def _pictures(rated: Rated, found: Comparison, main: str) -> dict[str, str]:
    """Caption -> picture."""
    # where systems are left out, each has been rated by another model
    given = advice.verdict(found, "texts")
    lines = []
    for name, own in advice.other_scores(rated, found).items():
        shown = estimate(own["pearson"])
        lines.append((name, shown.value, shown.low, shown.high))
    # more lines than styles of lines could not be told apart
    lines = sorted(lines, key=lambda line: -np.nan_to_num(line[1]))[: draw.LINES]
    systems = found.systems
    name, told = "no method", ""
    if given.best is not None and len(systems):
        name = label(*given.best[1:])
        if given.best[1] == "ridge_system":
            told = " It is told each system's mean over the other folds."
        same = np.logical_and.reduce(
            [
                systems[c] == v
                for c, v in zip(("split", "method", "kernel"), given.best, strict=True)
            ]
        )
        systems = systems[same]
    drawn = {
        "Scores: Pearson's r of estimates and ratings, 95% intervals; grey: trivial methods.": (
            draw.scores_figure(found.table, label, TRIVIAL)
        ),
        "Learning curve: the same by the number of ratings to learn from.": (
            draw.curve_figure(found.curve, lines, main)
            if len(found.curve) or not found.curve_split
            else empty_figure(f"{main} differ too much in size for a learning curve")
        ),
        f"Systems: mean estimate of {name} beside people's mean rating.{told}": draw.systems_figure(
            systems, name, "texts"
        ),
    }
    return {caption: _address(draw.drawing(figure)) for caption, figure in drawn.items()}


def _address(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
