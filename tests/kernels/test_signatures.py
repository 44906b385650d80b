"""Signatures: they change when what decides the numbers changes, and not otherwise."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.errors import KernelError
from refless.kernels import _registry, kernel, module_path, names, signature, signatures
from refless.store import code
from refless.store import signatures as signing
from refless.store.signatures import reasons_against, text_sum

SOURCE = '''"""A module."""

from refless.kernels._helper import help_

TABLE = """a

b # no comment
"""  # a comment
LONG = (
    "a"  # here

    # and here
    "b"
)
"""What LONG is."""


def value(x):
    """What it does,

    and more.
    """
    # How.
    return f"{x}#" + '#' + help_(x)  # so


class Thing:
    """é: bytes are not characters."""  # é

    size = 1
'''


def fingerprint(name: str) -> str:
    return code.decisive_sum(f"kernels/{_registry.module_path(name).name}")


# Other families may come and go; these are the ones that the tests edit.
OURS = [name for name in names() if name.split(".")[0] in ("bleu", "rouge_l", "meteor")]
INSTALLED = {name: fingerprint(name) for name in OURS}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernels' sources in a copy of the package, which the signatures then look at."""
    package = tmp_path / "refless"
    shutil.copytree(code.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "PACKAGE", package)
    monkeypatch.setattr(signing, "PACKAGE", package)
    folder = package / "kernels"
    monkeypatch.setattr(
        signatures, "module_path", lambda name: folder / _registry.module_path(name).name
    )
    return folder


def edit(path: Path, old: str, new: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, new), encoding="utf-8")
    for read_once in (code._imports, code._tree, code._code):
        read_once.cache_clear()


# ---- text_sum ----------------------------------------------------------------------------------


def test_text_sum_by_hand() -> None:
    # 8 bytes of length, then UTF-8: \u00e9 is c3 a9; a lone surrogate d800 is ed a0 80.
    content = bytes([2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9, 3, 0, 0, 0, 0, 0, 0, 0, 0xED, 0xA0, 0x80])
    assert text_sum(["\u00e9", "\ud800"]) == hashlib.sha256(content).hexdigest()


some = st.lists(st.text(alphabet="a\x00\x01\ud83d\ude00\U0001f600", max_size=3), max_size=4)


@given(one=some, other=some)
def test_text_sum_tells_lists_apart(one: list[str], other: list[str]) -> None:
    assert (text_sum(one) == text_sum(other)) == (one == other)


# ---- code --------------------------------------------------------------------------------------


def test_comments_docstrings_and_blank_lines_are_cut(tmp_path: Path) -> None:
    expected = (
        "from refless.kernels._helper import help_\n"
        'TABLE = """a\n'
        "\n"
        "b # no comment\n"
        '"""\n'
        "LONG = (\n"
        '    "a"\n'
        '    "b"\n'
        ")\n"
        "def value(x):\n"
        "    return f\"{x}#\" + '#' + help_(x)\n"
        "class Thing:\n"
        "    size = 1"
    )
    path = tmp_path / "module.py"
    path.write_text(SOURCE, encoding="utf-8")
    assert code._code(path) == expected


def test_comments_and_docstrings_do_not_change_a_fingerprint(copy: Path) -> None:
    for path in copy.glob("*.py"):
        edit(path, "from __future__", "# A comment.\n\n\nfrom __future__")
    edit(copy / "bleu.py", "Stage: kernels", "Stage: one that is called otherwise")
    edit(copy / "bleu.py", '"""Make texts ready', '"""\n\n    Made texts ready')
    edit(copy / "_ngrams.py", "    n = len(codes)\n", "    # So many.\n\n    n = len(codes)  # n\n")
    assert {name: fingerprint(name) for name in OURS} == INSTALLED


def test_code_changes_a_fingerprint(copy: Path) -> None:
    before = INSTALLED
    edit(copy / "meteor.py", "0.9 * precision", "0.8 * precision")
    changed = {name for name in OURS if fingerprint(name) != before[name]}
    assert changed == {"meteor.nltk35", "meteor.nltk39"}
    # A helper counts for those that import it, also through another.
    before = {name: fingerprint(name) for name in OURS}
    edit(copy / "wordnet.py", '("men", "man")', '("men", "mon")')
    edit(copy / "_ngrams.py", "ORDERS = (2, 3, 4)", "ORDERS = (1, 3, 4)")
    changed = {name.split(".")[0] for name in OURS if fingerprint(name) != before[name]}
    assert changed == {"bleu", "meteor"}
    before = {name: fingerprint(name) for name in OURS}
    edit(copy / "_texts.py", "np.int32", "np.int16")
    assert all(fingerprint(name) != before[name] for name in OURS)


# ---- signatures --------------------------------------------------------------------------------


