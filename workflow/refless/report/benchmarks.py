"""The recorded benchmarks as tidy tables, for the report.

Stage: table. In: the records of ``resources/benchmarks``, as the modules of ``benchmarks`` leave
them with ``--record``. Out: a table of peers beside ours, and one of growth with the texts; in
Markdown for README.md.

Nothing is measured here: a report shows what was recorded, with its date, machine and load.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from refless.errors import FormatError
from refless.report.tables import grid

PEER_COLUMNS = [
    *("part", "what", "peer", "threads", "times_as_fast", "times_as_fast_low"),
    *("times_as_fast_high", "peer_microseconds", "our_microseconds", "one", "peer_threads"),
]
GROWTH_COLUMNS = [
    *("kernel", "texts", "seconds", "nanoseconds_a_pair", "overlaps_a_pair"),
    *("nanoseconds_an_overlap", "peak_memory_mb", "memory_before_mb"),
]
PLACE_COLUMNS = ["date", "processor", "cores", "load_before", "cores_taken_by_others"]
PARTS = {"kernels": "kernels", "delta_bleu": "ΔBLEU", "rnn_qe": "RNN-QE"}
"""The records, by their names without the ending, and what they are of."""

_WHATS = {"kernel": "matrix", "neighbor_sums": "sums of neighbors"}
_DIGITS = 3


def beside_peers(records: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Every recorded peer beside ours.

    Parameters
    ----------
    records : name in `PARTS` -> record

    Returns
    -------
    `PEER_COLUMNS`, `PLACE_COLUMNS`, ``provenance`` and ``note``, a row for each peer, number of
    threads and task. ``one`` is what the microseconds (medians over runs, by the clock) are for;
    ``times_as_fast`` is the median of the ratios of single runs, ``_low`` the least and ``_high``
    the greatest of them, all of `_DIGITS` digits; NaN where a record has none.

    Raises
    ------
    FormatError : a record lacks something.
    """
    readers = {"kernels": _kernels, "delta_bleu": _delta_bleu, "rnn_qe": _rnn_qe}
    rows = []
    for name, read in readers.items():
        if name in records:
            with _complete(name):
                shared = {"part": PARTS[name], **_place(records[name]["machine"])}
                rows += [{**shared, **row} for row in read(records[name])]
    return _table(rows, PEER_COLUMNS)


def growth(record: Mapping[str, Any]) -> pd.DataFrame:
    """Time and memory of `neighbor_sums` over the number of texts, from the record of the kernels.

    Returns
    -------
    `GROWTH_COLUMNS`, `PLACE_COLUMNS`, ``provenance`` and ``note``. ``texts`` is the number of
    candidates, and of as many training texts; ``memory_before_mb`` is what of the peak was there
    before.

    Raises
    ------
    FormatError : the record lacks something.
    """
    rows = []
    with _complete("kernels"):
        place = _place(record["machine"])
        for one in record["growth"]:
            seconds = statistics.median(one["seconds"])
            pair = 1e9 * seconds / one["n"] ** 2
            rows.append(
                {
                    "kernel": one["kernel"],
                    "texts": one["n"],
                    "seconds": seconds,
                    "nanoseconds_a_pair": pair,
                    "overlaps_a_pair": one["overlaps"],
                    "nanoseconds_an_overlap": pair / one["overlaps"] if one["overlaps"] else None,
                    "peak_memory_mb": one["peak_bytes"] / 1e6,
                    "memory_before_mb": one["peak_bytes_before"] / 1e6,
                    **place,
                    "note": [f"{_runs(one['seconds'])}, {one['threads']} thread"],
                }
            )
    return _table(rows, GROWTH_COLUMNS)


