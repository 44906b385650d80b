"""The loaders: found without importing them, and called by the name in the configuration."""

from __future__ import annotations

import inspect
import re
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
    yield tmp_path
    for name in list(sys.modules):
        if name.startswith("refless.data.sources.made_up"):
            del sys.modules[name]


def test_loaders_are_all_there_and_helpers_are_none():
    assert " ".join(sources.loaders()) == "asap_sas bagel dstc7 huse nem rnnlg table usr"
    for name in sources.loaders():
        assert callable(sources.module(name).load)
    with pytest.raises(FormatError, match="no loader named 'mr'") as caught:
        sources.load("mr", "nem", {"path": "x"})
    assert "rnnlg, table, usr" in caught.value.remedy


@pytest.mark.parametrize("name", sources.loaders())
def test_an_option_that_a_loader_does_not_take_is_named(name):
    parameters = inspect.signature(sources.module(name).load).parameters
    told = {key: "x" for key, own in parameters.items() if own.default is inspect.Parameter.empty}
    told.pop("task", None)
    with pytest.raises(FormatError, match="'made_up_option'") as caught:
        sources.load(name, "mine", told, {"made_up_option": 1})
    assert set(parameters) - {"task"} <= set(re.findall(r"\w+", caught.value.remedy))


def test_nothing_is_imported_before_it_is_asked_for():
    code = (
        "import sys, refless.data.sources as s; s.loaders();"
        "print('pandas' in sys.modules,"
        " sorted(m for m in sys.modules if m.startswith('refless.data.sources.')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False []"


def test_a_new_module_is_a_new_loader_and_a_broken_one_is_in_nobodys_way(package):
    (package / "made_up.py").write_text(
        "import pandas as pd\n"
        "from refless.data.ratings import RatedTexts\n"
        "def load(path, task, scale=2):\n"
        "    row = [task, 'its own', '', path, 1 / scale, 1, 'human']\n"
        "    names = ['id', 'task', 'context', 'text', 'quality', 'n_ratings', 'system']\n"
        "    return RatedTexts(pd.DataFrame([row], columns=names))\n"
    )
    (package / "made_up_broken.py").write_text("x = 1\ndef load(:\n")
    (package / "_made_up_helper.py").write_text("x = 1\ndef load():\n    pass\n")
    assert sources.loaders() == ["made_up", "made_up_broken"]
    loaded = sources.load("made_up", "any_name", {"path": "p"}, {"scale": 4})
    assert loaded.texts.loc[0].tolist() == ["any_name", "any_name", "", "p", 0.25, 1, "human"]
    with pytest.raises(FormatError, match=r"missing a required argument: 'path'") as caught:
        sources.load("made_up", "any_name", {})
    assert caught.value.remedy == "its files and options are path, scale"
    with pytest.raises(FormatError, match="unexpected keyword argument 'pth'"):
        sources.load("made_up", "any_name", {"path": "p", "pth": "p"})
    # Out of range: the tables are checked before anybody gets them.
    with pytest.raises(FormatError, match="quality"):
        sources.load("made_up", "any_name", {"path": "p"}, {"scale": 0.5})
