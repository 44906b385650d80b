"""ASAP-SAS: joining the parts, quoting, scores, every malformed row."""

from __future__ import annotations

import math

import pytest

from refless.data.sources import asap_sas
from refless.errors import FormatError

TRAIN = (
    "Id\tEssaySet\tScore1\tScore2\tEssayText\r\n"
    "7\t1\t2\t3\tIt is plain.\r\n"
    '31\t10\t0\t0\t"He said ""no"".\tTwice."\r\n'
    '32\t3\t1\t1\t"over\r\ntwo lines"\r\n'
)
TEST = 'Id\tEssaySet\tEssayText\r\n12\t1\tNA\r\n11\t3\t"a ""b"""\r\n'
GOLD = "id,essay_set,essay_weight,essay_score,Usage\r\n11,3,1,2,Public\r\n12,1,1,0,Public\r\n"


@pytest.fixture
def load(write):
    def load(train=TRAIN, test=TEST, gold=GOLD, **options):
        return asap_sas.load(
            write(train, "train.tsv"), write(test, "test.tsv"), write(gold, "gold.csv"), **options
        ).check()

    return load


def told(loaded):
    return [(p.path.rsplit("/", 1)[-1], p.line, p.message) for p in loaded.problems]


def test_both_parts(load):
    loaded = load()
    assert not loaded.problems
    texts = loaded.texts
    assert texts["id"].str[9:].tolist() == ["00007", "00031", "00032", "00012", "00011"]
    assert texts["text"].tolist() == [
        "It is plain.",
        'He said "no".\tTwice.',
        "over\r\ntwo lines",
        "NA",
        'a "b"',
    ]
    assert texts["quality"].tolist() == [(2 + 3) / 2 / 3, 0, 1 / 3, 0, 2 / 3]
    assert texts["n_ratings"].tolist() == [2, 2, 2, 1, 1]
    assert texts["context"].tolist() == ["set 1", "set 10", "set 3", "set 1", "set 3"]
    assert texts["set"].tolist() == [1, 10, 3, 1, 3]
    assert texts["part"].tolist() == ["train"] * 3 + ["test"] * 2
    assert texts["score1"].tolist()[:3] == [2, 0, 1]
    assert texts["score2"].tolist()[:3] == [3, 0, 1]
    assert all(math.isnan(x) for x in [*texts["score1"][3:], *texts["score2"][3:]])
    assert set(texts["system"]) == {"human"}
    rows = loaded.ratings.assign(id=loaded.ratings["id"].str[-2:]).to_numpy().tolist()
    assert rows[:2] == [["07", "score1", 2, 2 / 3], ["07", "score2", 3, 1]]
    assert rows[-2:] == [["12", "gold", 0, 0], ["11", "gold", 2, 2 / 3]]
    assert len(rows) == 8


def test_the_first_rater_alone(load):
    loaded = load(raters="first")
    assert loaded.texts["quality"].tolist() == [2 / 3, 0, 1 / 3, 0, 2 / 3]
    assert loaded.texts["n_ratings"].tolist() == [1] * 5
    assert loaded.ratings["rater"].tolist() == ["score1"] * 3 + ["gold"] * 2
    assert loaded.texts["score2"].tolist()[:3] == [3, 0, 1]
    with pytest.raises(FormatError, match="unknown raters 'second'"):
        load(raters="second")


def test_without_quoting_marks_stay_and_lines_end_records(load):
    train = TRAIN.replace('"over\r\ntwo lines"', '"on ""one"" line"').replace(".\tTw", ". Tw")
    texts = load(train=train, quoting=False).texts
    assert texts["text"].tolist() == [
        "It is plain.",
        '"He said ""no"". Twice."',
        '"on ""one"" line"',
        "NA",
        '"a ""b"""',
    ]
    problems = told(load(quoting=False))
    assert problems == [
        ("train.tsv", 3, "6 fields where the header has 5"),
        ("train.tsv", 5, "1 fields where the header has 5"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("7\t1\t1\t1\tagain", "essay 7 stands on line 2 already"),
        ("x7\t1\t1\t1\tt", "id 'x7' is no number"),
        ("8\t11\t1\t1\tt", "essay set '11' is not 1 to 10"),
        ("8\t1\t4\t1\tt", "Score1 '4' is not 0 to 3"),
        ("8\t1\t1\t\tt", "Score2 '' is not 0 to 3"),
        ("8\t1\t1\t1.0\tt", "Score2 '1.0' is not 0 to 3"),
        ("8\t1\t1\t1\t ", "the text is empty"),
        ("8\t1\t1\t1", "4 fields where the header has 5"),
    ],
)
def test_malformed_training_essays(load, row, message):
    loaded = load(train=f"{TRAIN}{row}\r\n9\t2\t1\t1\tlast\r\n")
    assert told(loaded) == [("train.tsv", 6, message)]
    assert loaded.texts["text"].tolist()[3] == "last"


