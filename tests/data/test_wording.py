"""One text is one, whoever wrote its tokens."""

from refless.data.wording import numbered, wording


def test_one_text_is_one_however_it_is_set() -> None:
    """Tokens or as written, wide letters, letters that change with case."""
    for one, other in (
        ("So ok.", "so ok ."),
        ("don't", "do n ' t"),
        ("\uff21b", "ab"),
        ("ﬁt", "fit"),
        ("№ 5", "no 5"),
        ("wait . . .", "wait..."),
        ("don\u2019t \u2013 \u201cyes\u201d", 'don\'t - "yes"'),
        ("snake_case", "snake _ case"),
        ("soft\u00adly\u200b", "softly"),
        ("fine \U0001f600", "fine\U0001f600"),
        ("我喜欢", "我 喜欢"),
        ("\u00bd of it", "1/2 of it"),
    ):
        assert wording(one) == wording(other)
    greek = "α\u1fe6λος ᾲ \u0390"
    assert wording(greek.upper()) == wording(greek) == wording(greek.upper().lower())
    assert wording("ok") != wording("okay")
    assert wording("caf\u00e9") == wording("cafe\u0301") != wording("cafe")
    # of marks alone, the marks count
    assert wording("!! !") == wording("!!!") != wording("???")
    assert wording(" ") == ""


def test_texts_are_numbered_by_it() -> None:
    assert numbered(["b", "A!", "a", "", "c", " ", "B"]).tolist() == [0, 1, 1, 2, 3, 2, 0]
    assert numbered(["b", "", "B", " "], apart=True).tolist() == [0, 1, 0, 2]
