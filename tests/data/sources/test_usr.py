"""USR: dialogues, the two human references, dimensions, every malformed response."""

from __future__ import annotations

import json

import pytest

from refless.data.sources import usr
from refless.errors import FormatError

TASK = "usr_topicalchat"


def response(model, text="sure .\n", overall=(1, 2, 5), **others):
    scores = {
        "Understandable": [1, 1, 0],
        "Natural": [3, 2, 1],
        "Maintains Context": [1, 1, 1],
        "Engaging": [2, 2, 3],
        "Uses Knowledge": [0, 0, 1],
        "Overall": list(overall),
    }
    return {"response": text, "model": model} | scores | others


def dialogue(*responses, context="hi .\nhow are you ?\n\n", fact="_nofact\n", **others):
    names = ["mo", "al", "bo"]
    return {"context": context, "fact": fact, "annotators": names, "responses": list(responses)} | (
        others
    )


TWO = [
    dialogue(
        response("Original Ground Truth", overall=(5, 4, 5)),
        response("Nucleus Decoding (p = 0.3)", 'the "responses" : [1]\n'),
        response("New Human Generated", "fine, you ?"),
    ),
    dialogue(
        response("Argmax Decoding", "what ? ", overall=(1, 1, 2)),
        context="so\n",
        fact="it is\nso .\n",
        annotators=["bo", "mo", "cy"],
    ),
]


@pytest.fixture
def load(write):
    def load(content, task=TASK):
        text = content if isinstance(content, str | bytes) else json.dumps(content, indent=1)
        return usr.load(write(text), task).check()

    return load


def test_responses_annotators_and_dimensions(load):
    loaded = load(TWO)
    assert not loaded.problems
    texts = loaded.texts
    assert texts["id"].tolist() == [
        "usr_topicalchat:01:original-ground-truth",
        "usr_topicalchat:01:nucleus-decoding-p-0.3",
        "usr_topicalchat:01:new-human-generated",
        "usr_topicalchat:02:argmax-decoding",
    ]
    assert texts["system"].tolist()[1:] == [
        "Nucleus Decoding (p = 0.3)",
        "human",
        "Argmax Decoding",
    ]
    assert texts["model"].tolist()[0] == "Original Ground Truth"
    assert texts["text"].tolist() == ["sure .", 'the "responses" : [1]', "fine, you ?", "what ?"]
    assert texts["context"].tolist()[2:] == ["hi .\nhow are you ?", "so"]
    assert texts["fact"].tolist()[2:] == ["", "it is\nso ."]
    assert texts["context_id"].tolist() == ["c01", "c01", "c01", "c02"]
    assert texts["n_ratings"].eq(3).all()
    assert texts["quality"].to_numpy() == pytest.approx([11 / 12, 5 / 12, 5 / 12, 1 / 12])
    first = texts.loc[0, ["understandable", "natural", "maintains_context", "engaging"]]
    assert first.tolist() == pytest.approx([2 / 3, 2, 1, 7 / 3])
    assert texts["uses_knowledge"][0] == pytest.approx(1 / 3)
    ratings = loaded.ratings
    assert ratings["rater"].tolist() == ["r001", "r002", "r003"] * 3 + ["r003", "r001", "r004"]
    assert ratings["label"].tolist()[-6:] == [1, 2, 5, 1, 1, 2]
    assert ratings["rating"].tolist()[-6:] == [0, 0.25, 1, 0, 0, 0.25]
    assert ratings["natural"].tolist()[:3] == [3, 2, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *[
            ({"Overall": wrong}, f"Overall {str(wrong)!r} is not 3 numbers from 1 to 5")
            for wrong in ([1, 2], [1, 2, 6], [0, 2, 3], None, [1, 2, 2.5], [1, 2, True])
        ],
        *[
            ({name: [low, wrong, low]}, f"is not 3 numbers from {low} to {high}")
            for name, (low, high) in usr.DIMENSIONS.items()
            for wrong in (low - 1, high + 1)
        ],
        ({"response": "\n"}, "the text is empty"),
        ({"response": None}, "the response has no text"),
        ({"model": " "}, "the response has no model"),
        ({"model": "@a"}, "model '@a' is no name of a system"),
        ({"model": "A"}, "a second response of 'A' in this context"),
        ({"model": "a "}, "a second response of 'a ' in this context"),
    ],
)
def test_malformed_responses_are_problems_of_their_line(load, change, message):
    content = json.dumps([dialogue(response("A"), response("B") | change, "C", response("C"))])
    loaded = load(content.replace('{"response"', '\n{"response"').replace('"C",', '\n"C",'))
    assert [p.line for p in loaded.problems] == [3, 4]
    assert message in loaded.problems[0].message
    assert loaded.problems[1].message == "the response has no text"
    assert loaded.texts["model"].tolist() == ["A", "C"]


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ([], "this is not a context with its responses"),
        (dialogue(response("A"), context=" "), "the context has no text"),
        (
            dialogue(response("A"), fact="\ud83d"),
            "context or fact: the text contains half a character",
        ),
        (dialogue(response("A"), annotators=[]), "the context has no annotators"),
        (dialogue(response("A"), responses=None), "the context has no responses"),
    ],
)
def test_malformed_contexts(load, element, message):
    content = "[\n" + ",\n".join(map(json.dumps, [TWO[0], element, TWO[1]])) + "\n]"
    loaded = load(content)
    assert [(p.line, p.message) for p in loaded.problems] == [(3, message)]
    # The number of a context is its place in the file, whatever became of those before it.
    assert loaded.texts["context_id"].tolist() == ["c01"] * 3 + ["c03"]


def test_files_of_another_kind(load):
    for content, message in {
        "{}": "not a JSON array",
        "[]": "no element has responses",
        '[{"a": 1}]': "no element has responses",
        json.dumps(TWO)[:-2]: "cannot be read as JSON",
        "": "empty",
        b"\xff\xfe[": "not UTF-8",
    }.items():
        with pytest.raises(FormatError, match=message):
            load(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "name", "machines", "raters"),
    [("usr_topicalchat", "tc", 4, 5), ("usr_personachat", "pc", 3, 4)],
)
def test_the_real_dialogues(mirror, task, name, machines, raters):
    loaded = usr.load(mirror(f"usr/{name}_usr_data.json"), task).check().require_clean()
    texts = loaded.texts
    assert texts["context_id"].nunique() == 60
    assert len(texts) == 60 * (machines + 2)
    assert texts["system"].value_counts()["human"] == 120
    assert texts["system"].nunique() == machines + 1
    assert set(texts.loc[texts["system"] == "human", "model"]) == set(usr.HUMANS)
    assert len(loaded.ratings) == 3 * len(texts)
    assert loaded.ratings["rater"].nunique() == raters
    assert not texts["text"].str.contains("\n").any()
