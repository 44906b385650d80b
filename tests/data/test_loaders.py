"""The readers of the data sets: small made files, what does not fit in them, and the real ones."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.data.ratings import RatedTexts
from refless.errors import FormatError
from tests.test_settings import CONFIG
from tests.workflow import small_data


def written(folder: Path, **contents: str | bytes) -> dict[str, Path]:
    for name, content in contents.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return {name: folder / name for name in contents}


FIRST, SAME = ("0", "a", "SUM", "first", "-4.5"), ("1", "b", "SUM", "same", "-2")
HUMAN, THIRD = ("1", "b", "HUMAN", "same", ""), ("0", "a", "HUMAN", "third, one", "-inf")
HUSE: list[Any] = [
    ("zoe", [(*FIRST, "Typical"), (*SAME, "Rare")]),
    ("ann", [(*HUMAN, "5"), (*THIRD, " very  TYPICAL")]),
    ("zoe", [(*HUMAN, "3"), (*FIRST, "Invalid")]),
]


def test_huse_pairs_share_a_row_and_its_labels(tmp_path):
    data = sources.load("huse", "h", written(tmp_path, path=small_data.huse_batch(HUSE)))
    texts, ratings = data.texts, data.ratings
    names = ["id", "text", "context", "system", "item", "n_ratings", "logp"]
    assert texts[names].to_numpy().tolist() == [
        ["h:0001", "first", "a", "sum", "h:0001", 2, -4.5],
        ["h:0002", "same", "b", "sum+human", "h:0002+h:0003", 3, -2],
        ["h:0004", "third, one", "a", "human", "h:0004", 1, -np.inf],
    ]
    assert texts["quality"].tolist() == [np.mean([4 / 5, 0]), np.mean([1 / 5, 1, 3 / 5]), 1]
    assert ratings["item"].str[-1].tolist() == ["1", "2", "3", "4", "3", "1"]
    assert ratings["rater"].tolist() == ["r001", "r001", "r002", "r002", "r001", "r001"]
    assert ratings["label"].tolist() == [4, 1, 5, 5, 3, 0]


def test_huse_systems_of_several_temperatures_and_no_contexts(tmp_path):
    kinds = ["LOGP_1.0.txt", "HUMAN_REDDIT1.0", "LOGP_0.7.txt"]
    items = [(str(k), "", kind, f"text {k}", "-1", str(k)) for k, kind in enumerate(kinds)]
    items += [(str(k), "", "LM", f"text {k}", "-1", str(k % 6)) for k in range(3, 12)]
    files = written(tmp_path, path=small_data.huse_batch([("w", items)], without="CTX"))
    texts = sources.load("huse", "h", files).texts
    assert texts["system"].tolist()[:4] == ["reddit_1.0", "human", "reddit_0.7", "lm"]
    assert texts["quality"].tolist() == [k % 6 / 5 for k in range(12)]
    assert set(texts["context"]) == {""}


C1, C2, C3 = "c0ffee00c0ffee00aaaa01", "00decafbad00cccc02", "beef00beef00beef"
DSTC7 = {
    "context": f"InstanceID\tDepth\tContext\n{C1}\t2\thello\n{C2}\t3\tnan\n{C3}\t3\thello\n",
    "system_responses": "SystemID\tInstanceID\tResponse\n"
    f'Constant\t{C1}\tso\nConstant\t{C2}\t"so\nHuman\t{C1}\tgood day!\nTeamCE\t{C1}\thm\n'
    f"Baseline\t{C1}\tso\nConstant\t{C3}\tso\n",
    "human-eval-per-judge": "\ufeffJudgeID\tInstanceID\tSystemID\tRelevance\tInformativeness\n"
    f"j9\t{C1}\tConstant\t3\t4\nj2\t{C1}\tConstant\t1\t1\nj2\t{C1}\tHuman\t5\t4\n"
    f"j4\t{C1}\tTeamEC\t1\t2\nj2\t{C1}\tTeamCE\t2\t3\nj9\t{C1}\tBaseline\t4\t2\n"
    f"j7\t{C3}\tConstant\t2\t2\n",
    "gold_responses": f'InstanceID\tReference1\t...\n{C1}\tGood day !\t"oh" no\t \n{C2}\t \n',
}


UNITS = [("output", "Constant", [3.5, 1], 6), ("pair", "Constant+Baseline", [3.5, 1, 3], 5)]


@pytest.mark.parametrize(("unit", "system", "labels", "count"), UNITS)
def test_dstc7_units(tmp_path, unit, system, labels, count):
    files = {"path": small_data.pack_dstc7(tmp_path / "packed.tgz", DSTC7)}
    data = sources.load("dstc7", "dstc7", files, {"unit": unit})
    first = data.texts.iloc[0]
    assert (first["id"], first["context_id"]) == ("dstc7:c0ffee00c0ff:Constant", C1)
    assert "+".join(one.split(":")[2] for one in first["item"].split("+")) == system
    assert first["system"] == system
    assert first["n_ratings"] == len(labels)
    assert first["quality"] == pytest.approx((sum(labels) / len(labels) - 1) / 4)
    assert data.ratings.loc[data.ratings["id"] == first["id"], "label"].tolist() == labels
    assert len(data.texts) == count
    unrated = data.texts[data.texts["text"] == '"so'].iloc[0]  # a quote is a character
    assert np.isnan(unrated["quality"])
    assert unrated["n_ratings"] == 0


def test_dstc7_labels_raters_and_the_team_without_texts(tmp_path):
    files = {"path": small_data.pack_dstc7(tmp_path / "packed.tgz", DSTC7)}
    data = sources.load("dstc7", "dstc7", files)
    assert data.ratings["rater"].tolist() == ["r001", "r002", "r002", "r002", "r001", "r003"]
    assert data.ratings["rating"].tolist() == [0.625, 0, 0.875, 0.375, 0.5, 0.25]
    one = sources.load("dstc7", "dstc7", files, {"quality": "relevance"})
    assert one.ratings["label"].tolist() == [3, 1, 5, 2, 4, 2]
    assert "TeamEC" not in set(data.texts["system"])


ESSAYS = {
    "train": "Id\tEssaySet\tScore1\tScore2\tEssayText\r\n7\t1\t2\t3\tIt is plain.\r\n"
    '31\t10\t0\t0\t"He said ""no"".\tTwice."\r\n32\t3\t1\t1\t"over\r\ntwo lines"\r\n',
    "test": 'Id\tEssaySet\tEssayText\r\n12\t1\tNA\r\n11\t3\t"a ""b"""\r\n',
    "solution": "id,essay_set,essay_score\r\n11,3,2\r\n12,1,0\r\n",
}


