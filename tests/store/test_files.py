"""Files: whole or not at all. A sealed one is the one that was written, where it was written, from
what lies there; or it is refused by name. And the code that a job hangs on."""

import ast
import errno
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from refless import code_sums
from refless.compute.compiled import compiled
from refless.errors import FormatError, OutputError, StaleError
from refless.store import sealed
from refless.store.files import require_writable, whole_file, write_together
from refless.store.records import Output, input_sums

FULL, READ_ONLY = (OSError(code, os.strerror(code)) for code in (errno.ENOSPC, errno.EROFS))


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def write(path: Path, content: str | None = "new", error: BaseException | None = None) -> None:
    with whole_file(path) as partial:
        if content is not None:
            partial.write_text(content)
        if error is not None:
            raise error


def test_the_new_file_takes_the_old_ones_place(tmp_path):
    path = tmp_path / "deep" / "er" / "table.csv"
    for content in ("old", "new"):
        with whole_file(path) as partial:
            # matplotlib and numpy read the format off the ending
            assert (partial.parent, partial.suffix) == (path.parent, ".csv")
            partial.write_text(content)
            assert not path.exists() or path.read_text() == "old"
        assert path.read_text() == content
    for error in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            write(path, "half of it", error())
        assert names(path.parent) == ["table.csv"]
        assert path.read_text() == "new"


@pytest.mark.parametrize("obstacle", ["full", "file", "read-only", "nothing written"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch, obstacle):
    path = tmp_path / "results" / "table.csv"

    if obstacle == "file":
        (tmp_path / "results").write_text("not a directory")
    elif obstacle == "read-only":  # permissions do not stop root
        monkeypatch.setattr("refless.store.files.os.replace", Mock(side_effect=READ_ONLY))
    elif obstacle == "full":
        monkeypatch.setattr(Path, "write_text", Mock(side_effect=FULL))

    with pytest.raises(OutputError) as caught:
        write(path, None if obstacle == "nothing written" else "new")
    assert caught.value.path == str(path)
    assert caught.value.remedy
    assert not path.is_file()
    assert [p for p in tmp_path.rglob("*") if "partial" in p.name] == []


def test_a_link_and_the_mode_of_a_file_stay(tmp_path):
    path, link = tmp_path / "mine", tmp_path / "link.csv"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path.name)
    with whole_file(link) as partial:
        assert partial.stat().st_mode & 0o7 == 0  # while it is written
        partial.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["link.csv", "mine"]
    write(tmp_path / ("n" * 240))  # about as long as names can be


@pytest.fixture
def folder() -> Iterator[Path]:
    """As a user who may not write everywhere sees it: also where root runs the tests."""
    is_root = os.geteuid() == 0
    with TemporaryDirectory() as name:
        if is_root:
            os.chown(name, 65534, 65534)
            os.seteuid(65534)
        yield Path(name)
        (Path(name) / "sealed").chmod(0o700)
        if is_root:
            os.seteuid(0)


@pytest.mark.parametrize(
    "name", ["folder", "file/a.csv", "pipe", "read-only", "sealed/deep/a.csv", "loop", "n" * 256]
)
def test_what_cannot_be_written_is_refused_before_the_work(folder, name):
    for one in ("folder", "sealed"):
        (folder / one).mkdir()
    for one in ("file", "read-only"):
        (folder / one).write_text("old")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "read-only").chmod(0o400)
    (folder / "sealed").chmod(0o500)
    before = names(folder)
    for refuse in (require_writable, write):
        with pytest.raises(OutputError) as caught:
            refuse(folder / name)
        assert caught.value.path == str(folder / name)
    require_writable(folder / "more" / "a.csv")
    assert names(folder) == before
    assert (folder / "read-only").read_text() == "old"
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("obstacle", [0, 1])
def test_files_that_belong_together_are_put_in_place_together(tmp_path, monkeypatch, obstacle):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    write_together(dict.fromkeys(paths, "old"))
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name.startswith(f".{paths[obstacle].stem}."):
            raise FULL
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match=paths[obstacle].name):
        write_together(dict.fromkeys(paths, "new"))
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert names(tmp_path) == ["a.csv", "b.csv"]


TABLE = pd.DataFrame({"id": ["a", "b"], "value": [0.1, np.nan], "text": ["NA", 'say "hi"\r']})
ARRAY = np.arange(6.0).reshape(2, 3)
METADATA = {"scale": [0, 5], "sizes": {"b": 1, "a": 2}}
CONTENT: dict[str, Any] = {".npy": ARRAY, ".csv": TABLE, ".gz": TABLE, ".svg": b"<svg></svg>\n"}


