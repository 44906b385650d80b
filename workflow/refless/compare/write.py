"""A comparison as files, none of which holds a text, a time or a path: the same ratings, settings
and seed give the same bytes.

Stage: table. In: a comparison. Out: ``comparison.csv``, ``predictions.csv``,
``learning_curve.csv``, ``comparison.json``, ``report.html`` (opens offline).
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from jinja2 import Template
from matplotlib.figure import Figure

from refless import __version__
from refless.compare.evaluate import Comparison, Settings
from refless.compare.predict import TRIVIAL, label
from refless.compare.read import Rated
from refless.compare.verdict import answer, verdict, warnings
from refless.store.files import json_text, write_together

FILES = (
    *("comparison.csv", "predictions.csv", "learning_curve.csv"),
    *("comparison.json", "report.html"),
)
SHOWN = [
    *("pearson", "pearson_low", "pearson_high", "difference", "p", "mse", "mse_of_mean"),
    *("coverage", "ratings_saved", "reason"),
]
"""Columns of the page."""
DIGITS = "%.6g"
"""The last bits of a sum hang on the machine."""


def write_comparison(
    rated: Rated, found: Comparison, settings: Settings, folder: str | Path, sums: Sequence[str]
) -> None:
    """Write all files of a comparison, or none of them; ``sums`` are the SHA-256 of the inputs.
    Raises OutputError: a file cannot be written."""
    said = {"answer": answer(rated, found), "warnings": warnings(rated, found)}
    record = {
        "refless": __version__,
        "inputs": list(sums),
        "scale": list(rated.scale),
        "raters": None if rated.raters is None else rated.raters._asdict(),
        "settings": {
            **{name: getattr(settings, name) for name in ("kernels", "draws", "seed", "curve")},
            "repeats": {name: len(own) for name, own in found.splits.items()},
        },
        "shown": {name: verdict(found, name).get("shown", False) for name in found.splits},
        **said,
    }
    page = Template(Path(__file__).with_name("report.html").read_text("utf-8"), autoescape=True)
    views = {name: _view(found.table, name) for name in found.splits}
    tables = (found.table, found.predictions, found.curve)
    texts = [
        *(table.to_csv(index=False, lineterminator="\n", float_format=DIGITS) for table in tables),
        json_text(record),
        page.render(**said, views=views, main=found.order[0], picture=_picture(found)),
    ]
    write_together({Path(folder) / name: text for name, text in zip(FILES, texts, strict=True)})


def _view(table: pd.DataFrame, split: str) -> str:
    """The rows of a split as HTML, the best first."""
    own = table[table["split"] == split].sort_values("pearson", ascending=False, kind="stable")
    shown = own[SHOWN].rename(columns=lambda name: name.replace("_", " "))
    shown.insert(0, "method", list(map(label, own["method"], own["kernel"])))
    return shown.to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)


def _picture(found: Comparison) -> str:
    """Pearson's r of each method by split, and the learning curve, as the address of an SVG."""
    import matplotlib as mpl

    table = found.table[found.table["pearson"].notna()]
    keys = table.groupby(["method", "kernel"], sort=False)["pearson"].max().sort_values().index
    table = table.assign(
        place=keys.get_indexer(pd.MultiIndex.from_frame(table[["method", "kernel"]])),
        colour=table["method"].isin(TRIVIAL).map({True: "#777777", False: "#1f77b4"}),
    )
    panels = len(found.splits) + (not found.curve.empty)
    with mpl.rc_context({"svg.hashsalt": "refless", "font.size": 9}):
        size = 2.6 + 2.4 * panels, 1.2 + 0.26 * len(keys)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, panels, squeeze=False)[0]
        for ax, split in zip(axes, found.splits, strict=False):
            own = table[table["split"] == split]
            ax.hlines(own["place"], own["pearson_low"], own["pearson_high"], own["colour"])
            ax.scatter(own["pearson"], own["place"], c=own["colour"])
            ax.axvline(0, color="#bbbbbb", lw=0.8)
            ax.set(title=f"new {split}", xlabel="Pearson's r", ylim=(-0.7, len(keys) - 0.3))
            ax.set_yticks(range(len(keys)), [])
        axes[0].set_yticks(range(len(keys)), [label(*key) for key in keys])
        if not found.curve.empty:
            axes[-1].plot(found.curve["ratings"], found.curve["pearson"], "o-")
            axes[-1].set(title="learning curve of ridge", xlabel="ratings", ylabel="Pearson's r")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
