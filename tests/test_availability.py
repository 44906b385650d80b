"""The plan: what is computed, taken, or cannot be had, and why. No Snakemake, no files."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from refless.availability import Facts, Need, Plan, Reason

RAW = Reason(
    "raw_file_missing", "the raw file a.csv is missing", 'put it at "manual/a.csv"; or | b'
)
OTHER = Reason("raw_file_missing", "the raw file b.csv is missing", "put it there")
TORCH = Reason("package_missing", "torch is not installed", "make torch")
NEEDS = {
    "results/ratings/{task}/texts.csv": Need(("{task}",)),
    "results/neighbors/{task}/{kernel}.csv": Need(("{task}",), ("{kernel}",)),
    "results/cross/{source}.{target}.csv": Need(("{source}", "{target}")),
}


def plan(
    shipped: Collection[str] = (),
    numbers: str = "computed",
    tasks: dict[str, list[Reason]] | None = None,
    left_out: dict[str, list[str]] | None = None,
) -> Plan:
    facts = Facts(
        numbers,
        {"chat": [], "news": [RAW, OTHER], **(tasks or {})},
        {"bertscore.tiny": [TORCH]},
        left_out or {},
    )
    return Plan(facts, NEEDS, shipped)


def kernel(task: str, name: str) -> str:
    return f"results/neighbors/{task}/{name}.csv"


def test_what_can_be_had_is_computed_and_needs_nothing_shipped() -> None:
    both = plan([kernel("chat", "bleu.char.unclipped")])
    assert both.origin(kernel("chat", "bleu.char.unclipped")) == "computed"
    assert both.taken == []


def test_what_cannot_be_computed_is_taken_or_absent() -> None:
    here = kernel("news", "bleu.char")
    both = plan([here, kernel("chat", "bertscore.tiny"), "results/unknown.csv"])
    assert both.origin(here) == "shipped"
    assert both.origin(kernel("news", "rouge_l.stem")) == "absent"
    assert both.taken == [kernel("chat", "bertscore.tiny"), here]
    assert both.there([here, kernel("news", "rouge_l.stem")]) == [here]
    assert both.computed([here, kernel("chat", "bleu.char")]) == [kernel("chat", "bleu.char")]


def test_every_reason_of_a_missing_result_is_told_as_data() -> None:
    found = plan().missing([kernel("news", "bertscore.tiny"), kernel("chat", "bleu.char")])
    about = {"task": "news", "kernel": "bertscore.tiny"}
    assert [(one["of"], one["code"], one["remedy"]) for one in found] == [
        (about, "raw_file_missing", RAW.remedy),
        (about, "raw_file_missing", "put it there"),
        (about, "package_missing", "make torch"),
    ]


def test_a_pair_needs_both_and_names_each_reason_once() -> None:
    assert plan().origin("results/cross/chat.chat.csv") == "computed"
    found = plan().missing(["results/cross/news.news.csv"])
    assert [one["sentence"] for one in found] == [RAW.sentence, OTHER.sentence]
    assert found[0]["of"] == {"source": "news", "target": "news"}


def test_shipped_numbers_only_means_shipped_numbers_only() -> None:
    here = kernel("chat", "bleu.char")
    both = plan([here], numbers="shipped")
    assert both.origin(here) == "shipped"
    assert [one["code"] for one in both.missing([kernel("chat", "rouge_l.stem")])] == [
        "not_shipped"
    ]


def test_what_stands_in_the_way_of_computing_is_told_for_shipped_numbers_too() -> None:
    found = plan(numbers="shipped").missing([kernel("news", "bertscore.tiny")])
    assert [one["code"] for one in found] == [
        "not_shipped",
        "raw_file_missing",
        "raw_file_missing",
        "package_missing",
    ]
    assert "other reasons" in found[0]["remedy"]  # computing alone is none
    assert found[-1]["remedy"] == "make torch"


@pytest.mark.parametrize("numbers", ["computed", "auto", "shipped"])
def test_shipped_files_of_a_data_set_that_was_taken_out_are_passed_over(numbers: str) -> None:
    files = [kernel("taken_out", "bleu.char"), kernel("chat", "bleu.char")]
    found = plan(files, numbers)
    assert kernel("taken_out", "bleu.char") not in found.taken
    assert [one["code"] for one in found.missing(files[:1])] == ["no_data_set"]


def test_what_the_configuration_leaves_out_is_not_taken_either() -> None:
    here = kernel("chat", "bleu.char")
    for numbers in ("computed", "shipped"):
        both = plan([here], numbers, left_out={"chat": ["bleu.char"]})
        assert both.origin(here) == "absent"
        assert "left_out" in {one["code"] for one in both.missing([here])}


def test_what_no_data_set_takes_part_in_is_neither_computed_nor_taken() -> None:
    path = "results/essays/estimates.csv"
    for numbers in ("computed", "shipped"):
        nobody = Plan(plan(numbers=numbers).facts, {path: Need()}, [path])
        assert nobody.origin(path) == "absent"
        assert [one["code"] for one in nobody.missing([path])] == ["no_data_set"]


def test_facts_travel_as_one_line() -> None:
    facts = plan(left_out={"chat": ["bleu.word"]}).facts
    line = facts.to_json()
    assert "\n" not in line
    again = Plan(Facts.from_json(line), NEEDS, [])
    asked = [kernel("news", "bleu.char"), kernel("chat", "bleu.word")]
    assert again.missing(asked) == Plan(facts, NEEDS, []).missing(asked)


def test_an_unknown_result_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError, match="elsewhere"):
        plan().origin("results/elsewhere.csv")
