"""Examples in docstrings run, and each public function of kernels has one."""

import doctest

import pytest

from refless import kernels
from refless.code_sums import PACKAGE

MODULES = [
    ".".join(("refless", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for package in ("kernels", "models", "statistics")
    for path in sorted((PACKAGE / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    imported = pytest.importorskip(module, reason="make torch", exc_type=ImportError)
    assert doctest.testmod(imported).failed == 0


@pytest.mark.parametrize("name", kernels.__all__)
def test_each_function_of_kernels_has_an_example(name):
    assert ">>> " in getattr(kernels, name).__doc__
