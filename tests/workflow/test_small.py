"""The whole workflow on small data: everything is built, and what is missing says why. An encoder
that is at hand (a random one), and a missing one."""

import re

import numpy as np
import pytest

from refless.data.task import read_task
from refless.kernels import kernel
from refless.report.catalogue import catalogue
from refless.store import sealed
from tests.kernels.test_bertscore import TORCH, bert_folder, needs_torch

THERE = ["huse_summarization", "dstc7", "mine"]


def test_every_table_figure_and_the_report_are_built(small):
    results = small.path / "results"
    shown = catalogue().values()
    tables, figures = (
        [e.name for e in shown if getattr(e, of)] for of in ("tabulated_by", "drawn_by")
    )
    expected = [f"tables/{name}.{end}" for name in tables for end in ("csv", "md", "json")]
    expected += [f"figures/{name}.{end}" for name in figures for end in ("pdf", "svg", "png")]
    assert [name for name in expected if not (results / name).stat().st_size] == []
    report = (results / "report.html").read_text(encoding="utf-8")
    assert [name for name in catalogue() if name not in report] == []


def test_a_second_run_does_nothing(small):
    assert small.planned("all") == {}
    # but for an item that is asked for by its name
    item = "bleu_neighbors_figure3"
    assert small.planned("--forcerun", item, "--", item) == {item: 1}


def test_every_item_and_paper_is_a_target(small):
    listed = set(small.snakemake("--list-target-rules").split())
    papers = {"bleu_neighbors", "delta_bleu", "rnn_qe"}
    assert {*catalogue(), *papers, "all", "fetch", "kernels", "report"} <= listed


def test_table_1_has_what_there_is_and_reasons_for_the_rest(small):
    first = small.table("bleu_neighbors_table1").set_index("dataset")
    computed = first[first["model"].isin(["bleu", "rouge"])].loc[THERE]
    assert set(computed["provenance"]) == {"computed"}
    absent = first.loc[["huse_generation"]]
    reasons = absent.loc[absent["model"] != "meteor", "reason"]
    assert reasons.str.contains("raw_file_missing").all()
    # DSTC7's pairs are too many for the encoder, which nobody has anyway
    encoder = first.loc[first["model"] == "bertscore", "reason"]
    assert "left_out" in encoder["dstc7"]
    assert "left_out" not in encoder["mine"]
    assert ("package_missing" if TORCH else "encoder_missing") in encoder["mine"]


def test_a_matrix_may_be_spread_over_several_files(small):
    results = small.path / "results"
    blocks = [results / f"kernels/dstc7/bleu.char/{block}of3.npy" for block in (1, 2, 3)]
    # 24 contexts, four systems, three pairs of one text
    assert [len(np.load(path)) for path in blocks] == [31, 31, 31]
    curve = sealed.read(results / "curves/dstc7/data_size.csv").content
    assert sorted(set(curve["size"])) == [*range(10, 93, 10), 93]


def test_essays_and_delta_bleu_are_computed(small):
    third = small.table("bleu_neighbors_table3")
    own = third[(third["model"] == "bleu_neighbors") & (third["provenance"] == "computed")]
    assert {"1", "8", "all_but_3"} <= set(own["train_topic"])
    assert set(own["n"]) == {6}  # 8, and two of them have too few or too many sentences
    second = small.table("delta_bleu_table2")
    for dataset, n in (("dstc7", 3 * 6), ("usr_topicalchat", 1 * 3)):
        own = second[second["dataset"] == dataset]
        assert set(own["provenance"]) == {"computed"}
        assert set(own["n"]) == {n}


def test_rated_outputs_are_counted_and_compared(small):
    second = small.table("rnn_qe_table2").set_index("setup")
    sizes = second["training_instances"].round().astype(int)
    assert (sizes["1"], sizes["2"]) == (264, 264 + 5 * 88)
    # 220 less 200; equal outputs stay together, so that a few go to the other parts
    for number, fewest, most in (("3", 440, 440), ("4", 1, 20), ("5", 1, 20)):
        rows = small.table(f"rnn_qe_table{number}")
        assert rows.loc[rows["setup"] == "bleu", "n"].between(fewest, most).all()
        trained = rows[rows["setup"].isin([str(n) for n in range(1, 7)])]
        assert trained["pearson"].isna().all()
        assert set(trained["reason"]) == {"not_trained"}
        assert rows.loc[rows["setup"] == "bleu_neighbors", "mae"].notna().all()


def test_every_file_between_stages_is_sealed_with_its_inputs(small):
    """And every one is whole, in its place, and of what lies there."""
    results = small.path / "results"
    stages = [f for f in results.iterdir() if f.name not in ("tables", "figures", "run", "logs")]
    files = [path for folder in stages for path in folder.rglob("*.*")]
    files = [path for path in files if path.suffix in (".csv", ".npy", ".gz")]
    assert len({path.relative_to(results).parts[0] for path in files}) >= 8
    files += [*results.glob("tables/*.csv"), *results.glob("figures/*.csv")]
    for path in files:
        sealed.read(path)
        record = sealed.read_record(path)
        assert results / record["folder"] == path.parent
        assert record["inputs"] or path.parts[-3] == "ratings"


def test_no_text_leaves_the_ratings(small):
    results = small.path / "results"
    texts: set[str] = set()
    for folder in results.glob("ratings/*"):
        texts |= {*(own := read_task(folder).texts)["text"], *own["context"]}
    texts = {text for text in texts if len(text) > 12}  # "set 3" is an essay's context
    assert len(texts) > 400
    wanted = re.compile("|".join(sorted(map(re.escape, texts), key=len, reverse=True)))
    read = (".csv", ".md", ".html", ".json", ".svg", ".txt")
    files = [path for path in results.rglob("*") if path.suffix in read]
    files = [p for p in files if p.relative_to(results).parts[0] not in ("ratings", "logs")]
    assert len(files) > 50
    assert [p for p in files if wanted.search(p.read_text(encoding="utf-8"))] == []


KERNEL = "bertscore.refless-tiny"
FILE = f"results/kernels/mine/{KERNEL}/1of1.npy"
HERE = "resources/manual/models/refless-tiny"
TARGET = "bleu_neighbors_table1"


@pytest.mark.slow
@needs_torch
def test_an_encoder_placed_by_hand_is_used_and_another_one_computes_again(changed):
    folder = bert_folder(changed.path / HERE)
    changed.snakemake(TARGET)
    texts = read_task(changed.path / "results/ratings/mine").texts["text"].tolist()
    expected = kernel(KERNEL, texts, texts, model=folder, layer=2)
    np.testing.assert_allclose(sealed.read(changed.path / FILE).content, expected, atol=1e-5)
    first = changed.table(TARGET)
    there = first[first["kernel"].eq(KERNEL) & first["coverage"].notna()]
    assert set(there["provenance"]) == {"computed"}
    assert "mine" in set(there["dataset"])
    assert not (changed.path / f"results/kernels/dstc7/{KERNEL}").exists()
    assert changed.planned(TARGET) == {}
    changed.change("{layer: 2}", "{layer: 1}")
    assert changed.planned(TARGET)["compute_encoder_kernel"] == 2
    changed.change("{layer: 1}", "{layer: 2}")
    config = folder / "config.json"
    config.write_bytes(config.read_bytes() + b"\n")  # another encoder in its place
    assert changed.planned(FILE)["compute_encoder_kernel"] == 1
