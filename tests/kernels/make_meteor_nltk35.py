"""Write ``meteor_nltk35.json``: what nltk 3.5 says METEOR is, for sentences written for this test.

    python -m venv nltk35 && nltk35/bin/pip install nltk==3.5
    NLTK_DATA=<directory with corpora/wordnet> nltk35/bin/python make_meteor_nltk35.py

It keeps the synonyms that WordNet 3.0 gives for the words as well, so that the test needs neither.
"""

import json
from pathlib import Path

import nltk
from nltk.corpus import wordnet
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

SENTENCES = [
    "",
    "   ",
    "rain",
    "Rain",
    "the rain",
    "the cat sat on the mat",
    "the cats sat on the mats",
    "on the mat the cat sat",
    "a feline was sitting upon a rug",
    "The big dog runs quickly to the house .",
    "the large dogs ran fast to their home .",
    "a huge hound is running home quick",
    "the firm said its earnings rose last year",
    "the company says that profits grew in the past year",
    "companies say earnings and profits are rising , rising , rising",
    "the the the the the",
    "the a the a the a",
    "car automobile auto machine",
    "automobile car auto cars automobiles machines",
    "he hurried , she hastened ; they rushed !",
    "they rush , he hurries ; she hastens !",
    "she's happy , isn't she ?",
    "glad she is , and happily so",
    "dogs cats houses runs",
    "dog cat house run",
    "caf\u00e9 na\u00efve \u0130stanbul stra\u00dfe",
    "hitchings hitch hitching hitches",
    "her blessings are a blessing to bless",
    " ".join(["one two three four five six seven eight nine ten"] * 8),
    " ".join(["ten nine eight seven six five four three two one"] * 7),
    " ".join(["buying a car", "purchasing an auto", "buy cars"] * 12),
    " ".join(["he purchased the machine", "she bought automobiles"] * 15),
]

if __name__ == "__main__":
    assert nltk.__version__ == "3.5", nltk.__version__
    words = {word for sentence in SENTENCES for word in sentence.lower().split()}
    stem = PorterStemmer().stem
    words |= {stem(word) for word in words}
    synonyms = {}
    for word in sorted(words):
        names = {lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas()}
        if names & words:
            synonyms[word] = sorted(names & words)
    scores = [[single_meteor_score(s, x) for s in SENTENCES] for x in SENTENCES]
    content = {"sentences": SENTENCES, "synonyms": synonyms, "scores": scores}
    path = Path(__file__).with_name("meteor_nltk35.json")
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
