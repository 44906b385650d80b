"""The registry: finds data sets without importing them, loads by task name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from refless.data import sources
from refless.errors import FormatError


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of sources elsewhere, to which modules can be added."""
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(sources, "__path__", [str(tmp_path)])
    sources.tasks.cache_clear()
    yield tmp_path
    sources.tasks.cache_clear()
    for name in list(sys.modules):
        if name.startswith("refless.data.sources.made_up"):
            del sys.modules[name]


def test_tasks_are_all_there():
    assert sources.tasks() == {
        "asap_sas": "asap_sas",
        "bagel": "bagel",
        "dstc7": "dstc7",
        "huse_dialogue": "huse",
        "huse_generation": "huse",
        "huse_summarization": "huse",
        "nem": "nem",
        "sfhot": "rnnlg",
        "sfrest": "rnnlg",
        "usr_personachat": "usr",
        "usr_topicalchat": "usr",
    }


def test_what_a_module_declares_is_what_is_found():
    for task, name in sources.tasks().items():
        module = sources.module(task)
        assert module.__name__ == f"refless.data.sources.{name}"
        assert task in module.TASKS


def test_nothing_is_imported_before_it_is_asked_for():
    code = (
        "import sys, refless.data.sources as s; s.tasks();"
        "print(sorted(m for m in sys.modules if m.startswith('refless.data.sources.')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_new_module_is_a_new_data_set_and_a_broken_one_is_in_nobodys_way(package):
    (package / "made_up.py").write_text(
        "import pandas as pd\n"
        "from refless.data.ratings import RatedTexts\n"
        "TASKS = ('made_up_a', 'made_up_b')\n"
        "def load(path, task, scale=2):\n"
        "    row = [task, task, '', path, 1 / scale, 1, 'human']\n"
        "    names = ['id', 'task', 'context', 'text', 'quality', 'n_ratings', 'system']\n"
        "    return RatedTexts(pd.DataFrame([row], columns=names))\n"
    )
    (package / "made_up_broken.py").write_text("TASKS = ('c',)\ndef load(:\n")
    (package / "made_up_computed.py").write_text("TASKS = tuple(x for x in 'de')\n")
    (package / "_made_up_helper.py").write_text("TASKS = ('f',)\n")
    assert sources.tasks() == {"made_up_a": "made_up", "made_up_b": "made_up"}
    loaded = sources.load("made_up_b", path="p", scale=4)
    assert loaded.texts.loc[0, ["id", "text", "quality"]].tolist() == ["made_up_b", "p", 0.25]
    with pytest.raises(FormatError, match=r"missing a required argument: 'path'") as caught:
        sources.load("made_up_a")
    assert "path, task, scale" in caught.value.remedy
    with pytest.raises(FormatError, match="unexpected keyword argument 'pth'"):
        sources.load("made_up_a", path="p", pth="p")
    # Out of range: the tables are checked before anybody gets them.
    with pytest.raises(FormatError, match="quality"):
        sources.load("made_up_a", path="p", scale=0.5)


def test_two_modules_with_one_task(package):
    (package / "made_up_one.py").write_text("TASKS = ('x',)\n")
    (package / "made_up_two.py").write_text("TASKS = ('x',)\n")
    with pytest.raises(FormatError, match=r"'x' is claimed by sources/made_up_one.py as well"):
        sources.tasks()


def test_an_unknown_task_lists_the_known():
    with pytest.raises(FormatError, match="no data set named 'huse'") as caught:
        sources.load("huse", path="x")
    assert "huse_summarization" in caught.value.remedy
