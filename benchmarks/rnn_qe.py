"""How fast RNN-QE is trained: models together, beside torch's own layers, one at a time.

`make torch`, then `python -m benchmarks.rnn_qe`. The peer is the same network (Embedding, GRU over
packed sequences, Linear, Adam) on the same batches, on one core or all, whichever is faster.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.common import HEAD, line, parser, run, timed
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
    every = ways(Encoded(random_instances()), arguments)
    for work, _ in every.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(arguments.runs):
        for name, (work, instances) in every.items():
            seconds[name].append(timed(work)[0] / instances)
    peer = min((name for name in every if name.startswith("torch")), key=lambda n: min(seconds[n]))
    print(HEAD)
    for name in every:
        if not name.startswith("torch"):
            print(line(f"an instance, {name}", peer, seconds[peer], seconds[name]))


options = parser(__doc__.splitlines()[0])
options.add_argument("--batch", type=int, default=50, help="rows in a batch")
options.add_argument("--batches", type=int, default=10, help="timed in a run")
options.add_argument("--together", type=int, default=5, help="models in a stack")
options.add_argument("--cores", type=int, default=2)

if __name__ == "__main__":
    run(main, options)
