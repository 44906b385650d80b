"""What a job hangs on: the code that decides, wherever it is imported."""

from pathlib import Path

import pytest

from refless.store import code
from refless.store.code import kept

SOURCES = {
    "kernels/a.py": "from refless.models import b\nfrom refless import errors\n",
    "models/__init__.py": "",
    "models/b.py": '"""Text."""\nimport refless.store.c\n\ndef f(x):\n'
    '    """What it does."""\n    if x:\n        raise ValueError("no")\n    return 1  # why\n',
    "store/c.py": "import numpy\n",
    "errors.py": "x = 1\n",
    "models/other.py": "y = 1\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(code, "PACKAGE", tmp_path)
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new", "counts"),
    [
        ("models/b.py", "return 1", "return 2", True),
        ("store/c.py", "numpy", "scipy", True),
        ("models/b.py", "What it does", "How", False),
        ("models/b.py", "# why", "# because", False),
        ("models/b.py", '"no"', '"never"', False),
        ("models/b.py", "\n\ndef", "\n\n\ndef", False),
        ("models/other.py", "1", "2", False),
        ("errors.py", "1", "2", False),
    ],
)
def test_edited_code_counts_and_an_edited_message_does_not(package, name, old, new, counts):
    sums = []
    for text in (SOURCES[name], SOURCES[name].replace(old, new)):
        (package / name).write_text(text)
        for cached in (code._imports, code._tree, code._code):
            cached.cache_clear()
        sums.append(code.code_sum("kernels/a.py"))
    assert (sums[0] != sums[1]) == counts


@pytest.mark.parametrize("script", ["normalize_ratings.py", "score_delta_bleu.py"])
def test_a_job_hangs_on_what_decides_its_numbers(script):
    """Normalised texts decide contexts, and rounded ratings decide ranks."""
    found = {str(path) for path in code.closure(code.PACKAGE.parent / "scripts" / script)}
    names = "data/wording.py", "data/ratings.py"
    assert {str(code.PACKAGE / name) for name in names} <= found


@pytest.mark.parametrize("broken", [False, True])
def test_loops_are_kept_on_disk_or_compiled_in_memory(tmp_path, monkeypatch, broken):
    numba = pytest.importorskip("numba")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def compile_it(cached: bool) -> str:
        if cached and broken:
            raise OSError("no space")
        return str(numba.config.CACHE_DIR) if cached else "in memory"

    before = numba.config.CACHE_DIR
    found = kept(code.closure, compile_it)
    assert found == "in memory" if broken else found.startswith(str(tmp_path / "refless/loops"))
    assert before == numba.config.CACHE_DIR