def test_faults_of_the_join_are_told_in_the_order_of_the_files(load):
    test = TEST + "7\t1\tin both parts\r\n13\t1\tno gold\r\n14\t1\tother set\r\n12\t1\ttwice\r\n"
    gold = GOLD + (
        "7,1,1,1,P\r\n14,2,1,1,P\r\n99,1,1,1,P\r\n11,3,1,2,P\r\n15,1,1,9,P\r\nx,1,1,1,P\r\n16,1\r\n"
    )
    loaded = load(test=test, gold=gold)
    assert told(loaded) == [
        ("test.tsv", 4, "essay 7 stands in the training part as well, on line 2"),
        ("test.tsv", 5, "essay 13 has no gold score in gold.csv"),
        ("test.tsv", 6, "essay 14 is of set 1, its gold score of 2"),
        ("test.tsv", 7, "essay 12 stands on line 2 already"),
        ("gold.csv", 6, "essay 99 has a gold score and no usable text"),
        ("gold.csv", 7, "essay 11 has a gold score on line 2 already"),
        ("gold.csv", 8, "id, set and score are not numbers: '15', '1', '9'"),
        ("gold.csv", 9, "id, set and score are not numbers: 'x', '1', '1'"),
        ("gold.csv", 10, "2 fields where the header has 5"),
    ]
    assert loaded.texts["id"].str[-2:].tolist() == ["07", "31", "32", "12", "11"]


@pytest.mark.parametrize(
    ("which", "content", "message"),
    [
        ("train", TEST, "not a file of ASAP-SAS essays: no column 'Score1', 'Score2'"),
        ("test", GOLD, "not a file of ASAP-SAS essays"),
        ("gold", TEST, "not the file of ASAP-SAS gold scores"),
        ("train", "", "empty"),
        ("test", "Id\tEssaySet\tEssayText\r\n", "no essays"),
        ("train", TRAIN[:-3], "never closed"),
    ],
)
def test_files_of_another_kind(load, which, content, message):
    with pytest.raises(FormatError, match=message) as caught:
        load(**{which: content})
    assert caught.value.path.endswith(("train.tsv", "test.tsv", "gold.csv"))
    assert caught.value.remedy


@pytest.mark.slow
def test_the_real_essays(mirror):
    files = {
        "train": mirror("asap-sas/train_rel_2.tsv"),
        "test": mirror("asap-sas/public_leaderboard_rel_2.tsv"),
        "solution": mirror("asap-sas/public_leaderboard_solution.csv"),
    }
    loaded = asap_sas.load(**files).check().require_clean()
    texts = loaded.texts
    assert texts["part"].value_counts().to_dict() == {"train": 17043, "test": 5224}
    assert len(loaded.ratings) == 2 * 17043 + 5224
    third = texts[(texts["set"] == 3) & (texts["part"] == "test")]
    assert len(third) == 406
    assert sum(5 <= len(text.split(". ")) <= 15 for text in third["text"]) == 39
    train = texts[texts["part"] == "train"]
    usable = train[[5 <= len(text.split(". ")) <= 15 for text in train["text"]]]
    sizes = usable.groupby("set").size()
    assert (sizes.min(), sizes.max()) == (62, 837)
    plain = asap_sas.load(**files, quoting=False).require_clean().texts
    assert plain["id"].tolist() == texts["id"].tolist()
    differ = plain["text"] != texts["text"]
    assert differ.groupby(texts["part"]).sum().to_dict() == {"train": 1263, "test": 255}
