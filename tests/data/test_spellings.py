"""Spellings of MRs and texts: which are one, keys, the style of references."""

import itertools
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data import mr
from refless.data.text_ids import fold_key, label_ids, merge_key, text_ids
from refless.errors import FormatError
from tests.data.test_loaders import of_config


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
        assert fold_key(one) == fold_key(other)
    greek = "α\u1fe6λος ᾲ \u0390"
    spellings = greek, greek.upper(), greek.upper().lower()
    assert len(set(map(fold_key, spellings))) == 1
    assert fold_key("ok") != fold_key("okay")
    assert fold_key("caf\u00e9") == fold_key("cafe\u0301") != fold_key("cafe")
    # of marks alone, the marks count
    assert fold_key("!! !") == fold_key("!!!") != fold_key("???")
    assert fold_key(" ") == ""


SIGNS_THAT_COUNT = [
    *(("C++", "C#"), ("3.5", "35"), ("5", "-5"), ("x<y", "x>y"), ("ok", "ok.")),
    *(("\U0001f600", "\U0001f622"), ("well \U0001f600", "well \U0001f622"), ("a b", "ab")),
]
# Devanagari, Bengali, Tamil, Thai, Arabic, Hebrew: words that differ in their vowels' signs alone
VOWEL_SIGNS = [
    *itertools.combinations(["का", "की", "कि", "के", "क"], 2),
    *(("दिन", "दीन"), ("কি", "কী"), ("கி", "கு"), ("ปา", "ปี"), ("عِلم", "عَلم"), ("סֵפר", "סַפר")),
]


@pytest.mark.parametrize(("one", "other"), [*SIGNS_THAT_COUNT, *VOWEL_SIGNS])
def test_what_differs_in_signs_is_never_merged(one, other):
    assert merge_key(one) != merge_key(other)


@pytest.mark.parametrize(("one", "other"), VOWEL_SIGNS)
def test_vowel_signs_keep_texts_apart_in_folds_too(one, other):
    assert fold_key(one) != fold_key(other)


def test_case_blanks_and_composition_are_nothing():
    assert merge_key(" Caf\u00e9\u00a0 Noir\n") == merge_key("cafe\u0301 noir")
    greek = "α\u1fe6λος ᾲ \u0390"
    assert len(set(map(merge_key, (greek, greek.upper(), greek.upper().lower())))) == 1
    assert fold_key("\u2764\ufe0f yes") == fold_key("\u2764 yes")  # how an emoji looks
    assert merge_key(" ") == ""


@given(st.text(), st.sampled_from([str.upper, str.lower, str.title, " ".join]))
def test_what_is_merged_is_in_one_fold(text, spell):
    other = spell(text)
    assert fold_key(merge_key(text)) == fold_key(text)
    assert merge_key(text) != merge_key(other) or fold_key(text) == fold_key(other)


def letters_and_digits(text: str) -> str:
    """What 1.0.0 took for a text: without marks, which no rated text here has."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"[\W_]+", "", folded) or "".join(folded.split())


@pytest.mark.parametrize(
    "dataset",
    [
        *("huse_summarization", "dstc7", "asap_sas", "usr_topicalchat", "usr_personachat"),
        *("nem", "bagel", "sfrest", "sfhot"),
    ],
)
def test_on_real_data_marks_change_no_group(mirror, dataset):
    texts = of_config(mirror, dataset).texts
    for column in ("text", "context"):
        before = label_ids(map(letters_and_digits, texts[column]), separate_blank=True)
        assert text_ids(texts[column], separate_blank=True).tolist() == before.tolist()
        if (
            column == "context" and texts["quality"].notna().any()
        ):  # its ratings stay where they are
            merged = label_ids(map(merge_key, texts[column]), separate_blank=True)
            assert len(set(merged)) == len(set(before))


def test_texts_are_numbered_by_it():
    assert text_ids(["b", "A!", "a", "", "c", " ", "B"]).tolist() == [0, 1, 1, 2, 3, 2, 0]
    assert text_ids(["b", "", "B", " "], separate_blank=True).tolist() == [0, 1, 0, 2]
