"""From a table and its entry in the catalogue to CSV, Markdown and a record.

Stage: table. In: a table by one of the experiments, the reasons of what is missing, facts of the
run. Out: ``<name>.csv`` for programs, ``<name>.md`` for people, and ``<name>.json``, by which
whoever reads the CSV knows that it is whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.published import read_published
from refless.report.catalogue import catalogue
from refless.report.render import about_marks, markdown, meanings_of, parts_of
from refless.store.sealed import read, write_sidecar
from refless.store.tables import table_text


def publish(
    name: str,
    table: pd.DataFrame,
    folder: str | Path,
    *,
    missing: Sequence[Mapping[str, Any]] = (),
    facts: Mapping[str, Any] | None = None,
    datasets: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> None:
    """Write one table in all its forms.

    name : its entry in the catalogue
    table : its column ``provenance`` (empty where a row has no numbers) is for all tables the same;
        ``note``, where there is one, is a sentence or empty; columns ``*_draws`` have the draws of
        a bootstrap (by `refless.statistics.bootstrap.packed`), for the record
    folder : where the files go
    missing : why results cannot be had, by `refless.plan.Plan.missing`; rows without
        numbers get the words of the reasons that are about them
    facts : for the caption
    datasets : names of data sets
    inputs : what it was made from, by `refless.store.records.input_sums`
    Raises OutputError: a file cannot be written.
    """
    entry = catalogue()[name]
    stem = Path(folder) / name
    table = with_reasons(table, missing)
    aside = table.filter(regex="_draws$").astype(object).fillna("")
    aside = aside.join(table.filter(entry.aside))
    caption = entry.caption.format(**(facts or {}))
    parts = parts_of(entry, table, datasets or {})
    head = [f"# {entry.title}", caption, *meanings_of(parts), about_marks(parts)]
    page = "\n\n".join([*filter(None, head), *map(markdown, parts)]) + "\n"
    table = table.drop(columns=aside.columns)
    counts = table["provenance"].replace("", "absent").value_counts().sort_index()
    reasons = table.loc[table["provenance"] == "", "reason"].str.split().str[0].value_counts()
    metadata = {
        "title": entry.title,
        "caption": caption,
        "datasets": dict(datasets or {}),
        "rows": len(table),
        "provenance_counts": {str(origin): int(n) for origin, n in counts.items()},
        # of each row without numbers the first word
        "reason": {str(word): int(n) for word, n in reasons.sort_index().items()},
        "aside": aside.astype(object).where(aside.notna(), None).to_dict("list"),
    }
    contents = {".csv": table_text(table).encode(), ".md": page.encode()}
    files = {stem.with_suffix(end): content for end, content in contents.items()}
    write_sidecar(files, metadata, inputs)


def read_table(path: str | Path) -> pd.DataFrame:
    """The table of a CSV by `publish`, if it is the one that was written.

    Published values are as they were printed; intervals and draws of the record are columns, too.
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    file = read(path)
    return pd.DataFrame(file.content.assign(**file.metadata["aside"]))


def read_inputs(files: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A job's files by name; ``published`` and ``tables`` (by their names) are read."""
    inputs = dict(files)
    if "published" in inputs:
        inputs["published"] = read_published(inputs["published"])
    if "tables" in inputs:
        paths = inputs["tables"]
        paths = map(Path, [paths] if isinstance(paths, str) else paths)
        inputs["tables"] = {path.stem: read_table(path) for path in paths}
    return inputs


def with_reasons(table: pd.DataFrame, missing: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table with ``reason``: of each row without numbers, the words of why.

    A reason is about a row if every entry of its ``of`` that the table has a column for stands in
    the row. A row that comes with a ``reason`` of its own, e.g. ``quoted``, keeps that.
    """
    reasons = []
    for row in table.to_dict("records"):
        reason = row.get("reason", "")
        if not row["provenance"] and not reason:
            codes = [why["code"] for why in missing if _is_about(why["of"], row)]
            # the numbers at hand were made for fewer kernels than are asked for
            reason = " ".join(dict.fromkeys(codes)) or "not_made"
        reasons.append(reason)
    table = table.reset_index(drop=True).drop(columns="reason", errors="ignore")
    table.insert(list(table).index("provenance") + 1, "reason", reasons)
    return table


def _is_about(of: Mapping[str, str], row: Mapping[Any, Any]) -> bool:
    return all(row[column] == value for column, value in of.items() if column in row)
