"""BLEU* without stopwords: what is left of a text when its function words are taken out.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1], BLEU* (see ``bleu``)
of what is left of x and s.

A text is split at blanks; a word is dropped if, in lower case and without the marks at its ends,
it is in STOPWORDS, or if it has no letter and no digit. ``bleu_content.char`` takes the characters
of the remaining words with one blank between them, ``bleu_content.word`` the words. Words are
dropped before n-grams are formed, so an n-gram may bridge a dropped word.

The paper names the idea as future work, without a list (Ethayarajh & Sadigh 2020, section 6); this
list has the closed classes of English words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from refless.kernels.bleu import BleuIndex, BleuPlan

NAMES = ("bleu_content.char", "bleu_content.word")
PACKAGES: dict[str, tuple[str, ...]] = {}

_AUXILIARIES = """
am is are was were be been being have has had having do does did doing will would shall should can
could may might must ought need
"""
_CONTRACTED = """
isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't
shouldn't can't cannot couldn't mightn't mustn't needn't ain't
isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt wont wouldnt shouldnt cant couldnt
i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd
we're we've we'll we'd they're they've they'll they'd that's there's here's what's who's let's
im ive youre theyre thats
s t m d ll re ve n't
"""
_DETERMINERS = """
a an the this that these those some any no each every either neither both all such another other
"""
_PRONOUNS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it
its itself we us our ours ourselves they them their theirs themselves one
who whom whose which what whoever whatever somebody someone something anybody anyone anything
nobody nothing everybody everyone everything
"""
_PREPOSITIONS = """
about above across after against along among around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into like near of off on
onto out outside over past per since through throughout till to toward towards under until up upon
via with within without
"""
_CONJUNCTIONS = "and or but nor so yet if unless because although though while whereas whether than"
_ADVERBS = """
not then there here when where why how too very just also only even again ever never now still
already more most less least much many few own same
"""
STOPWORDS = frozenset(
    " ".join(
        (
            *(_AUXILIARIES, _CONTRACTED, _DETERMINERS, _PRONOUNS),
            *(_PREPOSITIONS, _CONJUNCTIONS, _ADVERBS),
        )
    ).split()
)


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> BleuPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return index(name, training).plan(candidates)


def index(name: str, training: Sequence[str]) -> ContentIndex:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    found = ContentIndex(name.endswith(".word"), clipped=True)
    found.learn([content(text) for text in training])
    return found


def opened(name: str, arrays: Mapping[str, np.ndarray]) -> ContentIndex:
    """The index of these arrays; see ``refless.kernels._plan.Index``."""
    found = ContentIndex(name.endswith(".word"), clipped=True)
    found.take(arrays)
    return found


class ContentIndex(BleuIndex):
    """Training texts without their stopwords."""

    def coded(self, candidates: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        return super().coded([content(text) for text in candidates])


def content(text: str) -> str:
    """The words of a text that are no stopwords, one blank between them."""
    return " ".join(word for word in text.split() if not _is_stopword(word))


def _is_stopword(word: str) -> bool:
    inside = [i for i, character in enumerate(word) if character.isalnum()]
    if not inside:
        return True
    bare = word[inside[0] : inside[-1] + 1].lower().replace("\u2019", "'")
    return bare in STOPWORDS
