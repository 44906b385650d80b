"""DSTC7: the members of the archive, judges, the team without texts, every malformed row."""

from __future__ import annotations

import math

import pytest

from refless.data.sources import dstc7
from refless.errors import FormatError

TOP = "dstc7-task2-human_eval/dstc7-task2-"
C1, C2 = "c0ffee00c0ffee00aaaa01", "00decafbad00cccc02"
CONTEXTS = f"InstanceID\tDepth\tContext\n{C1}\t2\thello there\n{C2}\t3\tnan\n"
RESPONSES = (
    "SystemID\tInstanceID\tResponse\n"
    f'Constant\t{C1}\ti do not know.\nConstant\t{C2}\t"i do not know.\n'
    f"Human\t{C1}\tgood day!\nTeamCE\t{C1}\thm\n"
)
JUDGES = (
    "\ufeffJudgeID\tInstanceID\tSystemID\tRelevance\tInformativeness\n"
    f"anon9\t{C1}\tConstant\t3\t4\nanon2\t{C1}\tConstant\t1\t1\nanon9\t{C1}\tConstant\t5\t5\n"
    f"anon2\t{C1}\tHuman\t5\t4\n"
    f"anon4\t{C1}\tTeamEC\t1\t2\n"
    f"anon2\t{C1}\tTeamCE\t2\t3\n"
)
GOLD = f'InstanceID\tReference1\t...\n{C1}\tGood day !\t"oh" no\tGood day !\n{C2}\t \n'


@pytest.fixture
def files():
    return {
        f"{TOP}context.tsv": CONTEXTS,
        f"{TOP}system_responses.tsv": RESPONSES,
        f"{TOP}human-eval-per-judge.tsv": JUDGES,
        f"{TOP}gold_responses.tsv": GOLD,
    }


def told(loaded):
    return [(p.path.rsplit(":", 1)[-1], p.line, p.message) for p in loaded.problems]


def test_responses_and_judges(pack, files):
    loaded = dstc7.load(pack(files)).check()
    assert not loaded.problems
    texts = loaded.texts
    assert texts["id"].tolist() == [
        "dstc7:c0ffee00c0ff:Constant",
        "dstc7:00decafbad00:Constant",
        "dstc7:c0ffee00c0ff:human",
        "dstc7:c0ffee00c0ff:TeamCE",
    ]
    assert texts["context_id"].tolist() == [C1, C2, C1, C1]
    assert texts["context"].tolist() == ["hello there", "nan", "hello there", "hello there"]
    assert texts["text"].tolist() == ["i do not know.", '"i do not know.', "good day!", "hm"]
    assert texts["system"].tolist() == ["Constant", "Constant", "human", "TeamCE"]
    assert texts["n_ratings"].tolist() == [3, 0, 1, 1]
    # (3.5 + 1 + 5) / 3 = 19 / 6
    assert texts["quality"].tolist()[0] == pytest.approx((19 / 6 - 1) / 4)
    assert texts["quality"].tolist()[2:] == [(4.5 - 1) / 4, (2.5 - 1) / 4]
    assert texts["relevance"].tolist()[2:] == [5, 2]
    assert texts["informativeness"].tolist()[0] == pytest.approx(10 / 3)
    assert all(math.isnan(texts[name][1]) for name in ("quality", "relevance", "informativeness"))
    ratings = loaded.ratings
    assert ratings["rater"].tolist() == ["r001", "r002", "r001", "r002", "r002"]
    assert ratings["label"].tolist() == [3.5, 1, 5, 4.5, 2.5]
    assert ratings["rating"].tolist() == [0.625, 0, 1, 0.875, 0.375]
    assert ratings["relevance"].tolist() == [3, 1, 5, 5, 2]
    assert "anon" not in ratings.to_csv()
    for quality, labels in (("relevance", [3, 1, 5, 5, 2]), ("informativeness", [4, 1, 5, 4, 3])):
        one = dstc7.load(pack(files), quality=quality).check()
        assert one.ratings["label"].tolist() == labels
        assert one.texts["quality"][0] == pytest.approx((sum(labels[:3]) / 3 - 1) / 4)


def test_the_team_without_texts(pack, files):
    left_out = dstc7.load(pack(files))
    assert "TeamEC" not in left_out.texts["system"].tolist()
    pooled = dstc7.load(pack(files), team_ec="pool").check()
    assert not pooled.problems
    team = pooled.texts.set_index("system").loc["TeamCE"]
    assert team["n_ratings"] == 2
    assert team["quality"] == pytest.approx(((1.5 + 2.5) / 2 - 1) / 4)
    assert pooled.ratings["label"].tolist()[-2:] == [1.5, 2.5]
    # Where it has texts, it is a system like any other.
    files[f"{TOP}system_responses.tsv"] += f"TeamEC\t{C1}\tmine\n"
    own = dstc7.load(pack(files)).check().texts.set_index("system")
    assert own.loc["TeamEC", "n_ratings"] == 1


