"""How fast RNN-QE is trained: models together, beside one at a time. Stage: none.

`make torch`, then `python -m benchmarks.rnn_qe`. The peer is the same network from torch's own
layers (Embedding, GRU over packed sequences, Linear, Adam), one model at a time on the same
batches, and `--cores` is shared as each can use it best: the peer's products take all cores (or one
core, whichever is faster), the stacks take a core each. Both take turns in one process. Texts are
instances of a set-up where they are at hand, else random ones of the same lengths.

What a pass over an instance costs, with width 300, 9 tokens of an MR and 10.5 of a text:

    a token, forward    2 products of 300 x 900           1.1 million operations
    backward            twice that                        3.2 in all
    an instance         19.5 tokens, and 4 x 600 x 600    63 + 4 = 67 million operations

One core of the record's machine does about 80 (single precision) and 300 (bfloat16) thousand
million a second in products of 100 rows and more (60 and 160 of 25 rows, which is what a step of a
batch of 50 has on average): at most 1,200 and 4,500 instances. Besides products there are Adam
(1.9 million parameters, read and written for each batch: 2 to 4 ms beside 42 ms of products in
single precision, 11 in bfloat16) and what is done element by element.

torch's GRU leaves out padding too and comes to 700 instances a second of a core, near 60% of the
bound. So in single precision five times its speed is out of reach on a CPU, whatever is batched:
the bound is at 1.7. bfloat16 would move it to 6 in products of 100 rows; of the 25 rows that there
are, it is at 3.4 (160 thousand million by 67 million, over 700), and what is reached is between 2
and 3. By the clock there is more where cores are shared with other work, for a product on two cores
waits for both, and stacks never wait for each other. Encoding an MR once a batch would save an
eighth, but then its instances would share what dropout drops, which the paper does not say; smaller
states would not be the paper's.
"""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from refless.report.benchmarks import peer_table

from benchmarks.common import machine, parser, run, timed, write
from refless.experiments.rnn_qe.runs import read_fold
from refless.models.rnn_qe.batches import Encoded, Instances


def random_instances(rows: int = 1500) -> Instances:
    """As many instances and tokens as set-up 1 has, of random words."""
    generator = np.random.default_rng(0)
    lengths = np.clip(generator.poisson(7.5, rows) + 3, 3, 40), 3 * generator.integers(1, 6, rows)
    text, mr = (
        [[f"w{k}" for k in generator.integers(0, words, n)] for n in own]
        for own, words in zip(lengths, (290, 45), strict=True)
    )
    part = ["dev" if row < 20 else "train" for row in range(rows)]
    rating = (generator.integers(2, 13, rows) / 2).tolist()
    return Instances([str(row) for row in range(rows)], part, mr, text, rating)


