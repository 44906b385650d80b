"""What stands beside a text: spellings of MRs, contexts, and how they are read."""

from __future__ import annotations

import pytest

from refless.data.sources import mr
from refless.errors import FormatError
from refless.models.rnn_qe.meaning import (
    ACTS,
    SLOTS,
    TEXT,
    delexicalise,
    kind_of,
    tokens_of,
    told_apart,
)


@pytest.mark.parametrize(
    ("meaning", "kind", "expected"),
    [
        (
            "inform(name='the hut', price range=cheap)",
            ACTS,
            "inform name X-name inform pricerange X-pricerange",
        ),
        (
            "name[The Hut], customer rating[5 out of 5], kids[yes]",
            SLOTS,
            "inform name X-name inform customerrating X-customerrating inform kids yes",
        ),
        ("is the hut (in town) cheap?", TEXT, "is the hut ( in town ) cheap ?"),
        ("inform-count(x y='yes or no')", ACTS, "inform xy yes inform xy no"),
        ("inform(name='O'Hara's, Hut', x2=3)", ACTS, "inform name X-name inform x2 X-x2"),
        ("inform(name='The Hut (old)')", ACTS, "inform name X-name"),
        # several acts are no MR
        (
            "inform(name=The Hut)&request(area)",
            TEXT,
            "inform ( name = the hut ) & request ( area )",
        ),
        ("", TEXT, ""),
    ],
)
def test_spellings(meaning: str, kind: str, expected: str) -> None:
    assert kind_of([meaning]) == kind
    ((read, _),) = tokens_of([meaning], ["The Hut is cheap."], kind)
    assert " ".join(read) == expected


def test_an_empty_meaning_delexicalises_nothing() -> None:
    found = tokens_of(["name[The Hut]", ""], ["The Hut."] * 2, SLOTS)
    assert [words for _, words in found] == [["X-name", "."], ["the", "hut", "."]]


@pytest.mark.parametrize(
    "meaning",
    ["?request(price_range='yes or no';near=st)", "select(meal=supper';meal=tea)", "reqmore()"],
)
def test_what_the_loaders_read_is_read_the_same(meaning: str) -> None:
    text = "Near the street?"
    assert tokens_of([meaning], [text], ACTS) == [delexicalise(mr.parse(meaning), text)]


def test_meanings_are_of_a_kind_if_all_are_and_a_mistake_is_named() -> None:
    meanings = ["name[a]"] * 19 + ["name[a"]
    assert kind_of(meanings) == TEXT
    assert kind_of(meanings[:-1]) == SLOTS
    with pytest.raises(FormatError, match="no meaning representation") as caught:
        tokens_of(meanings, ["x"] * 20, SLOTS)
    assert caught.value.line == 20


def test_mrs_differ_by_act_and_values_but_not_by_the_order_of_slots() -> None:
    meanings = ["inform(a='B c',d=e)", "inform(d=e,a=bc)", "inform(d=e,a=b)", "deny(a=bc,d=e)"]
    one, same, *others = told_apart(meanings, ACTS)
    assert one == same
    assert len({one, *others}) == 3
    assert told_apart(["Oh, well!", ""], TEXT) == ["ohwell", ""]