def pairs(files):
    """The Baseline says what Constant says; a third context repeats the words of the first."""
    third = "beef00beef00beef"
    files[f"{TOP}context.tsv"] += f"{third}\t2\thello there\n"
    files[f"{TOP}system_responses.tsv"] += (
        f"Baseline\t{C1}\ti do not know.\nConstant\t{third}\ti do not know.\n"
    )
    files[f"{TOP}human-eval-per-judge.tsv"] += (
        f"anon9\t{C1}\tBaseline\t4\t2\nanon7\t{third}\tConstant\t2\t2\n"
    )
    return files


@pytest.mark.parametrize(
    ("unit", "merged", "labels"),
    [
        ("output", ["Constant"], [3.5, 1, 5]),
        ("pair", ["Constant", "Baseline"], [3.5, 1, 5, 3]),
        ("wording", ["Constant", "Baseline", "Constant"], [3.5, 1, 5, 3, 2]),
    ],
)
def test_what_one_text_is(pack, files, unit, merged, labels):
    loaded = dstc7.load(pack(pairs(files)), unit=unit).check()
    assert not loaded.problems
    assert loaded.scale == (1, 5)
    texts, ratings = loaded.texts, loaded.ratings
    assert len(texts) == 7 - len(merged)
    first = texts.iloc[0]
    assert first["id"] == "dstc7:c0ffee00c0ff:Constant"
    assert first["context_id"] == C1
    assert first["system"] == "+".join(dict.fromkeys(merged))
    items = first["item"].split("+")
    assert [item.split(":")[2] for item in items] == merged
    assert ratings.loc[ratings["id"] == first["id"], "label"].tolist() == labels
    assert first["n_ratings"] == len(labels)
    assert first["quality"] == pytest.approx((sum(labels) / len(labels) - 1) / 4)
    # every output is in one text, and every judgment says which output it was given to
    every = [item for joined in texts["item"] for item in joined.split("+")]
    assert len(every) == len(set(every)) == 6
    text_of = {item: row.id for row in texts.itertuples() for item in row.item.split("+")}
    assert [text_of[item] for item in ratings["item"]] == ratings["id"].tolist()
    if unit == "output":
        assert (ratings["item"] == ratings["id"]).all()


def test_malformed_rows(pack, files):
    files[f"{TOP}context.tsv"] += (
        f"{C1}\t2\tagain\n0x-1\t2\tbad id\n\t2\tno id\nabc\t2\t \nabd\t2\n"
    )
    files[f"{TOP}system_responses.tsv"] += (
        f"Human\t{C1}\tagain\nHuman\tabcd\twhat?\n\t{C1}\tx\nHuman\t{C2}\t \nTeamA\t{C2}\ta\0\n"
        f"TeamB\t{C2}\tone\ttwo\n"
    )
    judge = "anon1\t{}\t{}\t{}\n".format
    files[f"{TOP}human-eval-per-judge.tsv"] += (
        judge(C2, "Human", "1\t2")
        + judge("abc", "Constant", "1\t2")
        + judge(C1, "Human", "0\t2")
        + judge(C1, "Human", "2\t6")
        + judge(C1, "Human", "\t3.5")
        + f" \t{C1}\tHuman\t1\t1\n"
        + judge(C1, "Human", "2")
    )
    loaded = dstc7.load(pack(files)).check()
    contexts, responses, judges = (
        f"dstc7-task2-{name}.tsv"
        for name in ("context", "system_responses", "human-eval-per-judge")
    )
    assert sorted(told(loaded)) == sorted(
        [
            (contexts, 4, f"context '{C1}' stood before"),
            (contexts, 5, "context id '0x-1' is not letters and digits"),
            (contexts, 6, "context id '' is not letters and digits"),
            (contexts, 7, "the text is empty"),
            (contexts, 8, "2 fields where the header has 3"),
            (responses, 6, f"a second response of Human to context '{C1}'"),
            (responses, 7, "a response to the unknown context 'abcd'"),
            (responses, 8, "system '' is no name"),
            (responses, 9, "the text is empty"),
            (responses, 10, "the text contains a NUL character"),
            (responses, 11, "4 fields where the header has 3"),
            (judges, 8, f"a rating of 'Human' in context '{C2}', without text"),
            (judges, 9, "a rating of 'Constant' in context 'abc', without text"),
            (judges, 10, "ratings '0', '2' are not 1 to 5"),
            (judges, 11, "ratings '2', '6' are not 1 to 5"),
            (judges, 12, "ratings '', '3.5' are not 1 to 5"),
            (judges, 13, "the rating has no judge"),
            (judges, 14, "4 fields where the header has 5"),
        ]
    )
    assert len(loaded.texts) == 4
    assert set(loaded.texts["context"]) == {"hello there", "nan"}  # the first of each id
    assert len(loaded.ratings) == 5


