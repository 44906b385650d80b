"""In which order, and with which symbols, the network reads an MR and a text.

Stage: prediction (RNN-QE, training). In: tokens. Out: tokens.

By default each is read as it stands. The authors' code (see `variants`) reads a text from right to
left: the void symbols that fill it up to 50 tokens, the stop symbol, the tokens, the start symbol.
An MR is ten triples, void ones first, in their own order: their code can sort them, and their
configuration does not ask for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refless.models.rnn_qe.batches import Instances

# No token of a text or an MR has these brackets.
START, STOP, VOID = "<start>", "<stop>", "<void>"
VOID_ACT = ["<no-act>", "<no-slot>", "<no-value>"]
TOKENS, ACTS = 50, 10


@dataclass(frozen=True)
class Reading:
    """How tokens are read.

    reversed : texts from right to left, filled up with `VOID`, cut to `TOKENS`
    acts : triples of an MR cut to `ACTS`, filled up with `VOID_ACT` in front
    """

    reversed: bool = False
    acts: bool = False

    def mr(self, tokens: Sequence[str]) -> list[str]:
        """The tokens of an MR, triples ``act slot value``, as they are read."""
        if not self.acts:
            return list(tokens)
        kept = list(tokens[: 3 * ACTS])
        return VOID_ACT * (ACTS - len(kept) // 3) + kept

    def text(self, tokens: Sequence[str]) -> list[str]:
        """The tokens of a text as they are read."""
        if not self.reversed:
            return list(tokens)
        kept = list(tokens[:TOKENS])
        return [VOID] * (TOKENS - len(kept)) + [STOP, *reversed(kept), START]

    def instances(self, given: Instances) -> Instances:
        """All instances as they are read."""
        if self == Reading():
            return given
        mrs, texts = map(self.mr, given.mr), map(self.text, given.text)
        return Instances(given.id, given.part, list(mrs), list(texts), given.rating)
