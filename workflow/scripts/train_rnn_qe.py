"""Train RNN-QE on the folds of one set-up, all folds and seeds together. Stage: prediction.

An interrupted run goes on where its checkpoints are. Needs torch (`make torch`).
"""

import argparse
import hashlib
import json
import logging
import shlex
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path

from refless.data.ratings import write_table
from refless.errors import SettingError
from refless.models.rnn_qe.batches import Encoded, Instances
from refless.scripting import run
from refless.store.files import read_json, write_json
from refless.store.machine import load_average, processor, versions

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    # Only here, so that --help and a clear error do without torch.
    from refless.models.rnn_qe.network import Architecture
    from refless.models.rnn_qe.saved import Model, read_vectors, save_model
    from refless.models.rnn_qe.training import SCHEDULES, Run, train

    if arguments.schedule not in SCHEDULES:
        raise SettingError(
            f"no schedule is called {arguments.schedule!r}", remedy=" or ".join(SCHEDULES)
        )
    given = {k: getattr(arguments, k) for k in ("pretrain", "train", "rate", "batch")}
    schedule = replace(
        SCHEDULES[arguments.schedule], **{k: v for k, v in given.items() if v is not None}
    )
    about = read_json(arguments.data / "about.json")
    schedule = replace(schedule, batch=max(1, round(schedule.batch * about["share"])))
    architecture = Architecture(**json.loads(arguments.architecture))
    folds = {
        number: Encoded(Instances.read(arguments.data / f"fold{number}.csv"))
        for number in range(len(about["folds"]))
    }
    vectors = {}
    if arguments.vectors is not None:
        words = set().union(*(data.text_words for data in folds.values()))
        vectors = read_vectors(arguments.vectors, architecture.embedding, words)
        log.info("%d of %d words have a vector", len(vectors), len(words))
    done = train(
        folds,
        arguments.seeds,
        schedule,
        architecture,
        Run(
            device=arguments.device,
            workers=arguments.threads,
            together=arguments.together,
            checkpoints=arguments.checkpoints,
            every=arguments.every,
        ),
        vectors=vectors,
    )
    experiment, _, setup = about["name"].rpartition("setup")
    table = done.predictions
    table.insert(0, "experiment", experiment.strip("_") or "cross_validation")
    table.insert(1, "setup", int(setup))
    write_table(table, arguments.out)
    write_json(
        {
            "provenance": "computed",
            "settings": {
                "data": about["settings"],
                "schedule": {"name": arguments.schedule, **asdict(schedule)},
                "architecture": asdict(architecture),
                "vectors": bool(vectors),
            },
            "sha256": hashlib.sha256(arguments.out.read_bytes()).hexdigest(),
            "texts": about["texts"],
            "data": {str(number): data.digest for number, data in folds.items()},
            "command": shlex.join(["python", *sys.argv]),
            "machine": f"{processor()}, {arguments.device}, {arguments.threads} at a time",
            "load_average": load_average(),
            "versions": versions(["refless", "torch", "numpy"]),
            "seconds": round(done.seconds, 1),
            "models": done.models,
        },
        arguments.out.with_suffix(".json"),
    )
    if arguments.save_models is not None:
        for facts, parameters in zip(done.models, done.parameters, strict=True):
            fold, seed = facts["fold"], facts["seed"]
            if seed == arguments.seeds[0]:
                one = {"name": about["name"], "fold": fold, "seed": seed, "best": facts["best"]}
                model = Model.of(architecture, parameters, folds[fold], one)
                save_model(model, arguments.save_models / f"fold{fold}.pt")
    if arguments.checkpoints is not None:
        shutil.rmtree(arguments.checkpoints, ignore_errors=True)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("data", type=Path, help="directory made by prepare_rnn_qe_data.py")
parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
parser.add_argument("--schedule", default="paper", help="paper or fast; default: %(default)s")
parser.add_argument("--pretrain", type=int, help="passes over everything, instead")
parser.add_argument("--train", type=int, help="passes over rated rows, instead")
parser.add_argument("--rate", type=float, help="Adam's learning rate, instead")
parser.add_argument("--batch", type=int, help="rows in a batch, instead")
parser.add_argument(
    "--architecture", default="{}", help='JSON, e.g. {"cell": "lstm"}; default: the paper\'s'
)
parser.add_argument("--vectors", type=Path, help="pretrained vectors of words, as text")
parser.add_argument("--device", default="cpu", help="of torch; default: %(default)s")
parser.add_argument("--threads", type=int, default=1, help="stacks at a time, on a CPU")
parser.add_argument("--together", type=int, help="models in a stack; default: 5 on a CPU, else all")
parser.add_argument("--checkpoints", type=Path, help="directory; removed when all is done")
parser.add_argument("--every", type=float, default=60, help="seconds between two of them")
parser.add_argument("--save-models", type=Path, help="directory for the first seed's models")
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
