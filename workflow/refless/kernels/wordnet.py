"""WordNet's synonyms, read from its database files.

Stage: kernels (helper of ``meteor``). In: WordNet 3.0, as nltk packs it or unpacked.
Out: the single words that share a sense with a word.

The files are read here and not through nltk because nltk 3.10 refuses a path outside its own
data directories, and because the two METEOR variants reduce inflected words differently.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from refless.errors import KernelError

_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(
    f"{kind}{part}{end}"
    for kind, end in (("data.", ""), ("index.", ""), ("", ".exc"))
    for part in _PARTS
)
# Endings and what replaces them (WordNet's morphy(7)).
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
_REMEDY = (
    "fetch WordNet 3.0 (`snakemake --cores 1 fetch`, or https://raw.githubusercontent.com/nltk/nltk_data/"
    "gh-pages/packages/corpora/wordnet.zip) and name in REFLESS_WORDNET the zip, or the folder in"
    " which its data.noun, index.noun, noun.exc and the like lie"
)


def find_wordnet(path: str | Path | None = None) -> Path:
    """The zip of WordNet, or the folder of its files: ``path``, else REFLESS_WORDNET, else what
    nltk downloaded. Raises KernelError: there is none."""
    import nltk.data

    named = path or os.environ.get("REFLESS_WORDNET")
    roots = [Path(root, "corpora") for root in nltk.data.path]
    downloaded = [root / name for root in roots for name in ("wordnet.zip", "wordnet")]
    for candidate in [Path(named).expanduser()] if named else downloaded:
        if zipfile.is_zipfile(candidate) or (candidate / _FILES[0]).is_file():
            return candidate
    raise KernelError("METEOR needs WordNet, and there is none", path=named or None, remedy=_REMEDY)


def wordnet_sum(path: str | Path | None = None) -> str:
    """SHA-256 over the contents of the files that decide synonyms, however they are zipped."""
    digest = hashlib.sha256()
    for name, content in _contents(find_wordnet(path)).items():
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _contents(source: Path) -> dict[str, bytes]:
    """Contents of the files that are needed, by name."""
    try:
        if source.is_dir():
            return {name: (source / name).read_bytes() for name in _FILES}
        with zipfile.ZipFile(source) as archive:
            members = {Path(member).name: member for member in archive.namelist()}
            return {name: archive.read(members[name]) for name in _FILES}
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise KernelError(f"cannot be read: {error}", path=source, remedy=_REMEDY) from error


class WordNet:
    """Synonyms of words.

    path : see `find_wordnet`
    insist : where neither a word nor what is left without its ending is in WordNet, cut endings
        again and again; if not, once. nltk 3.5 insists (*hitchings* finds the verb *hitch*),
        3.10 does not
    Raises KernelError: WordNet is not there or cannot be read.
    """

    def __init__(self, path: str | Path | None = None, *, insist: bool = False) -> None:
        self._insist = insist
        contents = _contents(find_wordnet(path))
        self._index: dict[str, dict[str, str]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        self._data: dict[str, bytes] = {}
        for part in _PARTS:
            lines = contents[f"index.{part}"].decode("utf-8").split("\n")
            self._index[part] = {
                line[: line.index(" ")]: line for line in lines if line and line[0] != " "
            }
            lines = contents[f"{part}.exc"].decode("utf-8").split("\n")
            fields = (line.split() for line in lines if line.strip())
            self._exceptions[part] = {word: forms for word, *forms in fields}
            self._data[part] = contents[f"data.{part}"]

    def synonyms(self, word: str) -> set[str]:
        """Names of one word in every sense of the lower-cased ``word``, spelt as WordNet does."""
        word = word.lower()
        synonyms: set[str] = set()
        for part in _PARTS:
            for form in self._base_forms(word, part):
                fields = self._index[part][form].split()
                # lemma part n_senses n_pointers pointers... n_senses n_tagged offsets...
                for offset in fields[6 + int(fields[3]) :]:
                    synonyms.update(self._names(part, int(offset)))
        return synonyms

    def _base_forms(self, word: str, part: str) -> list[str]:
        """The word and its base forms, as far as WordNet has them."""
        index = self._index[part]
        if word in self._exceptions[part]:
            return [form for form in (word, *self._exceptions[part][word]) if form in index]
        cut = _cut([word], part)
        forms = [form for form in (word, *cut) if form in index]
        while self._insist and cut and not forms:
            cut = _cut(cut, part)
            forms = [form for form in cut if form in index]
        return forms

    def _names(self, part: str, offset: int) -> Iterator[str]:
        """The names in one set of synonyms, compounds left out."""
        data = self._data[part]
        # offset file type n_names (name number)... ; n_names is hexadecimal
        fields = data[offset : data.index(b"|", offset)].decode("utf-8").split()
        for name in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
            if "_" not in name:
                # An adjective's position may follow it: galore(ip)
                yield name.partition("(")[0] if name.endswith(")") else name


def _cut(words: list[str], part: str) -> list[str]:
    endings = [pair.split(":") for pair in _ENDINGS[part].split()]
    return [
        word[: len(word) - len(old)] + new
        for word in words
        for old, new in endings
        if word.endswith(old)
    ]
