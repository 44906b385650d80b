"""Which texts a kernel can read: one that is not similar to itself is similar to none.

Stage: kernels. In: texts, a kernel. Out: how many it cannot read, and a sentence that says so.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from refless.kernels import kernel

KNOWS = {
    "bleu": "it compares n-grams of one to four units",
    "rouge_l": "it knows a-z and 0-9",
    "meteor": "it compares words between blanks",
}
"""Kernels that read the letters of a text, and what they need; encoders read any text."""
BLOCK = 50


def unread(name: str, texts: Sequence[str], **options: Any) -> tuple[int, str]:
    """How many of the texts have no similarity to themselves, and a sentence of it."""
    knows = KNOWS.get(name.partition(".")[0])
    if knows is None:
        return 0, ""
    known: dict[str, float] = {}
    each = list(dict.fromkeys(texts))
    for start in range(0, len(each), BLOCK):
        part = each[start : start + BLOCK]
        own = np.diag(kernel(name, part, part, threads=1, **options))
        known |= zip(part, own, strict=True)
    number = sum(known[text] == 0 for text in texts)
    return number, f"{name} reads {number:,} of {len(texts):,} texts as empty: {knows}"