def test_essays(tmp_path):
    files = written(tmp_path, **ESSAYS)
    data = sources.load("asap_sas", "asap_sas", files)
    texts = data.texts
    assert texts["id"].str[9:].tolist() == ["00007", "00031", "00032", "00012", "00011"]
    quoted = ['He said "no".\tTwice.', "over\r\ntwo lines"]
    assert texts["text"].tolist()[1:] == [*quoted, "NA", 'a "b"']
    assert texts["quality"].tolist() == [(2 + 3) / 2 / 3, 0, 1 / 3, 0, 2 / 3]
    assert texts["n_ratings"].tolist() == [2, 2, 2, 1, 1]
    assert texts["context"].tolist() == ["set 1", "set 10", "set 3", "set 1", "set 3"]
    assert texts["part"].tolist() == ["train"] * 3 + ["test"] * 2
    assert texts["score2"].tolist()[:3] == [3, 0, 1]
    assert texts["score2"].isna().tolist() == [False] * 3 + [True] * 2
    assert data.ratings["rater"].tolist() == ["score1", "score2"] * 3 + ["gold"] * 2
    first = sources.load("asap_sas", "asap_sas", files, {"raters": "first"})
    assert first.texts["quality"].tolist() == [2 / 3, 0, 1 / 3, 0, 2 / 3]
    assert first.ratings["rater"].tolist() == ["score1"] * 3 + ["gold"] * 2