def store(path: Path, content: Any = None, metadata: Mapping[str, Any] = METADATA) -> Path:
    content = CONTENT[path.suffix] if content is None else content
    if isinstance(content, bytes):
        sealed.write_sidecar({path: content}, metadata)
    else:
        sealed.write(path, content, metadata)
    return path


def same(file: sealed.Sealed, suffix: str) -> None:
    assert {name: file.metadata[name] for name in METADATA} == METADATA
    if isinstance(file.content, pd.DataFrame):
        pd.testing.assert_frame_equal(file.content, CONTENT[suffix], check_dtype=False)
    else:
        np.testing.assert_equal(file.content, CONTENT[suffix])


@pytest.fixture(params=["a.csv", "a.b.csv.gz", "a.npy", "a.svg"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return store(tmp_path / request.param)


def test_what_is_written_is_read_and_always_the_same_bytes(file):
    same(sealed.read(file), file.suffix)
    both = file, sealed.record_path(file)
    assert sorted(file.parent.iterdir()) == sorted(both)
    before = [path.read_bytes() for path in both]
    store(file, metadata=dict(reversed(METADATA.items())))
    assert [path.read_bytes() for path in both] == before


@pytest.mark.parametrize("which", ["file", "record"])
def test_no_flipped_bit_gives_other_content(file, which):
    path = file if which == "file" else sealed.record_path(file)
    raw, refused = path.read_bytes(), 0
    bits = np.random.default_rng(13).choice(8 * len(raw), min(8 * len(raw), 300), replace=False)
    for bit in bits:
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            same(sealed.read(file), file.suffix)
        except FormatError as error:
            refused += str(file) in str(error) and bool(error.remedy)
    # of JSON, another blank decides nothing
    assert refused >= len(bits) * (1 if which == "file" else 0.95)


@pytest.mark.parametrize("which", ["file", "record"])
def test_a_truncated_or_missing_file_is_refused(file, which):
    path = file if which == "file" else sealed.record_path(file)
    whole = path.read_bytes()
    for content in (b"", whole[:-10], bytes(len(whole))):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=file.name):
            sealed.read(file)
    path.unlink()
    with pytest.raises(FormatError, match=file.name):
        sealed.read(file)


def test_exchanged_files_and_records_are_refused(tmp_path):
    one, two = store(tmp_path / "a.csv"), store(tmp_path / "b.csv", TABLE.assign(value=1.0))
    for path in (lambda file: file), sealed.record_path:
        contents = path(one).read_bytes(), path(two).read_bytes()
        for other in (contents[::-1], contents):
            path(one).write_bytes(other[0])
            path(two).write_bytes(other[1])
            for file in (one, two):
                if other != contents:
                    with pytest.raises(FormatError, match=file.name):
                        sealed.read(file)
                else:
                    sealed.read(file)


KILLED = """
import os, sys
from pathlib import Path
from refless.store import sealed
replace, left = os.replace, [int(sys.argv[2])]
def replaced(*paths):
    if not left[0]:
        os._exit(9)
    left[0] -= 1
    replace(*paths)
os.replace = replaced
path = Path(sys.argv[1])
sealed.write_sidecar({path: b"new", path.with_suffix(".md"): b"page"}, {})
"""


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("replaced", [0, 1, 2])
def test_a_run_that_is_killed_between_files_leaves_nothing_that_is_read(tmp_path, old, replaced):
    path = tmp_path / "table.csv"
    if old:
        sealed.write_sidecar({path: TABLE.to_csv().encode()}, {})
    before = sealed.read_record(path) if old else None
    subprocess.run([sys.executable, "-c", KILLED, path, str(replaced)], check=False)
    if old and not replaced:
        assert sealed.read_record(path) == before
        sealed.read(path)
    else:
        # a file that is new has its record; the old one is not that of the new record
        assert old or not path.exists()
        with pytest.raises(FormatError):
            sealed.read(path)


def computed(path: str, *inputs: str) -> Path:
    """A result as a job with these inputs writes it, in the current folder."""
    file = Path(path)
    sealed.write(Output(file, input_sums(inputs)), CONTENT[file.suffix], METADATA)
    return file


def test_a_kernel_under_anothers_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = computed("results/kernels/chat/bleu.char/1of1.npy")
    for name in ("kernels/chat/bleu.word/1of1.npy", "kernels/news/bleu.char/1of1.npy"):
        other = Path("results", name)
        other.parent.mkdir(parents=True, exist_ok=True)
        for path in (lambda file: file), sealed.record_path:
            path(other).write_bytes(path(right).read_bytes())
        with pytest.raises(FormatError, match=r"kernels/chat/bleu\.char/1of1\.npy under another"):
            sealed.read(other)
    # seen from elsewhere, and moved with its whole folder
    monkeypatch.chdir("/")
    same(sealed.read(tmp_path / right), ".npy")


def test_a_result_of_other_inputs_than_lie_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = computed("results/ratings/chat/texts.csv")
    kernel = computed("results/kernels/chat/bleu.char.npy", str(texts), "elsewhere.csv")
    assert list(sealed.read_record(kernel)["inputs"]) == ["ratings/chat/texts.csv"]
    store(texts)  # the same texts once more are the same texts
    same(sealed.read(kernel), ".npy")
    store(texts, TABLE.assign(value=1.0))
    with pytest.raises(StaleError) as caught:
        sealed.read(kernel)
    assert caught.value.path == str(kernel)
    texts.unlink()  # nobody can tell
    sealed.record_path(texts).unlink()
    same(sealed.read(kernel), ".npy")


def test_a_record_is_read_without_its_file(tmp_path):
    """A kernel may have 400 MB."""
    path = store(tmp_path / "a.npy")
    expected = sealed.read(path).metadata, sealed.recorded_sum(path)
    path.unlink()
    assert (sealed.read_record(path)["metadata"], sealed.recorded_sum(path)) == expected


SOURCES = {
    "kernels/a.py": "from refless.models import b\nfrom refless import errors\n",
    "models/__init__.py": "",
    "models/b.py": '"""Text."""\nimport refless.store.c\n\ndef f(x):\n'
    '    """What it does."""\n    if x:\n        raise ValueError("no")\n    return 1  # why\n',
    "store/c.py": "import numpy\n",
    "errors.py": "from refless.models import other\n",
    "models/other.py": "y = 1\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(code_sums, "PACKAGE", tmp_path)
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
        ("models/b.py", "ValueError", "KeyError", True),
        ("models/b.py", '("no")', "", False),
        ("models/b.py", "\n\ndef", "\n\n\ndef", False),
        ("models/other.py", "1", "2", False),
        ("errors.py", "other", "b", False),
    ],
)
def test_edited_code_counts_and_an_edited_message_does_not(package, name, old, new, counts):
    sums = []
    for text in (SOURCES[name], SOURCES[name].replace(old, new)):
        (package / name).write_text(text)
        for cached in (code_sums._imports, code_sums._read):
            cached.cache_clear()
        sums.append(code_sums.code_sum("kernels/a.py"))
    assert (sums[0] != sums[1]) == counts