@contextmanager
def _complete(name: str) -> Iterator[None]:
    """What a record lacks is an error that names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"is no record of this benchmark: {error!r}",
            path=f"resources/benchmarks/{name}.json",
            remedy=f"record it anew (python -m benchmarks.{name} --record)",
        ) from error


def _kernels(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for one in record["peers"]:
        own = {(row["what"], row["threads"]): row["seconds"] for row in one["ours"]}
        peers = {(row["peer"], row["threads"]): row["seconds"] for row in one["peers"]}
        notes = [f"{one['n']:,} x {one['n']:,} texts, {_runs(one['ours'][0]['seconds'])}"]
        if one.get("from_parts"):
            notes.append("put together from encoding and matching, which were timed apart")
        for ratio in one["ratios"]:
            peer = peers[ratio["peer"], ratio["peer_threads"]]
            ours = own[ratio["what"], ratio["threads"]]
            # told from differences of times, of which one may be below nought
            lost = ratio["least"] <= 0
            yield {
                "what": f"{one['kernel']}, {_WHATS[ratio['what']]}",
                "peer": ratio["peer"],
                "threads": ratio["threads"],
                "peer_threads": ratio["peer_threads"],
                "one": "pair of texts",
                "peer_microseconds": 1e6 * statistics.median(peer),
                "our_microseconds": 1e6 * statistics.median(ours),
                **_ratio(None if lost else ratio),
                "note": [*notes, "the ratio is lost in noise"] if lost else notes,
            }
    yield from _floor(record)
    for kernel, reason in record["left_out"].items():
        yield {"what": kernel, "provenance": "", "note": [f"left out: {reason}"]}


def _floor(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "floor" not in record:
        return
    one = record["floor"]
    for name, how in (("vector", "many at a time"), ("scalar", "one at a time")):
        ratio = one[f"ours_to_{name}"]
        yield {
            "what": f"{one['kernel']}, {_WHATS['neighbor_sums']}",
            "peer": f"floor: reading the shared n-grams, {how}",
            "threads": one["threads"],
            "peer_threads": one["threads"],
            "one": "pair of texts",
            "peer_microseconds": 1e6 * statistics.median(one["seconds"][name]),
            "our_microseconds": 1e6 * statistics.median(one["seconds"]["ours"]),
            **_ratio(
                {
                    "median": 1 / ratio["median"],
                    "least": 1 / ratio["most"],
                    "most": 1 / ratio["least"],
                }
            ),
            "note": ["no package: what merely reading them from a finished index takes"],
        }


def _delta_bleu(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in record["rows"]:
        spent = [a + b for a, b in zip(row["counting"], row["adding"], strict=True)]
        ratio = row["ratio"]
        yield {
            "what": row["metric"],
            "peer": f"{row['peer']}, each unit anew",
            "threads": 1,
            "peer_threads": 1,
            "one": f"unit of {record['unit']} contexts",
            "peer_microseconds": 1e6 * statistics.median(row["alone"]),
            "our_microseconds": 1e6 * statistics.median(spent) / record["scores"],
            **_ratio({"median": statistics.median(ratio), "least": min(ratio), "most": max(ratio)}),
            "note": [
                f"{record['scores']:,} scores of {record['texts']['source']}, counting included,"
                f" {_runs(ratio)}"
            ],
        }


def _rnn_qe(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    rates = {name: row["clock"] for name, row in record["instances_per_second"].items()}
    name, peer = max(
        (item for item in rates.items() if item[0].startswith("torch")), key=lambda item: item[1]
    )
    together, cores = record["settings"]["together"], record["settings"]["cores"]
    for ours, ratio in record["ratio"].items():
        yield {
            "what": f"training, {together} models a core {ours}",
            "peer": name,
            "threads": cores,
            "one": "training instance",
            "peer_microseconds": 1e6 / peer,
            "our_microseconds": 1e6 / rates[ours],
            **_ratio({"median": ratio["clock"]}),
            "note": [
                "the faster of the two ways of the peer",
                f"medians of {record['runs']} runs",
            ],
        }


def _ratio(ratio: Mapping[str, float] | None) -> dict[str, float | None]:
    found = ratio or {}
    return {
        "times_as_fast": found.get("median"),
        "times_as_fast_low": found.get("least"),
        "times_as_fast_high": found.get("most"),
    }


def _place(machine: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "date": machine.get("date", "not recorded"),
        "processor": machine["cpu"],
        "cores": machine["cores"],
        "load_before": machine["load_average"],
        "cores_taken_by_others": machine.get("cores_taken_by_others"),
    }


def _runs(seconds: Sequence[float]) -> str:
    return f"{len(seconds)} run" + ("" if len(seconds) == 1 else "s")


def _table(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """The rows in these columns, measured numbers to a few digits; whole numbers stay whole."""
    columns = [*columns, *PLACE_COLUMNS]
    # recorded before, elsewhere
    rows = [{"provenance": "shipped", **row} for row in rows]
    table = pd.DataFrame(rows, columns=[*columns, "provenance", "note"])
    for name in columns:
        kind = table[name].dtype.kind
        if name in ("threads", "peer_threads", "cores", "texts"):
            table[name] = table[name].astype("Int64")
        elif kind == "f":
            table[name] = [
                value if pd.isna(value) else float(f"{value:.{_DIGITS}g}") for value in table[name]
            ]
    return table


# ---- for reading --------------------------------------------------------------------------------


def readme(record: Mapping[str, Any]) -> str:
    """The record of the kernels in Markdown, as docs/speed.md quotes it."""
    with _complete("kernels"):
        parts = [peer_table({"kernels": record}), _notes(record)]
    table = growth(record)
    header = {
        "kernel": "kernel",
        "texts": "n",
        "seconds": "seconds",
        "nanoseconds_a_pair": "ns/pair",
        "overlaps_a_pair": "overlaps/pair",
        "nanoseconds_an_overlap": "ns/overlap",
        "peak_memory_mb": "peak, MB",
        "memory_before_mb": "of it before, MB",
    }
    rows = [[_short(row[name]) for name in header] for row in table.to_dict("records")]
    parts.append(grid(list(header.values()), rows) if rows else "")
    return "\n\n".join(filter(None, parts))


def peer_table(records: Mapping[str, Mapping[str, Any]]) -> str:
    """`beside_peers` in Markdown, below what it was recorded on."""
    rows = []
    for row in beside_peers(records).dropna(subset=["peer"]).to_dict("records"):
        times = "lost in noise" if pd.isna(row["times_as_fast"]) else _short(row["times_as_fast"])
        if pd.notna(row["times_as_fast_low"]):
            times += f" ({_short(row['times_as_fast_low'])}–{_short(row['times_as_fast_high'])})"
        microseconds = (_short(row[name]) for name in ("peer_microseconds", "our_microseconds"))
        rows.append([row["what"], row["peer"], str(row["threads"]), *microseconds, times])
    header = ["what", "peer", "our threads", "peer, µs", "ours, µs", "times as fast"]
    places = map(_measured_on, records.values())
    return "\n\n".join([*places, *([grid(header, rows)] if rows else [])])


def _measured_on(record: Mapping[str, Any]) -> str:
    machine, texts = record["machine"], record.get("texts", {})
    named = ("refless", "numba", "nltk", "rouge-score", "bert-score", "torch")
    packages = [f"{n} {machine['packages'][n]}" for n in named if n in machine["packages"]]
    busy = f"The load average was {machine['load_average'] or 0:.1f} before"
    if machine.get("cores_taken_by_others") is not None:
        busy += f", and other jobs took {machine['cores_taken_by_others']:.1f} cores meanwhile"
    found = (
        f"Recorded on {_place(machine)['date']}: {machine['cpu']}, {machine['cores']} cores."
        f" {busy}. Python {machine['python']}, {', '.join(packages)}."
    )
    if "mean_words" in texts:
        found += (
            f" Texts: {texts['source']}, {texts['mean_characters']:.0f} characters or"
            f" {texts['mean_words']:.1f} words on average."
        )
    return found


def _notes(record: Mapping[str, Any]) -> str:
    """What the table of peers cannot say: times that were put together, and what was left out."""
    notes = []
    for one in record["peers"]:
        if one.get("from_parts"):
            theirs, ours = (
                {name: statistics.median(row[name]) for name in ("encode_text", "match_pair")}
                for row in (
                    next(row for row in one[side] if row["threads"] == 1)
                    for side in ("peers", "ours")
                )
            )
            notes.append(
                f"`{one['kernel']}` is put together from two parts. On one thread, encoding takes"
                f" {1e3 * theirs['encode_text']:.1f} ms a text with the peer,"
                f" {1e3 * ours['encode_text']:.1f} ms with ours; matching"
                f" {1e6 * theirs['match_pair']:.1f} and {1e6 * ours['match_pair']:.2f} µs a pair."
                f" The peer's threads are as many as ours. Its batches pad, which moves"
                f" {100 * one['padding_moves']:.0f}% of the values by more than 0.001; pairs scored"
                f" alone agree to {one['tolerance']:g}."
            )
    notes += [f"`{name}` was left out: {why}." for name, why in record["left_out"].items()]
    return " ".join(notes)


def _short(value: Any) -> str:
    """Three digits, or all before the point; text as it is."""
    if isinstance(value, str):
        return f"`{value}`"
    if pd.isna(value):
        return "–"
    return f"{value:,.{max(0, _DIGITS - 1 - math.floor(math.log10(value)))}f}" if value else "0"