def usr_file(model: str = "Argmax", text: str = "so \n", overall: Any = (1, 1, 2)) -> str:
    low = {"Understandable": 0, "Natural": 1, "Maintains Context": 3, "Engaging": 2}
    marks = {name: [value, value, 1] for name, value in {**low, "Uses Knowledge": 1}.items()}
    responses = [
        {"response": "fine\n", "model": "Original Ground Truth", **marks, "Overall": [5, 4, 5]},
        {"response": text, "model": model, **marks, "Overall": overall},
    ]
    both = {"context": "hi\nyou\n", "responses": responses}
    one = {**both, "fact": "_nofact\n", "annotators": ["mo", "al", "bo"]}
    return json.dumps([one, {**both, "fact": "it is\n", "annotators": ["bo", "mo", "cy"]}])


def test_usr(tmp_path):
    data = sources.load("usr", "u", written(tmp_path, path=usr_file("Nucleus (p = 0.3)")))
    texts = data.texts
    assert set(texts["context"]) == {"hi\nyou"}
    assert texts[["id", "system", "text", "fact", "context_id"]].to_numpy().tolist() == [
        ["u:01:original-ground-truth", "human", "fine", "", "c01"],
        ["u:01:nucleus-p-0.3", "Nucleus (p = 0.3)", "so", "", "c01"],
        ["u:02:original-ground-truth", "human", "fine", "it is", "c02"],
        ["u:02:nucleus-p-0.3", "Nucleus (p = 0.3)", "so", "it is", "c02"],
    ]
    assert texts["quality"].to_numpy() == pytest.approx([11 / 12, 1 / 12] * 2)
    assert texts["maintains_context"].to_numpy() == pytest.approx([7 / 3] * 4)
    raters = ["r001", "r002", "r003"] * 2 + ["r003", "r001", "r004"] * 2
    assert data.ratings["rater"].tolist() == raters
    assert data.ratings["label"].tolist() == [5, 4, 5, 1, 1, 2] * 2


def test_nem_and_the_references_of_its_meanings(tmp_path):
    small_data.write_rated_outputs(tmp_path)
    path = tmp_path / "nem/emnlp_data_medians.csv"
    rows = pd.read_csv(path, dtype=str)
    rows.loc[0, ["Bleu_4", "CIDEr", "NIST"]] = ["6.15E-013", " ", "NA"]
    rows.to_csv(path, index=False)
    texts = sources.load("nem", "nem", {"path": path}).texts
    assert texts.loc[0, "Bleu_4"] == 6.15e-13
    assert texts.loc[0, ["CIDEr", "NIST"]].isna().all()
    assert texts["id"].tolist()[:2] == ["nem:0001", "nem:0002"]
    assert set(texts["system"]) == {"LOLS", "TGen", "RNNLG"}
    assert (texts["quality"] == (texts["median_quality"] - 1) / 5).all()
    parts = {part: tmp_path / f"rnnlg/hotel/{part}.json" for part in ("train", "valid", "test")}
    hotels = sources.load("rnnlg", "sfhot", parts).texts
    assert hotels["part"].unique().tolist() == list(parts)
    assert hotels["id"].tolist()[0] == "sfhot:train:0001"
    assert set(hotels["baseline"]) == {"it is there"}
    assert set(texts.loc[texts["domain"] == "sfhot", "mr_key"]) <= set(hotels["mr_key"])
    path = tmp_path / "bagel/ACL10-inform-training.txt"
    path.write_text(path.read_text() * 2)
    bagel = sources.load("bagel", "bagel", {"path": path}).texts
    assert bagel["id"].tolist() == ["bagel:0001", "bagel:0002"]
    assert bagel["text"].tolist() == ["X lies near X"] * 2
    assert bagel["text_nem"][0] == "x lies near x."
    assert bagel["context"][0] == 'inform(name="X1",area="X2")'
    assert set(texts.loc[texts["domain"] == "bagel", "mr_key"]) <= set(bagel["mr_key"])


