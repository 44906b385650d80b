"""Spellings of MRs and texts: which are one, keys, the style of references."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data import mr
from refless.data.text_ids import normalize_text, text_ids
from refless.errors import FormatError


@pytest.mark.parametrize(
    ("text", "act", "slots"),
    [
        ("inform(name='the inn',price_range=cheap)", "inform", "name=the inn|pricerange=cheap"),
        ('inform(name="X1",food=Thai,food="A soup") ', "inform", "name=X|food=Thai|food=A soup"),
        ("?request(near)", "request", "near="),
        ("?reqmore( )", "reqmore", ""),
        ("inform_count(count='3')", "inform", "count=3"),
        ("select(dogs='yes or no')", "select", "dogs=yes|dogs=no"),
        ("select(area='a or b')", "select", "area=a or b"),
        ("?select(meal=tea;meal=supper')", "select", "meal=tea|meal=supper"),
        ("inform(name='joe's (bar)', area = x )", "inform", "name=joe's (bar)|area=x"),
        (" Inform ( Name = ' X9 ' , K_OK='Yes or no' ) ", "inform", "name=X|kok=yes|kok=no"),
        ("inform(name='a, b; c')", "inform", "name=a, b; c"),
        ("inform(name='',area=)", "inform", "name=|area="),
    ],
)
def test_parse(text, act, slots):
    wanted = [tuple(slot.split("=")) for slot in slots.split("|") if slot]
    assert mr.parse(text) == (act, wanted)


NONE = ["", "inform", "inform(", "(a=b)", "inform)a=b(", "inform(a=b,,c=d)", "inform(=b)", "i(a?)"]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_mr(text):
    with pytest.raises(FormatError):
        mr.parse(text)


def test_keys_agree_over_the_three_spellings():
    nem = "inform(type='hotel',count='3',price_range='moderate',address='5 elm st')"
    rnnlg = "inform_count(type='hotel';count='3';pricerange=moderate;address='5 Elm  street')"
    assert mr.key(nem) == mr.key(rnnlg)
    assert mr.key(nem) == "inform(type=hotel;count=3;pricerange=moderate;address=5 elm street)"
    bagel = 'inform(name="X1",near="X2",food=Thai,food="Thai soup")'
    assert mr.key("inform(name='X',near='X',food=Thai,food='Thai soup')") == mr.key(bagel)
    assert mr.key("request(near)") == mr.key("?request(near)") == "request(near)"
    assert mr.key("inform(name='st ave stave')") == "inform(name=street avenue stave)"


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z]{1,5}(_[a-z]{1,5})?", fullmatch=True),
            st.from_regex(r"[a-wyz0-9]([a-np-z0-9 ]{0,8}[a-np-z0-9])?", fullmatch=True),
        ),
        max_size=5,
    )
)
def test_every_spelling_gives_back_its_slots(slots):
    wanted = [(slot.replace("_", ""), value) for slot, value in slots]
    for separator, quote, ask in ((",", "'", ""), (";", "'", "?"), (",", '"', "")):
        body = separator.join(f"{slot}={quote}{value}{quote}" for slot, value in slots)
        assert mr.parse(f"{ask}confirm({body})").slots == wanted


def test_long_input_takes_no_long_time():
    start = time.process_time()
    assert len(mr.parse("inform(" + "a=b," * 20_000 + ")").slots) == 20_000
    tricky = mr.parse("inform(a='" + "'b" * 20_000 + "')")
    assert len(tricky.slots[0][1]) == 40_000
    for text in ("x(" * 20_000, "inform(" + "a" * 50_000 + "?)"):
        with pytest.raises(FormatError):
            mr.parse(text)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "act", "styled"),
    [
        ("X is cheap . It is small.", "inform", "x is cheap. it is small."),
        ("3 hotel -s , all  moderate -ly priced", "inform", "3 hotels, all moderately priced."),
        ("child -s and childe -s are allowed", "inform", "children and childes are allowed."),
        ("the inn 's phone is 4 .", "inform", "the inn 's phone is 4."),
        ("which area", "select", "which area?"),
        ("anything else .", "reqmore", "anything else?"),
        ("a sub -sequence stays", "inform", "a sub -sequence stays."),
    ],
)
def test_the_style_of_nem(text, act, styled):
    assert mr.nem_style(text, act) == styled
    assert mr.nem_style(styled, act) == styled


def test_one_text_is_one_however_it_is_set():
    for one, other in (
        ("So ok.", "so ok ."),
        ("don't", "do n ' t"),
        ("\uff21b", "ab"),
        ("ﬁt", "fit"),
        ("don\u2019t \u2013 \u201cyes\u201d", 'don\'t - "yes"'),
        ("snake_case", "snake _ case"),
        ("soft\u00adly\u200b", "softly"),
        ("fine \U0001f600", "fine\U0001f600"),
        ("我喜欢", "我 喜欢"),
        ("\u00bd of it", "1/2 of it"),
    ):
        assert normalize_text(one) == normalize_text(other)
    greek = "α\u1fe6λος ᾲ \u0390"
    spellings = greek, greek.upper(), greek.upper().lower()
    assert len(set(map(normalize_text, spellings))) == 1
    assert normalize_text("ok") != normalize_text("okay")
    assert normalize_text("caf\u00e9") == normalize_text("cafe\u0301") != normalize_text("cafe")
    # of marks alone, the marks count
    assert normalize_text("!! !") == normalize_text("!!!") != normalize_text("???")
    assert normalize_text(" ") == ""


def test_texts_are_numbered_by_it():
    assert text_ids(["b", "A!", "a", "", "c", " ", "B"]).tolist() == [0, 1, 1, 2, 3, 2, 0]
    assert text_ids(["b", "", "B", " "], separate_blank=True).tolist() == [0, 1, 0, 2]
