"""One text is one, whoever wrote its tokens."""

from __future__ import annotations

import pytest

from refless.data.wording import wording


def test_one_text_is_one_however_it_is_set() -> None:
    """Tokens or as written, wide letters, letters that change with case."""
    for one, other in (
        ("So ok.", "so ok ."),
        ("don't", "don ' t"),
        ("\uff21b", "ab"),
        ("ﬁt", "fit"),
        ("№ 5", "no 5"),
        ("नाक ।", "नाक।"),
        ("wait . . .", "wait..."),
        ("don\u00b4t", "don \u00b4 t"),
        ("don\u2019t \u2013 \u201cyes\u201d", 'don\'t - "yes"'),
        ("a\u00a8b", "a \u00a8 b"),
        ("\u00abI don't\u00bb", "`` I do n't ''"),
        ("so \u2014 (it's)", "so -- -LRB- it 's -RRB-"),
        ("snake_case", "snake _ case"),
        ("soft\u00adly\u200b", "softly"),
        ("fine \U0001f600", "fine\U0001f600"),
        ("fine \u2764\ufe0f so", "fine\u2764so"),
        ("\u21167", "\u2116 7"),
        ("it\u2122 is", "it \u2122 is"),
        ("20\u2103", "20 \u2103"),
    ):
        assert wording(one) == wording(other)
    greek = "α\u1fe6λος ᾲ \u0390"
    assert wording(greek.upper()) == wording(greek) == wording(greek.upper().lower())
    assert wording("राम की नाक") != wording("राम का नाक")
    assert wording("ok") != wording("okay")
    assert wording("caf\u00e9") != wording("cafe")
    # no number is too long
    assert wording("&#" + "1" * 5000) == "1" * 5000
    # of marks alone, the marks count
    assert wording("!! !") == wording("!!!") != wording("???")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("it's 5 o'clock", "it &apos;s 5 o &#39; clock"),
        ("R&B", "r &amp;amp; b"),
        ("well-known", "well @-@ known"),
        ("and/or", "and \\/ or"),
        ("cannot", "can not"),
        ("我喜欢", "我 喜欢"),
        ("so \u2015 ok\x07", "so \u2014 ok"),
        ("\u301dyes\u301e \ufe58", '"yes" -'),
        ("a\u034fb\U000e0100", "ab"),
        ("\u00bd of it", "1/2 of it"),
        ("wait - - now", "wait -- now"),
    ],
)
def test_no_tokenizer_makes_another_text(one: str, other: str) -> None:
    assert wording(one) == wording(other)
