"""BAGEL: records, alignment marks, styles, every malformed record."""

from __future__ import annotations

import pytest

from refless.data.sources import bagel
from refless.errors import FormatError


def record(name="The Pan", utterance="[name+X]X []is a [eattype+restaurant]restaurant, []really"):
    return (
        f'FULL_DA = inform(name="{name}",eattype=restaurant)\n'
        'ABSTRACT_DA = inform(name="X1",eattype=restaurant) \n'
        f'-> "{utterance}"; \n\n'
    )


@pytest.fixture
def load(write):
    def load(content):
        return bagel.load(write(content)).check()

    return load


def told(loaded):
    return [(p.line, p.message) for p in loaded.problems]


def test_records(load):
    second = record("B", ' [name+X]X []It\'s "good" [area+X]X.')
    # line ends and blank lines do not matter
    loaded = load(record() + "\n" + second.replace("\n\n", "\n").replace("\n", "\r\n").rstrip())
    assert not loaded.problems
    assert loaded.ratings.empty
    texts = loaded.texts
    assert texts["id"].tolist() == ["bagel:0001", "bagel:0002"]
    assert texts["text"].tolist() == ["X is a restaurant, really", 'X It\'s "good" X.']
    assert texts["text_nem"].tolist() == ["x is a restaurant, really.", 'x it\'s "good" x.']
    assert texts["context"].tolist() == ['inform(name="X1",eattype=restaurant)'] * 2
    assert texts["mr_abstract"].tolist() == texts["context"].tolist()
    assert texts["mr_full"][1] == 'inform(name="B",eattype=restaurant)'
    assert texts["mr_key"][0] == "inform(name=x;eattype=restaurant)"
    assert texts["mr_set"][0] == "inform(eattype=restaurant;name=x)"
    assert texts["quality"].isna().all()
    assert texts["n_ratings"].tolist() == [0, 0]
    assert set(texts["system"]) == {"human"}


def test_malformed_records_keep_their_numbers(load):
    bad_full = record().replace("FULL_DA = inform(", "FULL_DA = inform[")
    no_abstract = record().replace("ABSTRACT_DA = ", "# ABSTRACT_DA ")
    no_utterance = record().split("->")[0]
    lone_utterance = '-> "[name+X]X"; \n'
    lone_abstract = "ABSTRACT_DA = inform(name=x)\n"
    content = (
        bad_full  # lines 1 to 4
        + no_abstract  # 5 to 8
        + no_utterance  # 9, 10
        + record("D", "[name+X X is open")  # 11 to 14
        + record("E", "[name+X] [] ")  # 15 to 18
        + record("F", "a\0b")  # 19 to 22
        + lone_utterance  # 23
        + lone_abstract  # 24
        + record("G")
    )
    loaded = load(content)
    assert told(loaded) == [
        (1, "this is no meaning representation: 'inform[name=\"The Pan\",eattype=restaurant)'"),
        (5, "the record has no abstract MR"),
        (6, "neither an MR nor an utterance: '# ABSTRACT_DA inform(name=\"X1\",eattyp...'"),
        (9, "the record has no utterance"),
        (11, "an alignment mark is not closed: '[name+X X is open'"),
        (15, "the text is empty"),
        (19, "the text contains a NUL character"),
        (23, "an utterance that belongs to no MR"),
        (24, "an abstract MR that belongs to no full MR"),
    ]
    assert loaded.texts["id"].tolist() == ["bagel:0007"]


def test_files_cut_short_anywhere_in_a_record(load):
    whole = record() + record("B").strip()
    ends = [whole.rindex(mark) for mark in ("B", "ABSTRACT", "-> ", "is a")]
    for end in [*ends, whole.rindex('"')]:
        with pytest.raises(FormatError, match="the file stops within this record") as caught:
            load(whole[:end])
        assert caught.value.line == 5
    assert len(load(whole).texts) == 2


def test_files_of_another_kind(load):
    with pytest.raises(FormatError, match="this is not BAGEL: no line begins with FULL_DA"):
        load("<html>\n")
    with pytest.raises(FormatError, match="empty"):
        load("\n")


@pytest.mark.slow
def test_the_real_utterances(mirror):
    loaded = bagel.load(mirror("bagel/ACL10-inform-training.txt")).check().require_clean()
    texts = loaded.texts
    assert len(texts) == 404
    assert texts["mr_abstract"].nunique() == 202
    assert texts["mr_key"].value_counts().eq(2).all()
    assert texts["mr_set"].nunique() == 143
    assert not texts["text"].str.contains(r"[\[\]]").any()
    assert texts["text_nem"].str.fullmatch(r"[^A-Z]*[^ ]\.").all()
