"""Write ``meteor_nltk35.json`` anew: what nltk 3.5 says METEOR is, for the sentences in it.

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

if __name__ == "__main__":
    assert nltk.__version__ == "3.5", nltk.__version__
    path = Path(__file__).with_name("meteor_nltk35.json")
    sentences = json.loads(path.read_text(encoding="utf-8"))["sentences"]
    words = {word for sentence in sentences for word in sentence.lower().split()}
    stem = PorterStemmer().stem
    words |= {stem(word) for word in words}
    synonyms = {}
    for word in sorted(words):
        names = {lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas()}
        if names & words:
            synonyms[word] = sorted(names & words)
    scores = [[single_meteor_score(s, x) for s in sentences] for x in sentences]
    content = {"sentences": sentences, "synonyms": synonyms, "scores": scores}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
