"""RNNLG: comment lines, triples, parts, every malformed row; and matching with NEM."""

from __future__ import annotations

import json

import pytest

from refless.data.sources import bagel, nem, rnnlg
from refless.errors import FormatError

ROWS = [
    ["inform(name='the inn';dogsallowed='no')", "the inn allows no dog -s", "no dogs in the inn"],
    ["?request(near)", "near what ", "near"],
]


def part(rows, comment="# made up\n#\n"):
    return comment + json.dumps(rows, indent=2)


@pytest.fixture
def load(write):
    def load(task="sfhot", **parts):
        paths = {name: write(content, name) for name, content in parts.items()}
        return rnnlg.load(task, **paths).check()

    return load


def test_triples(load):
    loaded = load(test=part(ROWS[1:]), train=part(ROWS))
    assert not loaded.problems
    assert loaded.ratings.empty
    texts = loaded.texts
    assert texts["id"].tolist() == ["sfhot:train:0001", "sfhot:train:0002", "sfhot:test:0001"]
    assert texts["part"].tolist() == ["train", "train", "test"]
    assert texts["context"].tolist() == [ROWS[0][0], ROWS[1][0], ROWS[1][0]]
    assert texts["text"].tolist()[:2] == ["the inn allows no dog -s", "near what"]
    assert texts["text_nem"].tolist()[:2] == ["the inn allows no dogs.", "near what?"]
    assert texts["baseline"].tolist()[:2] == ["no dogs in the inn", "near"]
    assert texts["mr_key"].tolist()[:2] == ["inform(name=the inn;dogsallowed=no)", "request(near)"]
    assert texts["mr_set"][0] == "inform(dogsallowed=no;name=the inn)"
    assert texts["quality"].isna().all()
    assert texts["n_ratings"].eq(0).all()
    assert set(texts["system"]) == {"human"}


def test_ids_do_not_hang_on_the_parts_loaded_and_comments_are_at_the_head_only(load):
    alone = load("sfrest", valid=part(ROWS)).texts["id"].tolist()
    together = load("sfrest", valid=part(ROWS), train=part(ROWS)).texts["id"].tolist()
    assert alone == ["sfrest:valid:0001", "sfrest:valid:0002"] == together[2:]
    texts = load(test=part([["inform(a=b)", "# not a comment", "#"]], comment="")).texts
    assert texts["text"].tolist() == ["# not a comment"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["inform(a=b)", "x"], "this is not [MR, human reference, baseline output]"),
        (["inform(a=b)", "x", 3], "this is not [MR, human reference, baseline output]"),
        ({"mr": "inform(a=b)"}, "this is not [MR, human reference, baseline output]"),
        (["inform(a=b", "x", "y"], "this is no meaning representation: 'inform(a=b'"),
        (["inform(a=b)", " ", "y"], "the text is empty"),
        (["inform(a=b)", "x\0", "y"], "the text contains a NUL character"),
        (["inform(a=b)", "x", "\ud83d"], "the text contains half a character"),
    ],
)
def test_malformed_rows_are_problems_of_their_line(load, row, message):
    loaded = load(train=part([ROWS[0], row, ROWS[1]]))
    # Two lines of comment, the bracket, five lines of the first row.
    assert [(p.line, p.message) for p in loaded.problems] == [(9, message)]
    assert loaded.texts["id"].tolist() == ["sfhot:train:0001", "sfhot:train:0003"]


def test_files_of_another_kind(load):
    for content, message in {
        "# only\n# comments\n": "not a JSON array",
        '{"a": 1}': "not a JSON array",
        part(ROWS)[:-2]: "not closed",
        part(ROWS)[:-20]: "cannot be read as JSON",
        "": "empty",
    }.items():
        with pytest.raises(FormatError, match=message) as caught:
            load(train=content)
        assert caught.value.path.endswith("train")
    with pytest.raises(FormatError, match="one of train, valid, test"):
        load()


@pytest.mark.slow
def test_every_rated_output_finds_its_human_references(mirror):
    rated = nem.load(mirror("nem/emnlp_data_medians.csv")).texts
    sizes = {}
    for task, folder in (("sfrest", "restaurant"), ("sfhot", "hotel")):
        paths = {name: mirror(f"rnnlg/{folder}/{name}.json") for name in rnnlg.PARTS}
        human = rnnlg.load(task, **paths).check().require_clean().texts
        sizes[task] = human["part"].value_counts().to_dict()
        outputs = rated[rated["dataset"] == task]
        for key in ("mr_key", "mr_set"):
            assert outputs[key].isin(human[key]).all()
        # Nearly all come from the test part, which is where the systems were run.
        test = human.loc[human["part"] == "test", "mr_set"]
        assert (~outputs["mr_set"].isin(test)).sum() == (2 if task == "sfrest" else 0)
        assert human["text_nem"].str.fullmatch(r"[^A-Z]*[^ ][.?]").all()
    assert sizes == {
        "sfrest": {"train": 3114, "valid": 1039, "test": 1039},
        "sfhot": {"train": 3223, "valid": 1075, "test": 1075},
    }
    human = bagel.load(mirror("bagel/ACL10-inform-training.txt")).texts
    outputs = rated[rated["dataset"] == "bagel"]
    assert outputs["mr_key"].isin(human["mr_key"]).all()
    assert human["mr_key"].isin(outputs["mr_key"]).all()
