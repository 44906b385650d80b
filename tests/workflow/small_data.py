"""Small data in the formats of the real sources, written for these tests.

The sentences are put together from a few words of ours, so that some share n-grams and some do not.
"""

import csv
import gzip
import hashlib
import io
import json
import random
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

SUBJECTS = ["the river", "a small boat", "the old bridge", "our neighbour", "the night train"]
VERBS = ["carries", "crosses", "waits for", "remembers", "leaves"]
OBJECTS = ["the morning mist", "a crowd of people", "the last village", "every winter", "the coast"]
LABELS = ["Invalid", "Rare", "Specific", "Average", "Typical", "Very Typical"]


def sentences(count: int, seed: int) -> list[str]:
    """Different sentences, some of them close to each other."""
    generator = random.Random(seed)
    every = [f"{s} {v} {o} ." for s in SUBJECTS for v in VERBS for o in OBJECTS]
    return generator.sample(every, count)


def write_rows(path: Path, rows: Sequence[dict[str, str]], **how: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), **how)
        writer.writeheader()
        writer.writerows(rows)


Item = tuple[str, str, str, str, str, str]
"""IDX, CTX, TYPE, OUT, LOGP of HUSE's batches, and the answer."""


def huse_batch(rows: Sequence[tuple[str, Sequence[Item]]], without: str = "no column") -> str:
    """A Mechanical Turk batch as exported: of each worker, the items of a row. Its empty last
    column stands in the header alone."""
    table: list[dict[str, str]] = []
    for worker, items in rows:
        row = {"WorkerId": worker}
        for k, (*item, answer) in enumerate(items):
            names = (f"Input.{kind}{k}" for kind in ("IDX", "CTX", "TYPE", "OUT", "LOGP"))
            row |= dict(zip(names, item, strict=True)) | {f"Answer.{k}": answer}
        table.append({name: cell for name, cell in row.items() if without not in name})
    return pd.DataFrame(table).to_csv(index=False).replace("\n", ",Approve\n", 1)