def test_signature_holds_what_decides_the_numbers() -> None:
    signed = signature("meteor.nltk35", "abc", resources={"wordnet": "def"}, wordnet="/some/place")
    assert json.loads(json.dumps(signed)) == signed
    assert "/some/place" not in json.dumps(signed)
    assert signed["kernel"] == "meteor.nltk35"
    assert signed["data"] == "abc"
    assert signed["resources"] == {"wordnet": "def"}
    assert signed["packages"] == {"nltk": version("nltk")}
    assert signature("bleu.char", "abc", n=(1, 2))["options"] == {"n": [1, 2]}


def test_versions_that_decide_are_in_the_signature(copy: Path) -> None:
    (copy / "rouge_l.py").write_text(
        'NAMES = ("rouge_l.stem",)\n'
        'PACKAGES = {"rouge_l.*": ("numpy",), "rouge_l.plain": ("numpy", "scipy")}\n',
        encoding="utf-8",
    )
    assert signature("rouge_l.stem", "abc")["packages"] == {"numpy": version("numpy")}
    assert list(signature("rouge_l.plain", "abc")["packages"]) == ["numpy", "scipy"]


def test_signature_of_given_synonyms() -> None:
    def signed(synonyms: object) -> dict[str, str]:
        return signature("meteor.nltk39", "abc", synonyms=synonyms)["resources"]

    one = signed({"a": ["b", "c"], "d": ["e"]})
    assert one == signed({"d": ["e"], "a": ["c", "b"]})
    assert one != signed({"d": ["e"], "a": ["b"]})
    with pytest.raises(KernelError, match="mapping"):
        signed(lambda word: [])


def test_option_that_cannot_be_kept() -> None:
    with pytest.raises(KernelError, match="signed"):
        signature("bleu.char", "abc", something=object())


@pytest.mark.parametrize("name", ["bleu.char", "rouge_l.stem", "meteor.nltk35"])
def test_fresh_signature_matches(name: str) -> None:
    signed = json.loads(json.dumps(signature(name, "abc", resources={"wordnet": "def"})))
    assert reasons_against(signed) == []


def test_reasons_of_a_stale_signature(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stated,) = re.findall(r"(?m)^PACKAGES.*$", (copy / "rouge_l.py").read_text("utf-8"))
    edit(copy / "rouge_l.py", stated, 'PACKAGES = {"rouge_l.stem": ("numpy",)}')
    signed = signature("rouge_l.stem", "abc")
    assert reasons_against(signed) == []
    (reason,) = reasons_against({**signed, "code": ["kernels/rouge_n.py"]})
    assert "kernels/rouge_n.py" in reason
    old = {**signed, "packages": {"numpy": "1.0"}}
    (reason,) = reasons_against(old)
    assert "numpy 1.0" in reason
    assert f"now it is {version('numpy')}" in reason
    # Shipped numbers name the versions that they came from, whatever is installed here.
    assert reasons_against(old, packages=False) == []
    edit(copy / "rouge_l.py", "precision * recall", "precision + recall")
    (reason,) = reasons_against(signed)
    assert "code of rouge_l.stem" in reason
    # what is not installed here cannot be compared
    monkeypatch.setattr(signing, "_version", lambda package: None)
    assert reasons_against(old) == [reason]


# ---- registry ----------------------------------------------------------------------------------


def test_unknown_kernels_and_options() -> None:
    for call in (lambda n: kernel(n, [], []), module_path):
        with pytest.raises(KernelError, match=r"rouge\.l.*\n.*bleu\.char.*rouge_l\.stem"):
            call("rouge.l")
    with pytest.raises(KernelError, match=r"'n'.*\n.*its options are: none"):
        kernel("bleu.char", [], [], n=4)
    with pytest.raises(KernelError, match="its options are: wordnet, synonyms"):
        kernel("meteor.nltk35", [], [], wornet="x")


def test_names_signatures_and_paths_import_no_kernel() -> None:
    code = (
        "import sys, refless.kernels as k\n"
        "for name in k.names():\n"
        "    k.module_path(name), k.signature(name, 'sum', resources={})\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('numba', 'nltk') or"
        " m.startswith('refless.kernels.') and m.split('.')[2] in ('bleu', 'rouge_l', 'meteor')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_kernel_is_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bertscore.py").write_text('NAMES = ("bertscore.*",)\n', encoding="utf-8")
    (tmp_path / "exact.py").write_text('"""Doc."""\nNAMES = ("exact.same",)\n', encoding="utf-8")
    (tmp_path / "helper.py").write_text("NAMES_ = 1\n", encoding="utf-8")
    monkeypatch.setattr(_registry, "FOLDER", tmp_path)
    _registry._modules.cache_clear()
    try:
        assert names() == ["bertscore.*", "exact.same"]
        assert module_path("exact.same") == tmp_path / "exact.py"
        assert module_path("bertscore.any-model") == tmp_path / "bertscore.py"
        with pytest.raises(KernelError):
            module_path("exact.other")
    finally:
        _registry._modules.cache_clear()
