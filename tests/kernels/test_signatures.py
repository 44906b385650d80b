"""Signatures: they change when what decides the numbers changes, and not otherwise."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.errors import KernelError
from refless.kernels import entry, kernel, signature
from refless.store.files import text_sum

# ---- text_sum ----------------------------------------------------------------------------------


def test_text_sum_by_hand() -> None:
    # 8 bytes of length, then UTF-8: \u00e9 is c3 a9; a lone surrogate d800 is ed a0 80.
    content = bytes([2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9, 3, 0, 0, 0, 0, 0, 0, 0, 0xED, 0xA0, 0x80])
    assert text_sum(["\u00e9", "\ud800"]) == hashlib.sha256(content).hexdigest()


some = st.lists(st.text(alphabet="a\x00\x01\ud83d\ude00\U0001f600", max_size=3), max_size=4)


@given(one=some, other=some)
def test_text_sum_tells_lists_apart(one: list[str], other: list[str]) -> None:
    assert (text_sum(one) == text_sum(other)) == (one == other)


# ---- signatures --------------------------------------------------------------------------------


def test_options_are_signed_as_json_has_them() -> None:
    assert signature("bleu.char", n=(1, 2)) == {"options": {"n": [1, 2]}, "resources": {}}


def test_signature_of_given_synonyms() -> None:
    def signed(synonyms: object) -> dict[str, str]:
        return signature("meteor.nltk39", synonyms=synonyms)["resources"]

    one = signed({"a": ["b", "c"], "d": ["e"]})
    assert one == signed({"d": ["e"], "a": ["c", "b"]})
    assert one != signed({"d": ["e"], "a": ["b"]})
    with pytest.raises(KernelError, match="mapping"):
        signed(lambda word: [])


def test_option_that_cannot_be_kept() -> None:
    with pytest.raises(KernelError, match="signed"):
        signature("bleu.char", something=object())


def test_unknown_kernels_and_options() -> None:
    with pytest.raises(KernelError, match=r"bleu\.char"):
        entry("rouge.l")
    with pytest.raises(KernelError, match="wordnet, synonyms"):
        kernel("meteor.nltk35", [], [], wornet="x")


def test_names_and_paths_import_no_kernel() -> None:
    code = (
        "import sys, refless.kernels as k\n"
        "for name in k.names():\n"
        "    k.entry(name)\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('numba', 'nltk') or"
        " m.startswith('refless.kernels.') and m.split('.')[2] in ('bleu', 'rouge_l', 'meteor')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