def write_huse_batch(path: Path, items: int) -> None:
    """Each of twelve annotators labels half of the items, five a row."""
    generator = random.Random(0)
    texts = sentences(items, 0)
    goodness = [generator.uniform(0.5, 4.5) for _ in texts]
    rows: list[tuple[str, list[Item]]] = []
    for annotator in range(12):
        chosen = generator.sample(range(items), items // 2 // 5 * 5)
        for start in range(0, len(chosen), 5):
            answered: list[Item] = []
            for k in chosen[start : start + 5]:
                label = round(min(5, max(0, generator.gauss(goodness[k], 1))))
                context, system = f"a question about {SUBJECTS[k % 5]}", "SUM" if k % 2 else "HUMAN"
                answered.append(
                    (str(k), context, system, texts[k], f"{-1.5 - k % 7}", LABELS[label])
                )
            rows.append((f"W{annotator}", answered))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(huse_batch(rows), encoding="utf-8")


def write_essays(train: Path, test: Path, solution: Path) -> None:
    """The three files of ASAP-SAS with a dozen training and eight test essays a set."""
    generator = random.Random(0)
    first: list[dict[str, str]] = []
    tested: list[dict[str, str]] = []
    solved: list[dict[str, str]] = []
    for own, count in ((first, 12), (tested, 8)):
        for essay_set in range(1, 11):
            for i in range(count):
                number = len(first) + len(tested) + 1
                score = generator.randint(0, 3)
                # the better, the longer; two of each set have too few or too many sentences
                length = {0: 2, 1: 17}.get(i, 5 + 2 * score + generator.randint(0, 2))
                parts = [s.removesuffix(" .") for s in sentences(length, number)]
                text = ". ".join([*parts[:-1], f'they say "{parts[-1]}"']) + "."
                row = {"Id": f"{number}", "EssaySet": f"{essay_set}"}
                if own is first:
                    second = min(3, max(0, score + generator.randint(-1, 1)))
                    row |= {"Score1": f"{score}", "Score2": f"{second}"}
                else:
                    named = {"id": f"{number}", "essay_set": f"{essay_set}"}
                    solved.append(named | {"essay_score": f"{score}"})
                own.append(row | {"EssayText": text})
    write_rows(train, first, delimiter="\t", lineterminator="\n")
    write_rows(test, tested, delimiter="\t", lineterminator="\n")
    write_rows(solution, solved, lineterminator="\n")


def write_dstc7(path: Path, contexts: int) -> None:
    """The archive: four systems, two judges a response; Baseline copies Constant now and then."""
    generator = random.Random(7)
    systems = ["Constant", "Baseline", "Human", "TeamA"]
    texts = sentences(4 * contexts, 7)
    heads = {
        "context": "InstanceID Depth Context",
        "system_responses": "SystemID InstanceID Response",
        "human-eval-per-judge": "JudgeID InstanceID SystemID Relevance Informativeness",
        "gold_responses": "InstanceID Reference1 Reference2",
    }
    tables: dict[str, list[list[object]]] = {name: [[*h.split()]] for name, h in heads.items()}
    for i in range(contexts):
        name = f"{i:06d}c0ffee{i:06d}"
        tables["context"].append([name, 2, f"what about {SUBJECTS[i % 5]}?"])
        own = texts[4 * i : 4 * i + 4]
        own[1] = own[0] if i % 8 == 0 else own[1]
        if i:
            tables["gold_responses"].append([name, own[2].capitalize(), "It never rains here ."])
        for system, text in zip(systems, own, strict=True):
            tables["system_responses"].append([system, name, text])
            good = generator.uniform(1.5, 4.5)
            for judge in generator.sample(range(9), 2):
                marks = [round(min(5, max(1, generator.gauss(good, 1)))) for _ in range(2)]
                tables["human-eval-per-judge"].append([f"J{judge}", name, system, *marks])
    lines = {k: ["\t".join(map(str, row)) for row in rows] for k, rows in tables.items()}
    pack_dstc7(path, {name: "\n".join([*own, ""]) for name, own in lines.items()})


def pack_dstc7(path: Path, tables: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.GzipFile(path, "wb", mtime=0)  # the same archive at any time
    with packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in tables.items():
            info = tarfile.TarInfo(f"dstc7-task2-human_eval/dstc7-task2-{name}.tsv")
            info.size = len(content.encode())
            archive.addfile(info, io.BytesIO(content.encode()))
    return path


NAMES = ["blue door", "corner house", "old mill", "harbour", "seven stars"]
AREAS = ["north side", "riverside", "market square"]
METRICS = [
    *("TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr", "METEOR"),
    *("sim.mr.sys", "lev.dist", "sys.read.flesch", "sys.cpw", "sys.ref.len", "sys.wps", "sys.sps"),
    *("sys.spw", "sys.n.poly", "sys.pspw", "n.misspel", "parser.sc.mean", "parser.sc.max"),
]


def write_rated_outputs(root: Path) -> None:
    """NEM's file with 440 rated outputs, and the references of BAGEL, SFRest and SFHot for it.

    220 outputs each are of LOLS and about hotels, so that tables 4 and 5 have something to test on.
    """
    generator = random.Random(0)
    meanings: dict[str, list[tuple[str, str]]] = {"BAGEL": [], "SFRES": [], "SFHOT": []}
    rows = []
    for i in range(440):
        dataset = "SFHOT" if i < 220 else "SFRES" if i < 400 else "BAGEL"
        system = "LOLS" if i % 2 else "Dusek" if dataset == "BAGEL" else "WEN"
        name, area = generator.choice(NAMES), generator.choice(AREAS)
        worth = generator.randint(0, 4)
        said = ["is in", "can be found in", "lies", "in in", "the in"][worth]
        if dataset == "BAGEL":
            name, area = "X", "X"
        meaning = f"inform(name='{name}',area='{area}')"
        metrics = {metric: f"{generator.random():.6f}" for metric in METRICS}
        quality = min(6, max(1, 6 - worth + generator.choice([-1, -0.5, 0, 0, 0.5])))
        medians = dict.fromkeys(("informativeness", "naturalness", "quality"), f"{quality:g}")
        meanings[dataset].append((name, area))
        rows.append(
            {"dataset": dataset, "system": system, "mr_type": "inform", "mr": meaning}
            | {"sys_ref": f"{name} {said} {area}.".lower(), **metrics, **medians}
        )
    write_rows(root / "nem/emnlp_data_medians.csv", rows, quoting=csv.QUOTE_ALL)
    bagel = root / "bagel/ACL10-inform-training.txt"
    bagel.parent.mkdir(parents=True, exist_ok=True)
    record = (
        'FULL_DA = inform(name="The Mill",area="Castle")\n'
        'ABSTRACT_DA = inform(name="X1",area="X2")\n'
        '-> "[name+X]X []lies near [area+X]X";\n\n'
    )
    bagel.write_text(record, encoding="utf-8")
    for dataset, directory in (("SFRES", "restaurant"), ("SFHOT", "hotel")):
        told = sorted(set(meanings[dataset]))
        for part, verb in (("train", "stands in"), ("valid", "is at"), ("test", "is found in")):
            path = root / "rnnlg" / directory / f"{part}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            triples = [
                [f"inform(name='{name}';area='{area}')", f"{name} {verb} {area}", "it is there"]
                for name, area in told
            ]
            path.write_text("# written for tests\n" + json.dumps(triples), encoding="utf-8")


def write_usr(path: Path) -> None:
    """Dialogues in the format of USR: two humans and two systems, three annotators."""
    generator = random.Random(2)
    names = ["Original Ground Truth", "New Human Generated", "Argmax Decoding", "Nucleus"]
    dialogues = []
    for c in range(12):
        responses = []
        for name, text in zip(names, sentences(len(names), 50 + c), strict=True):
            overall = [generator.randint(1, 5) for _ in range(3)]
            scores = {"Understandable": 1, "Uses Knowledge": 0, "Natural": 2, "Engaging": 2}
            scores |= {"Maintains Context": 3}
            responses.append(
                {"response": text, "model": name, "Overall": overall}
                | {dimension: [value] * 3 for dimension, value in scores.items()}
            )
        told = {"context": f"so , number {c} ?", "fact": "_nofact", "annotators": ["a", "b", "c"]}
        dialogues.append(told | {"responses": responses})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dialogues, indent=1), encoding="utf-8")