def peer(architecture: Any, data: Encoded) -> Any:
    """One model of torch's own layers, and a function that trains it on a batch of rows."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            width, hidden = architecture.embedding, architecture.hidden
            sizes = {"mr": len(data.mr_words) + 1, "text": len(data.text_words) + 1}
            self.embeddings = nn.ModuleDict({k: nn.Embedding(n, width) for k, n in sizes.items()})
            self.encoders = nn.ModuleDict({k: nn.GRU(width, hidden) for k in sizes})
            self.dropout = nn.Dropout(architecture.dropout)
            both = 2 * hidden
            layers = [nn.Sequential(nn.Linear(both, both), nn.Tanh()) for _ in range(2)]
            self.head = nn.Sequential(*layers, nn.Linear(both, 1))

        def forward(self, batch: dict[str, list[torch.Tensor]]) -> torch.Tensor:
            states = []
            for side, sequences in batch.items():
                packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
                x = self.dropout(self.embeddings[side](packed.data))
                states.append(self.encoders[side](packed._replace(data=x))[1][0])
            return self.head(torch.cat(states, 1)).squeeze(1)

    network = Network()
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    rating = torch.from_numpy(data.rating).float()

    def sequences(side: str, rows: np.ndarray) -> list[torch.Tensor]:
        read = getattr(data, side)
        return [torch.from_numpy(read.tokens[read.starts[r] : read.starts[r + 1]]) for r in rows]

    def step(rows: np.ndarray) -> None:
        batch = {side: sequences(side, rows) for side in ("mr", "text")}
        loss = ((network(batch) - rating[rows]) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    return step


def ways(data: Encoded, arguments: argparse.Namespace) -> dict[str, tuple[Any, int]]:
    """Name -> (what trains a few batches, how many instances these are)."""
    import torch

    from refless.models.rnn_qe.network import Architecture
    from refless.models.rnn_qe.training import Member, Schedule, Stack, generator

    schedule = Schedule(0, 1, 1e-4, arguments.batch)
    numbers = range(arguments.batches)
    batches = Stack([Member(0, 0)], {0: data}, schedule, Architecture()).deals([generator(0, 1, 0)])
    rows = [batches[k % len(batches)][0] for k in numbers]
    one = peer(Architecture(), data)

    def alone(threads: int) -> Any:
        def work() -> None:
            torch.set_num_threads(threads)
            for batch in rows:
                one(batch)

        return work

    def together(architecture: Architecture) -> tuple[Any, int]:
        stacks = []
        for core in range(arguments.cores):
            members = [Member(0, 5 * core + k) for k in range(arguments.together)]
            stack = Stack(members, {0: data}, schedule, architecture)
            generators = [generator(m.seed, 1, 0) for m in members]
            stacks.append((stack, generators, stack.deals(generators)))

        def train(given: Any) -> None:
            torch.set_num_threads(1)
            stack, generators, dealt = given
            for k in numbers:
                stack.step(dealt[k % len(dealt)], generators)

        def work() -> None:
            with ThreadPoolExecutor(arguments.cores) as pool:
                list(pool.map(train, stacks))

        count = sum(len(own) for _, _, d in stacks for k in numbers for own in d[k % len(d)])
        return work, count

    single = sum(map(len, rows))
    return {
        "torch.nn, one at a time, 1 core": (alone(1), single),
        f"torch.nn, one at a time, {arguments.cores} cores": (alone(arguments.cores), single),
        "together, float32": together(Architecture()),
        "together, bfloat16": together(Architecture(precision="bfloat16")),
    }


def main(arguments: argparse.Namespace) -> None:
    if arguments.instances.is_file():
        data, about = Encoded(read_fold(arguments.instances)[0]), arguments.instances.name
    else:
        data, about = Encoded(random_instances()), "random words"
    here = machine(["torch", "numpy"])
    every = ways(data, arguments)
    for work, _ in every.values():
        work()
    rates: dict[str, dict[str, list[float]]] = {name: {"clock": [], "core": []} for name in every}
    for _ in range(arguments.runs):
        for name, (work, instances) in every.items():
            before = time.process_time()
            wall, _ = timed(work)
            rates[name]["clock"].append(instances / wall)
            rates[name]["core"].append(instances / (time.process_time() - before))
    median = {
        name: {kind: statistics.median(values) for kind, values in rate.items()}
        for name, rate in rates.items()
    }
    peers = [rate for name, rate in median.items() if name.startswith("torch")]
    best = {kind: max(rate[kind] for rate in peers) for kind in ("clock", "core")}
    record = {
        "machine": here,
        "data": about,
        "settings": {k: getattr(arguments, k) for k in ("batch", "batches", "together", "cores")},
        "runs": arguments.runs,
        "instances_per_second": median,
        "ratio": {
            name: {kind: rate[kind] / best[kind] for kind in best}
            for name, rate in median.items()
            if name.startswith("together")
        },
    }
    write(record, arguments)
    print(peer_table({"rnn_qe": record}))


options = parser(__doc__.splitlines()[0], "rnn_qe")
options.add_argument(
    "--instances",
    type=Path,
    default=Path("results/rnn_qe/data/setup1/fold0.csv"),
    help="default: %(default)s, or random ones",
)
options.add_argument("--batch", type=int, default=50, help="rows in a batch")
options.add_argument("--batches", type=int, default=10, help="timed in a run")
options.add_argument("--together", type=int, default=5, help="models in a stack")
options.add_argument("--cores", type=int, default=2)

if __name__ == "__main__":
    run(main, options)
