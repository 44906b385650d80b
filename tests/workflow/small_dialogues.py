"""Small rated dialogues in the formats of USR, NEM and BAGEL, written for these tests."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

from refless.sources.nem import MEDIANS, METRICS
from tests.workflow.small_data import sentences

CONTEXTS = 12
PATHS = (
    "usr/tc_usr_data.json",
    "nem/emnlp_data_medians.csv",
    "bagel/ACL10-inform-training.txt",
)


def write_dialogues(mirror: Path) -> dict[str, Path]:
    """Write the files under the mirror: path in the table of sources -> path there."""
    files = {path: mirror / path for path in PATHS}
    for path, write in zip(files.values(), (write_usr, write_nem, write_bagel), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    return files


def write_usr(path: Path) -> None:
    """Two humans and two systems, three annotators."""
    generator = random.Random(2)
    names = ["Original Ground Truth", "New Human Generated", "Argmax Decoding", "Nucleus"]
    dialogues = []
    for c in range(CONTEXTS):
        responses = []
        for name, text in zip(names, sentences(len(names), 50 + c), strict=True):
            overall = [generator.randint(1, 5) for _ in range(3)]
            scores = {"Understandable": 1, "Uses Knowledge": 0, "Natural": 2, "Engaging": 2}
            scores |= {"Maintains Context": 3}
            responses.append(
                {"response": text, "model": name, "Overall": overall}
                | {dimension: [value] * 3 for dimension, value in scores.items()}
            )
        dialogues.append(
            {
                "context": f"so , number {c} ?",
                "fact": "_nofact",
                "annotators": ["a", "b", "c"],
                "responses": responses,
            }
        )
    path.write_text(json.dumps(dialogues, indent=1), encoding="utf-8")


def write_nem(path: Path) -> None:
    """Two systems for each of some MRs, all of them BAGEL's."""
    generator = random.Random(3)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        names = ["dataset", "system", "mr", "sys_ref", *METRICS, *MEDIANS]
        writer = csv.DictWriter(handle, names, lineterminator="\n")
        writer.writeheader()
        for c in range(CONTEXTS):
            for system, text in zip(("LOLS", "Dusek"), sentences(2, 100 + c), strict=True):
                medians = {name: generator.randint(1, 6) for name in MEDIANS}
                row = {"dataset": "BAGEL", "system": system, "mr": _mr(c), "sys_ref": text}
                writer.writerow(row | dict.fromkeys(METRICS, 0.5) | medians)


def write_bagel(path: Path) -> None:
    """A human utterance for each of the MRs."""
    records = [
        f'FULL_DA = {_mr(c)}\nABSTRACT_DA = {_mr(c)}\n-> "[]{sentences(1, 200 + c)[0]}";\n'
        for c in range(CONTEXTS)
    ]
    path.write_text("\n".join(records), encoding="utf-8")


def _mr(number: int) -> str:
    return f"inform(name=place{number},area=riverside)"
