"""Shipped results: they contain no text of any data set, only numbers. Stage: none.

``resources/shipped`` has them under their names in ``results``, and lists them in a file
(`refless.store.manifest`).
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, RatedTexts
from refless.data.task import read_task, write_task
from refless.data.text_ids import text_ids
from refless.store import sealed
from refless.store.files import file_sum, write_text
from refless.store.manifest import MANIFEST, read_manifest
from refless.store.tables import table_text


def ship(digests: Mapping[str, str], out: str | Path) -> list[Path]:
    """Copy computed files to the folder of shipped files and renew its list; returns the copies.

    digests : path in ``results`` -> the digest of its settings; texts are blanked, and paths that
        were not computed are skipped
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    out = Path(out)
    renewed = dict[str, str]()
    listed = read_manifest(out) if (out / MANIFEST).is_file() else {}
    for path, digest in digests.items():
        source = Path(path)
        below = Path(path).relative_to("results")
        if not source.is_file():
            continue
        if below.name == "texts.csv":
            blank_task(source.parent, out / below.parent)
        elif below.name != "ratings.csv":  # which are written with their texts
            file = sealed.read(source)
            sealed.write(out / below, file.content, file.metadata | {"provenance": "shipped"})
        renewed[below.as_posix()] = digest
    listed |= {path: (file_sum(out / path), digest) for path, digest in renewed.items()}
    rows = [(path, *of) for path, of in sorted(listed.items()) if (out / path).is_file()]
    table = pd.DataFrame(rows, columns=["path", "sha256", "digest"])
    write_text(table_text(table), out / MANIFEST)
    return [out / path for path in renewed]


def blank_task(folder: str | Path, out: str | Path) -> None:
    """Write a data set's tables without texts and words, with names and numbers only."""
    dataset = read_task(folder)
    numeric = [c for c in dataset.texts.select_dtypes("number").columns if c not in TEXT_COLUMNS]
    # of what a text answers, only that others answer the same
    both = zip(
        text_ids(dataset.texts["context"], separate_blank=True),
        dataset.texts["context"],
        strict=True,
    )
    context = [f"c{number}" if context else "" for number, context in both]
    texts = dataset.texts[TEXT_COLUMNS + numeric].assign(context=context, text="")
    kept = [column for column in (*RATING_COLUMNS, "item") if column in dataset.ratings]
    data = RatedTexts(texts, dataset.ratings[kept])
    write_task(data, out, dataset.metadata["raw"], "shipped")
