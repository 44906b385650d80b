"""Examples in docstrings run, and each public function of kernels and statistics has one."""

import doctest

import pytest

from refless import kernels, statistics
from refless.code_sums import PACKAGE
from refless.errors import SettingError

MODULES = [
    ".".join(("refless", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for package in ("compute", "kernels", "models", "statistics")
    for path in sorted((PACKAGE / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    imported = pytest.importorskip(module, reason="make torch", exc_type=SettingError)
    assert doctest.testmod(imported).failed == 0


@pytest.mark.parametrize("package", [kernels, statistics])
def test_each_function_of_a_package_has_an_example(package):
    functions = {name: value for name, value in vars(package).items() if callable(value)}
    public = [functions[name] for name in getattr(package, "__all__", functions)]
    assert not [value.__name__ for value in public if ">>> " not in (value.__doc__ or "")]