def test_a_sum_is_the_same_wherever_a_script_lies(package):
    """Before or behind the package: beside it, or in a copy of rules from an address."""
    sums = set()
    for folder in (f"{package}-after", f"{package.parent}/{package.name[:-1]}"):
        Path(folder).mkdir()
        script = Path(folder, "script.py")
        script.write_text("from refless.models import b\n")
        sums.add(code_sums.code_sum(script))
    assert len(sums) == 1


@pytest.mark.parametrize("script", ["normalize_ratings.py", "score_delta_bleu.py"])
def test_a_job_hangs_on_what_decides_its_numbers(script):
    """Normalised texts decide contexts, and rounded ratings decide ranks."""
    found = {str(path) for path in code_sums.closure(code_sums.PACKAGE.parent / "scripts" / script)}
    names = "data/text_ids.py", "data/ratings.py"
    assert {str(code_sums.PACKAGE / name) for name in names} <= found


@pytest.mark.parametrize("broken", [False, True])
def test_loops_are_kept_on_disk_or_compiled_in_memory(monkeypatch, broken):
    numba = pytest.importorskip("numba")

    def njit(*_: object, cache: bool = False, **__: object) -> object:
        if cache and broken:
            raise OSError("no space")
        return lambda _: "on disk" if cache else "in memory"

    monkeypatch.setattr(numba, "njit", njit)
    assert str(compiled("void()")(code_sums.closure)) == ("in memory" if broken else "on disk")


def test_loops_use_nothing_of_other_files():
    """numba's cache looks at a loop's own file alone."""
    seen = 0
    for path in code_sums.PACKAGE.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        imports = [one for one in body if isinstance(one, ast.ImportFrom)]
        imports = [one for one in imports if str(one.module).startswith("refless")]
        foreign = {alias.name for one in imports for alias in one.names}
        for loop in body:
            if isinstance(loop, ast.FunctionDef) and "'compiled'" in ast.dump(loop):
                names = [name for line in loop.body for name in ast.walk(line)]
                assert not foreign & {name.id for name in names if isinstance(name, ast.Name)}
                seen += 1
    assert seen > 10
