"""The sum of texts: a stored kernel names it."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from refless.store.files import text_sum


def test_text_sum_by_hand() -> None:
    # 8 bytes of length, then UTF-8: \u00e9 is c3 a9; a lone surrogate d800 is ed a0 80.
    content = bytes([2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9, 3, 0, 0, 0, 0, 0, 0, 0, 0xED, 0xA0, 0x80])
    assert text_sum(["\u00e9", "\ud800"]) == hashlib.sha256(content).hexdigest()


some = st.lists(st.text(alphabet="a\x00\x01\ud83d\ude00\U0001f600", max_size=3), max_size=4)


@given(one=some, other=some)
def test_text_sum_tells_lists_apart(one: list[str], other: list[str]) -> None:
    assert (text_sum(one) == text_sum(other)) == (one == other)
