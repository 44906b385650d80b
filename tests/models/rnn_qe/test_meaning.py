"""What stands beside a text: spellings of MRs, contexts, and how they are read."""

from __future__ import annotations

import pytest

from refless.errors import FormatError
from refless.models.rnn_qe.delex import delexicalise
from refless.models.rnn_qe.meaning import ACTS, SLOTS, TEXT, kind_of, tokens_of


@pytest.mark.parametrize(
    ("meaning", "kind", "mr", "text"),
    [
        (
            "inform(name='the hut', price range=cheap)",
            ACTS,
            "inform name X-name inform pricerange X-pricerange",
            "X-name is X-pricerange .",
        ),
        (
            "name[The Hut], customer rating[5 out of 5], kids[yes]",
            SLOTS,
            "inform name X-name inform customerrating X-customerrating inform kids yes",
            "X-name is cheap .",
        ),
        (
            "is the hut (in town) cheap?",
            TEXT,
            "is the hut ( in town ) cheap ?",
            "the hut is cheap .",
        ),
        ("inform-count(x y='yes or no')", ACTS, "inform xy yes inform xy no", None),
        ("inform(name='O'Hara's, Hut', x2=3)", ACTS, "inform name X-name inform x2 X-x2", None),
        ("", ACTS, "", "the hut is cheap ."),
        ("", SLOTS, "", "the hut is cheap ."),
    ],
)
def test_spellings(meaning: str, kind: str, mr: str, text: str | None) -> None:
    if meaning:
        assert kind_of([meaning]) == kind
    ((read, words),) = tokens_of([meaning], ["The Hut is cheap."], kind)
    assert " ".join(read) == mr
    assert text is None or " ".join(words) == text


def test_what_the_loaders_read_is_read_the_same() -> None:
    meaning, text = "?request(price_range='yes or no';near=st)", "Near the street?"
    ((mr, words),) = tokens_of([meaning], [text], ACTS)
    assert (" ".join(mr), " ".join(words)) == delexicalise(meaning, text)


def test_meanings_are_of_a_kind_if_all_are_and_a_mistake_is_named() -> None:
    meanings = ["name[a]"] * 19 + ["name[a"]
    assert kind_of(meanings) == TEXT
    assert kind_of(meanings[:-1]) == SLOTS
    with pytest.raises(FormatError, match="no meaning representation") as caught:
        tokens_of(meanings, ["x"] * 20, SLOTS)
    assert caught.value.line == 20
    assert kind_of(["name[a]", "hello there"]) == TEXT
    several = "inform(name=The Hut)&request(area)"
    with pytest.raises(FormatError, match="several acts"):
        tokens_of([several, "inform(name='The Hut (old) (new)')"], ["x", "x"], ACTS)
    assert tokens_of(["inform(name='The Hut (old) (new)')"], ["x"], ACTS)
    assert kind_of(["", ""]) == TEXT