def write_table(path: Path) -> None:
    """A user's own, with qualities of which means are the same in every order of adding up."""
    generator = random.Random(3)
    rows = [f"{text}\t{generator.randint(0, 4)}" for text in sentences(40, 3)]
    path.write_text("\n".join(["text\tquality", *rows, ""]), encoding="utf-8")


def write_raw_files(mirror: Path) -> dict[str, Path]:
    """All raw files of the small project under a mirror, by their path in the table of sources.

    HUSE's generation is not among them, and neither is WordNet.
    """
    write_huse_batch(mirror / "huse/summarization_raw_outputs.csv", items=60)
    names = "train_rel_2.tsv", "public_leaderboard_rel_2.tsv", "public_leaderboard_solution.csv"
    write_essays(*(mirror / "asap-sas" / name for name in names))
    write_usr(mirror / "usr/tc_usr_data.json")
    write_dstc7(mirror / "dstc7/dstc7-task2-human_eval.tgz", contexts=24)
    write_rated_outputs(mirror)
    files = (path for path in mirror.rglob("*") if path.is_file())
    return {path.relative_to(mirror).as_posix(): path for path in files}


def register(project: Path, files: dict[str, Path]) -> None:
    """Give the project's table of sources the sums of these files."""
    table = project / "resources" / "sources.csv"
    with open(table, newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    for row in rows:
        if row["path"] in files:
            row["sha256"] = hashlib.sha256(files[row["path"]].read_bytes()).hexdigest()
    write_rows(table, rows, lineterminator="\n")
