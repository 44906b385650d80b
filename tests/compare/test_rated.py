"""A user's files as rated texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.compare.rated import rated_of
from refless.compare.splits import all_splits
from refless.errors import FormatError
from tests.compare.made_up import read_rated, rows, write


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    given = [{"text": row["text"], "quality": row["quality"]} for row in rows(30)]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 10])
    assert found.systems is None
    assert found.context is None
    assert found.references is None
    assert found.scores == {}
    np.testing.assert_allclose(found.quality, [row["quality"] / 10 for row in given])


def test_one_system_is_none(tmp_path: Path) -> None:
    given = [{"text": row["text"], "quality": row["quality"], "system": "s"} for row in rows(30)]
    assert read_rated([write(tmp_path / "a.jsonl", given)], [0, 10]).systems is None


def test_raters_are_averaged_and_unrated_texts_left_out(tmp_path: Path) -> None:
    given = [
        {"text": f"text {k}", "quality": quality, "rater": rater}
        for k in range(25)
        for rater, quality in (("ann", 1 + k % 5), ("bob", 3))
    ]
    given += [{"text": "text nobody rated", "quality": "", "rater": "ann"}]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [1, 5])
    np.testing.assert_allclose(found.quality, [(k % 5 + 2) / 2 / 4 for k in range(25)])
    assert any("1 of 26 texts" in sentence for sentence in found.warnings)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ([{"text": f"t {k}", "quality": k} for k in range(19)], "too few"),
        ([{"text": f"t {k}", "quality": 3} for k in range(40)], "no scale"),
    ],
)
def test_bad_ratings_have_a_remedy(
    tmp_path: Path, given: list[dict[str, object]], word: str
) -> None:
    with pytest.raises(FormatError, match=word) as caught:
        read_rated([write(tmp_path / "a.jsonl", given)])
    assert caught.value.remedy
    assert str(tmp_path / "a.jsonl") in str(caught.value)


def test_blanks_and_composed_letters_make_no_other_context(tmp_path: Path) -> None:
    given = rows(40)
    for k, row in enumerate(given):
        context = ["caf\u00e9 at noon", "Cafe\u0301 at noon:", " caf\u00e9  at noon "][k % 3]
        row["context"] = f"{context} {k // 3}"
    given[0]["text"], given[1]["text"] = "a na\u00efve one", "A  nai\u0308ve one"
    found = read_rated([write(tmp_path / "a.jsonl", given)])
    assert found.context is not None
    np.testing.assert_array_equal(found.context, np.arange(40) // 3)
    assert found.wording[0] == found.wording[1]


def tidy(**more: list[str]) -> pd.DataFrame:
    """A tidy table of 40 rated texts."""
    own = {"text": [f"text {k}" for k in range(40)], "quality": np.arange(40) % 5 / 4}
    return pd.DataFrame(own | {"n_ratings": 1, "system": "s"} | more)


def test_dialogues_about_one_passage_are_left_out_together() -> None:
    passages, dialogues = np.arange(40) % 7, np.arange(40) % 14
    found = rated_of(
        tidy(
            context=[f"passage {k}" for k in passages],
            context_id=[f"dialogue {k}" for k in dialogues],
        )
    )
    np.testing.assert_array_equal(found.context, dialogues)
    np.testing.assert_array_equal(found.apart, passages)
    fold = {split.name: split for split in all_splits(found)[0]}["contexts"].fold
    assert all(len(set(fold[passages == k])) == 1 for k in range(7))


def test_one_row_that_says_nothing_changes_nothing_for_the_others() -> None:
    spelt = [f"{'So it is.' if k % 2 else 'so it is .'} {k // 2}" for k in range(40)]
    contexts = [*spelt[:38], "", ""]
    found = rated_of(tidy(context=contexts))
    assert found.apart is not None
    np.testing.assert_array_equal(found.apart[:38], np.arange(38) // 2)
    # nor does one that has an MR, where the others have contexts
    mrs = [""] * 39 + ["name[The Inn], food[Thai]"]
    found = rated_of(tidy(context=[*spelt[:39], "another"], mr=mrs))
    assert found.apart is not None
    np.testing.assert_array_equal(found.apart[:38], np.arange(38) // 2)


def test_a_context_has_one_number_in_every_spelling() -> None:
    """Those of the other systems in the same context are what some methods lean on."""
    spelt = [f"{'So it is.' if k % 2 else 'so it is .'} {k // 2}" for k in range(40)]
    slots = [["near[Inn]", f"food[Thai {k // 2}]"][:: 1 - 2 * (k % 2)] for k in range(40)]
    mrs = [", ".join(one) for one in slots]
    for given in ({"context": spelt}, {"context": mrs, "mr": mrs, "mr_key": mrs}):
        np.testing.assert_array_equal(rated_of(tidy(**given)).context, np.arange(40) // 2)


def test_texts_without_a_context_among_others_are_said() -> None:
    found = rated_of(tidy(context=[f"c {k // 2}" if k < 30 else "" for k in range(40)]))
    assert any("10 of 40 texts" in said for said in found.warnings)


def test_mrs_in_the_column_context_have_one_number_in_any_order(tmp_path: Path) -> None:
    given = rows(40)
    for k, row in enumerate(given):
        row["context"] = ", ".join(["near[Inn]", f"food[Thai {k // 2}]"][:: 1 - 2 * (k % 2)])
    found = read_rated([write(tmp_path / "a.jsonl", given)])
    np.testing.assert_array_equal(found.context, np.arange(40) // 2)


def test_the_order_of_slots_is_no_new_context() -> None:
    slots = [f"food[Thai {k // 2}]" for k in range(40)]
    meanings = [", ".join(["near[Inn]", one][:: 1 - 2 * (k % 2)]) for k, one in enumerate(slots)]
    found = rated_of(tidy(context=meanings, mr=meanings))
    assert found.apart is not None
    assert len(set(found.apart)) <= 20


@pytest.mark.parametrize("other", ["inform(area)", "inform(area=?)", "inform(area=yes)"])
def test_some_values_tell_mrs_apart(other: str) -> None:
    meanings = [["inform(area=none)", other][k % 2] for k in range(40)]
    found = rated_of(tidy(context=meanings, mr=meanings, mr_key=meanings))
    np.testing.assert_array_equal(found.apart, np.arange(40) % 2)


def test_values_belong_to_their_slots() -> None:
    """What is yes of one slot and no of another one is no order of slots, in either notation."""
    both = [
        [f"inform(dogs={one},wifi={other})" for one, other in [("yes", "no"), ("no", "yes")]],
        [f"dogs[{one}], wifi[{other}]" for one, other in [("yes", "no"), ("no", "yes")]],
        ["price[high], rating[low]", "price[low], rating[high]"],
    ]
    for mrs in both:
        meanings = [mrs[k % 2] for k in range(40)]
        context = rated_of(tidy(context=meanings, mr=meanings, mr_key=meanings)).context
        np.testing.assert_array_equal(context, np.arange(40) % 2)


@pytest.mark.parametrize(
    "spellings",
    [
        ["inform(price_range=low,pricey=x)", "inform(price range=low, pricey=x)"],
        ["inform_all(b c=x,bd=y)", "inform-all(b_c=x, bd=y)"],
        ["inform(food=dontcare)", "inform(food='don’t care')"],
        ["price range[low], near[The Inn]", "near[the inn], Price_Range[low]"],
    ],
)
def test_an_mr_is_one_in_every_spelling(spellings: list[str]) -> None:
    meanings = [
        *(spellings[k % 2] for k in range(38)),
        *2 * ["other[x]" if "[" in spellings[0] else "inform(other=x)"],
    ]
    found = rated_of(tidy(context=meanings, mr=meanings, mr_key=meanings))
    assert found.context is not None
    assert found.apart is not None
    assert len(set(found.context[:38])) == len(set(found.apart[:38])) == 1
    assert found.apart[39] != found.apart[0]


def test_contexts_are_merged_whatever_else_tells_them_apart() -> None:
    mrs = ["name[A], near[B]", "name[C], near[D]", "open[yes]", "food[no]", "request[food]"]
    meanings = [mrs[k % 5] for k in range(40)]
    found = rated_of(tidy(context=meanings, mr=meanings, mr_key=meanings))
    np.testing.assert_array_equal(found.apart, [0, 0, 1, 2, 3] * 8)
    # plain words that differ in marks alone are one
    plain = [f"say the time{', ' if k % 2 else ' '}at {k % 4 // 2}" for k in range(40)]
    found = rated_of(tidy(context=plain, mr=plain, mr_key=plain))
    np.testing.assert_array_equal(found.context, np.arange(40) % 4 // 2)


def test_mrs_that_differ_in_names_alone_are_left_out_together() -> None:
    pets = np.arange(40) % 2
    meanings = [f"name[The {k % 4}], pets[{['yes', 'no'][k % 2]}]" for k in range(40)]
    found = rated_of(tidy(context=meanings, mr=meanings))
    np.testing.assert_array_equal(found.context, np.arange(40) % 4)
    np.testing.assert_array_equal(found.apart, pets)


def test_mrs_that_all_differ_in_names_alone_are_no_new_contexts() -> None:
    meanings = [f"name[The {k % 4}], food[Thai]" for k in range(40)]
    found = rated_of(tidy(context=meanings, mr=meanings))
    splits, why = all_splits(found)
    assert "contexts" not in {split.name for split in splits}
    assert "1 contexts" in why["contexts"]


def with_mrs(count: int = 40) -> list[dict[str, object]]:
    """Texts with MRs of two types, each with four names."""
    return [
        {
            "text": f"text {k}",
            "quality": k % 5,
            "mr": f"name[The {k % 4}], pets[{['yes', 'no'][k % 2]}]",
        }
        for k in range(count)
    ]


def test_a_blank_mr_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    given = with_mrs()
    given[6]["mr"] = ""
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.apart is not None
    rest = np.arange(40) != 6
    np.testing.assert_array_equal(found.apart[rest], (np.arange(40) % 2)[rest])
    assert found.apart[6] == 2
    assert found.slots is not None
    assert any("No MR" in sentence and "1 of 40" in sentence for sentence in found.warnings)


def test_many_damaged_mrs_are_told(tmp_path: Path) -> None:
    given = with_mrs()
    for row in given[:8]:
        row["mr"] = str(row["mr"])[:-1]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert any("8 of 40 MRs cannot be read" in sentence for sentence in found.warnings)
    for row in given:
        row["mr"] = f"plain words {row['mr']}"[:16]
    found = read_rated([write(tmp_path / "b.jsonl", given)], [0, 4])
    assert not any("cannot be read" in sentence for sentence in found.warnings)


def test_a_row_without_mr_belongs_to_its_context(tmp_path: Path) -> None:
    given = with_mrs()
    for k, row in enumerate(given):
        row["context"] = f"dialogue {k % 4}"
    given[6]["mr"] = given[7]["mr"] = ""
    given[7]["context"] = "another"
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.apart is not None
    assert found.apart[6] == found.apart[2] == found.apart[0]
    assert found.apart.tolist().count(found.apart[7]) == 1


def test_a_row_without_mr_belongs_to_its_context_in_every_spelling(tmp_path: Path) -> None:
    given = with_mrs()
    for k, row in enumerate(given):
        row["context"] = f"Dialogue {k % 2}."
    given[6] |= {"mr": "", "context": "dialogue 1"}
    given[7] |= {"mr": "", "context": "dialogue 2?"}
    given[8] |= {"mr": "", "context": "dialogue 2"}
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.apart is not None
    assert found.apart[6] == found.apart[1]
    assert found.apart[7] == found.apart[8]
    assert len(set(found.apart)) == 3


def test_a_row_without_mr_is_never_apart_from_an_mr_of_its_context(tmp_path: Path) -> None:
    given = with_mrs()
    for row in given:
        row["context"] = "one dialogue"
    given[6]["mr"] = ""
    assert read_rated([write(tmp_path / "a.jsonl", given)], [0, 4]).apart is None


def test_a_row_without_mr_belongs_to_its_context_however_its_letters_are_composed(
    tmp_path: Path,
) -> None:
    given = with_mrs()
    for k, row in enumerate(given):
        row["context"] = f"dialogue {k % 4}"
        row["mr"] = str(row["mr"]).replace("The", "The\u0301")
    given[6]["mr"] = ""
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.apart is not None
    assert found.apart[6] == found.apart[2]


def test_an_mr_that_is_blank_everywhere_leaves_the_contexts(tmp_path: Path) -> None:
    given = [{**row, "mr": "", "context": f"dialogue {k % 4}"} for k, row in enumerate(with_mrs())]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.meanings == [row["context"] for row in given]


def test_contexts_beside_several_mrs_are_told(tmp_path: Path) -> None:
    given = [{**row, "context": f"dialogue {k % 9}"} for k, row in enumerate(with_mrs())]
    told = "stand beside several MRs"
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert any(told in sentence for sentence in found.warnings)
    alone = read_rated([write(tmp_path / "b.jsonl", with_mrs())], [0, 4])
    assert not any(told in sentence for sentence in alone.warnings)


def test_contexts_are_drawn_where_mrs_without_values_are_few(tmp_path: Path) -> None:
    given = [
        {"text": f"text {k}", "quality": k % 5, "mr": f"inform(food='f{k % 40}')"}
        for k in range(120)
    ]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.apart is not None
    assert len(set(found.apart)) == 1
    assert len(found.drawn[0]) == 40


def test_mrs_of_one_text_each_are_taken_without_their_values(tmp_path: Path) -> None:
    given = [
        {"text": f"text {k}", "quality": k % 5, "mr": f"inform(name='x{k}',{slot}=y{k})"}
        for k, slot in enumerate(["food", "area", "near"] * 20)
    ]
    found = read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert found.context is not None
    assert len(set(found.context)) == 60
    assert found.several is not None
    assert found.several.tolist() == [0, 1, 2] * 20
    twice = read_rated([write(tmp_path / "b.jsonl", given + given)], [0, 4])
    assert twice.several is twice.context


def test_two_different_texts_are_too_few(tmp_path: Path) -> None:
    given = [{"text": ["one", "two"][k % 2], "quality": k % 5} for k in range(40)]
    with pytest.raises(FormatError, match="2 different texts") as caught:
        read_rated([write(tmp_path / "a.jsonl", given)], [0, 4])
    assert caught.value.remedy
    assert caught.value.path