@pytest.mark.parametrize(
    ("loader", "content", "said"),
    [
        ("huse", small_data.huse_batch(HUSE).replace("Typical", "Typicall"), "typicall"),
        ("huse", small_data.huse_batch(HUSE).replace("WorkerId", "Worker"), "WorkerId"),
        ("huse", b"\xff\xfe", "utf-8"),
        ("huse", "", "No columns"),
        ("dstc7", "x", "not a gzip"),
        ("usr", usr_file(overall=[1, 2, 6]), "original-ground-truth|argmax"),
        ("usr", '[{"a": 1}]', "fact"),
    ],
)
def test_what_does_not_fit_names_file_and_loader(tmp_path, loader, content, said):
    files = written(tmp_path, path=content)
    with pytest.raises(FormatError, match=said) as caught:
        sources.load(loader, "mine", files)
    assert caught.value.path == str(files["path"])
    assert loader in caught.value.message


def test_a_new_module_is_a_new_loader(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(sources, "__path__", [str(tmp_path)])
    (tmp_path / "made_up_loader.py").write_text(
        "import pandas as pd\n"
        "from refless.data.ratings import RatedTexts\n"
        "def load(path, dataset, share: float = 0.5):\n"
        "    row = dict(id='a', context='', text=path, quality=share, n_ratings=1)\n"
        "    return RatedTexts(pd.DataFrame([row | dict(system='human')]))\n"
    )
    (tmp_path / "made_up_broken.py").write_text("x = 1\ndef load(:\n")  # in nobody's way
    loaded = sources.load("made_up_loader", "mine", {"path": "p"}, {"share": 0.25})
    assert loaded.texts.loc[0].tolist() == ["a", "mine", "", "p", 0.25, 1, "human"]
    with pytest.raises(FormatError, match="a has a quality"):  # tables are checked
        sources.load("made_up_loader", "mine", {"path": "p"}, {"share": 2.0})


def of_config(mirror: str, dataset: str, **options: Any) -> RatedTexts:
    entry = CONFIG["data"][dataset]
    files = {name: Path(mirror, path) for name, path in entry["files"].items()}
    return sources.load(entry["loader"], dataset, files, {**entry.get("options", {}), **options})


@pytest.mark.parametrize(
    ("dataset", "options", "texts", "ratings", "raters"),
    [
        ("huse_summarization", {}, 199, 4000, 93),
        ("dstc7", {}, 9969, 30000, 317),
        ("dstc7", {"unit": "output"}, 10000, 30000, 317),
        ("asap_sas", {}, 22267, 2 * 17043 + 5224, 3),
        ("asap_sas", {"raters": "first"}, 22267, 22267, 2),
        ("usr_topicalchat", {}, 360, 1080, 5),
        ("usr_personachat", {}, 300, 900, 4),
        ("nem", {}, 2460, 0, 0),
        ("bagel", {}, 404, 0, 0),
        ("sfrest", {}, 5192, 0, 0),
        ("sfhot", {}, 5373, 0, 0),
    ],
)
def test_the_real_files(mirror, dataset, options, texts, ratings, raters):
    data = of_config(mirror, dataset, **options)
    assert (len(data.texts), len(data.ratings)) == (texts, ratings)
    assert data.ratings["rater"].nunique() == raters


def test_rated_outputs_find_their_references(mirror):
    human = [of_config(mirror, dataset).texts["mr_key"] for dataset in ("bagel", "sfrest", "sfhot")]
    assert set(of_config(mirror, "nem").texts["mr_key"]) <= set(pd.concat(human))
