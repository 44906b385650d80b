"""Small rated dialogues in the format of USR, written for these tests."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.workflow.small_data import sentences

CONTEXTS = 12
PATHS = ("usr/tc_usr_data.json",)


def write_dialogues(mirror: Path) -> dict[str, Path]:
    """Write the files under the mirror: path in the table of sources -> path there."""
    files = {path: mirror / path for path in PATHS}
    for path, write in zip(files.values(), (write_usr,), strict=True):
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
