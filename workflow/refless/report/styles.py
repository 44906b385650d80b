"""How figures show a data set: by name, colour and marker. Stage: figure."""

from collections.abc import Mapping

from refless.settings.data import DataSet

# Okabe and Ito's colours but yellow: they differ with any colour vision; in grey, markers do.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("s", "^", "o", "D", "v", "P", "X")


def dataset_styles(datasets: Mapping[str, DataSet]) -> dict[str, dict[str, str]]:
    """Data set -> its ``name``, ``published`` name, ``colour`` and ``marker``; the last, and a
    colour that the settings do not have, go by its place among the data sets."""
    return {
        dataset: {
            "name": entry.name or dataset.replace("_", " "),
            "published": entry.published,
            "colour": entry.colour or _COLOURS[k % len(_COLOURS)],
            "marker": _MARKERS[k % len(_MARKERS)],
        }
        for k, (dataset, entry) in enumerate(datasets.items())
    }
