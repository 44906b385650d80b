"""WordNet's files: a small one of our own making, and the real one against nltk's reader."""

import random
import shutil
import warnings
import zipfile
from pathlib import Path

import nltk.data
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from refless.errors import KernelError
from refless.kernels.wordnet import WordNet, find_wordnet, wordnet_sum

# part: sets of synonyms
SENSES = {
    "noun": [["cat", "puss"], ["cat", "lash", "cat-o'-nine-tails"], ["hot_dog", "frank"]],
    "verb": [["hitch", "hike"], ["vomit", "cat"], ["Go", "travel"]],
    "adj": [["galore(ip)", "abounding"], ["fine", "OK"]],
    "adv": [["finely", "fine"]],
}
EXCEPTIONS = {"noun": "cats' cat\nmen man\n", "verb": "went go\n", "adj": "", "adv": ""}


def write(folder: Path, adverbs: str = "") -> Path:
    """SENSES in the format of WordNet's database files (wndb(5WN)), zipped as nltk has them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "wordnet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, sets in SENSES.items():
            data = "  1 a licence with | and blanks\n"
            offsets: dict[str, list[int]] = {}
            for names in sets:
                for name in names:
                    offsets.setdefault(name.partition("(")[0].lower(), []).append(len(data))
                fields = " ".join(f"{name} 0" for name in names)
                data += f"{len(data):08d} 05 {part[0]} {len(names):02x} {fields} 000 | a gloss  \n"
            index = "  1 a licence\n"
            for name in sorted(offsets):
                found = " ".join(f"{offset:08d}" for offset in offsets[name])
                n = len(offsets[name])
                index += f"{name} {part[0]} {n} 2 @ ~ {n} 0 {found}  \n"
            archive.writestr(f"wordnet/data.{part}", data)
            archive.writestr(f"wordnet/index.{part}", index)
            archive.writestr(f"wordnet/{part}.exc", EXCEPTIONS[part] or adverbs)
    return path


def test_synonyms_by_hand(tmp_path):
    wordnet = WordNet(write(tmp_path))
    # All parts of speech, spelt as they are; compounds and positions of adjectives are left out.
    assert wordnet.synonyms("cat") == {"cat", "puss", "lash", "cat-o'-nine-tails", "vomit"}
    assert wordnet.synonyms("Frank") == {"frank"}
    assert wordnet.synonyms("hot_dog") == {"frank"}
    assert wordnet.synonyms("galore") == {"galore", "abounding"}
    assert wordnet.synonyms("fine") == {"fine", "OK", "finely"}
    # Endings: cats as noun and verb; hiking to hike; finer to fine. Exceptions: went, cats'.
    assert wordnet.synonyms("cats") == wordnet.synonyms("cat")
    assert wordnet.synonyms("hiking") == {"hitch", "hike"}
    assert wordnet.synonyms("finer") == {"fine", "OK"}
    assert wordnet.synonyms("went") == {"Go", "travel"}
    assert wordnet.synonyms("cats'") == {"cat", "puss", "lash", "cat-o'-nine-tails"}
    for word in ("", "s", "ing", "men", "dog", "hitchings", "caf\u00e9", "\ud800"):
        assert wordnet.synonyms(word) == set(), word
    # nltk 3.5 alone cuts endings again: hitchings, hitching, hitch.
    again = WordNet(tmp_path / "wordnet.zip", insist=True)
    assert again.synonyms("hitchings") == {"hitch", "hike"}
    assert again.synonyms("cats") == wordnet.synonyms("cats")


def test_places(tmp_path, monkeypatch):
    downloaded, own = write(tmp_path / "data/corpora"), write(tmp_path / "own")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "none"), str(tmp_path / "data")])
    monkeypatch.delenv("REFLESS_WORDNET", raising=False)
    assert find_wordnet() == downloaded
    monkeypatch.setenv("REFLESS_WORDNET", str(own))
    assert find_wordnet() == own
    assert find_wordnet(downloaded) == downloaded
    with pytest.raises(KernelError, match=str(tmp_path)):
        find_wordnet(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REFLESS_WORDNET", "~/own/wordnet.zip")
    assert find_wordnet() == own


def test_unpacked_it_is_the_same(tmp_path, monkeypatch):
    packed = write(tmp_path)
    shutil.unpack_archive(packed, tmp_path / "data/corpora")
    unpacked = tmp_path / "data/corpora/wordnet"
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "data")])
    monkeypatch.delenv("REFLESS_WORDNET", raising=False)
    assert find_wordnet() == find_wordnet(unpacked) == unpacked
    assert wordnet_sum(unpacked) == wordnet_sum(packed)
    assert WordNet(unpacked).synonyms("cat") == WordNet(packed).synonyms("cat")
    (unpacked / "verb.exc").unlink()
    with pytest.raises(KernelError, match=r"verb\.exc"):
        WordNet(unpacked)


def test_the_real_wordnet_against_nltk(mirror, tmp_path, monkeypatch):
    packed = Path(mirror, "nltk/wordnet.zip")
    (tmp_path / "corpora").mkdir()  # where nltk's own reader looks for it
    shutil.copy(packed, tmp_path / "corpora")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of languages that are not there
        reader = WordNetCorpusReader(nltk.data.find("corpora/wordnet.zip/wordnet/"), None)
    ours = WordNet(packed)
    lemmas = random.Random(1).sample(sorted(reader.all_lemma_names()), 1_000)
    endings = ["", "s", "es", "ses", "men", "ies", "ed", "ing", "er", "est"]
    for word in (lemma + end for lemma in lemmas for end in endings):
        names = {lemma.name() for sense in reader.synsets(word) for lemma in sense.lemmas()}
        assert ours.synonyms(word) == {name for name in names if "_" not in name}, word


def test_a_broken_archive_is_refused(tmp_path):
    archive = write(tmp_path)
    content = bytearray(archive.read_bytes())
    content[60:100] = bytes(40)
    archive.write_bytes(content)
    with pytest.raises(KernelError, match=archive.name):
        WordNet(archive)