def test_gold_references(pack, files):
    table = dstc7.gold(pack(files))
    assert table.to_numpy().tolist() == [[C1, "Good day !"], [C1, '"oh" no'], [C1, "Good day !"]]
    assert list(table.columns) == ["context_id", "text"]
    files[f"{TOP}gold_responses.tsv"] += f"{C1}\tonce more\n"
    with pytest.raises(FormatError, match="stands on line 2 already") as caught:
        dstc7.gold(pack(files))
    assert caught.value.line == 4
    files[f"{TOP}gold_responses.tsv"] = GOLD + " \tx\n"
    with pytest.raises(FormatError, match="no context id"):
        dstc7.gold(pack(files))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("context", GOLD, "not this member of DSTC7"),
        ("context", CONTEXTS.split("\n")[0] + "\n", "a header and no rows"),
        ("context", CONTEXTS + f"{C1}0\t2\tx\n", "two contexts begin with c0ffee00c0ff"),
        ("system_responses", RESPONSES + f"Human\t{C2}", "stops after 2 of this record's 3 fields"),
    ],
)
def test_archives_of_another_kind(pack, files, name, content, message):
    with pytest.raises(FormatError, match=message) as caught:
        dstc7.load(pack(files | {f"{TOP}{name}.tsv": content}))
    assert caught.value.path.endswith(f":dstc7-task2-{name}.tsv")


@pytest.mark.parametrize("option", ["quality", "team_ec", "unit"])
def test_unknown_options(pack, files, option):
    with pytest.raises(FormatError, match=f"unknown {option} 'item'") as caught:
        dstc7.load(pack(files), **{option: "item"})
    assert "choose one of" in caught.value.remedy


@pytest.mark.slow
def test_the_real_archive(mirror):
    path = mirror("dstc7/dstc7-task2-human_eval.tgz")
    loaded = dstc7.load(path, unit="output").check().require_clean()
    texts, ratings = loaded.texts, loaded.ratings
    assert len(texts) == 10_000
    assert texts["context_id"].nunique() == 1000
    assert texts["system"].value_counts().to_dict() == dict.fromkeys(
        ["Baseline", "Constant", "Random", "human"]
        + [f"Team{x}" for x in ("A", "B", "CE", "D", "F", "G")],
        1000,
    )
    assert texts["n_ratings"].eq(3).all()
    assert len(ratings) == 30_000
    mean = texts.groupby("system")["quality"].mean() * 4 + 1
    # The averages that the organisers give, but for TeamCE, which they pool with TeamEC.
    given = {"Baseline": 2.80, "Constant": 2.46, "human": 3.55, "Random": 2.34, "TeamA": 2.31}
    given |= {"TeamB": 2.93, "TeamD": 2.63, "TeamF": 2.46, "TeamG": 2.70}
    for system, value in given.items():
        assert mean[system] == pytest.approx(value, abs=0.0051)
    assert mean["TeamCE"] == pytest.approx(2.941, abs=0.0005)
    pairs = dstc7.load(path).check().require_clean().texts
    assert len(pairs) == 9_969
    assert pairs["context"].nunique() == 488
    several = pairs[pairs["item"].str.contains("+", regex=False)]
    assert several[["system", "n_ratings"]].to_numpy().tolist() == [["Constant+Baseline", 6]] * 31
    assert pairs["n_ratings"].sum() == 30_000
    assert len(dstc7.load(path, unit="wording").texts) == 9_231
    pooled = dstc7.load(path, team_ec="pool", unit="output").check().texts
    pooled = pooled[pooled["system"] == "TeamCE"]
    assert pooled["n_ratings"].eq(6).all()
    assert pooled["quality"].mean() * 4 + 1 == pytest.approx(2.91, abs=0.0051)


@pytest.mark.slow
def test_the_real_gold_references(mirror):
    path = mirror("dstc7/dstc7-task2-human_eval.tgz")
    gold = dstc7.gold(path)
    sizes = gold.groupby("context_id").size()
    assert (len(sizes), sizes.min(), sizes.max(), len(gold)) == (954, 2, 1009, 35161)
    texts = dstc7.load(path, unit="output").texts
    human = texts[texts["system"] == "human"].set_index("context_id")["text"]

    def bare(text):
        return "".join(filter(str.isalnum, text.lower()))

    found = gold[[bare(t) == bare(human[c]) for c, t in gold.itertuples(index=False)]]
    assert found["context_id"].nunique() == 893
