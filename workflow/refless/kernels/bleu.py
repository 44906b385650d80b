"""BLEU*: geometric mean of 2-, 3- and 4-gram precision, of characters or words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    k(x, s) = exp(min(0, 1 - |s| / |x|)) * (P2 * P3 * P4) ** (1 / 3)

(Ethayarajh & Sadigh 2020, section 3.) Pn is the share of the n-grams of x that s has; 0 if any
of them is 0, as for a text of fewer than 4 units. Units are characters (``bleu.char``, of the
published figures), blanks counted, or words between blanks. Clipped, an n-gram counts at most as
often as s has it; ``.unclipped``, wherever s has it at all, as equation 1 is written.
"""

from collections.abc import Sequence

from refless.kernels._blocks import Index


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see `refless.kernels._blocks.Index`."""
    from refless.kernels._ngrams import NgramIndex

    ngrams = NgramIndex(training, words=".word" in name, clipped=not name.endswith(".unclipped"))
    return Index(len(training), ngrams.look_up)
