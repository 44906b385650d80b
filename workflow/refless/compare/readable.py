"""Which texts a kernel can read: one that is not similar to itself is similar to none.

Stage: kernels. In: texts, a kernel. Out: how many it cannot read, and a sentence that says so.
"""

from __future__ import annotations

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


def unread(name: str, texts: Sequence[str], **options: Any) -> int:
    """How many of the texts have no similarity to themselves."""
    if name.partition(".")[0] not in KNOWS:
        return 0
    each = list(dict.fromkeys(texts))
    parts = [each[start : start + BLOCK] for start in range(0, len(each), BLOCK)]
    own = [np.diag(kernel(name, part, part, threads=1, **options)) for part in parts]
    lost = {text for text, value in zip(each, np.concatenate([[], *own]), strict=True) if not value}
    return sum(text in lost for text in texts)


def sentence(name: str, lost: int, texts: int) -> str:
    """Of so many texts of all."""
    knows = KNOWS[name.partition(".")[0]]
    return f"{name} reads {lost:,} of {texts:,} texts as empty: {knows}"
