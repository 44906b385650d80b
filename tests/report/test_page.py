"""Tables as CSV, Markdown and record, numbers in prose, and the report that is made of them."""

import json
import re
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless import __version__
from refless.citation import commit_of
from refless.errors import FormatError
from refless.methods import METHODS
from refless.report import curve_words, fill, page, tables
from refless.report.catalogue import Column, Entry, RowGroup, Section, catalogue, function_of
from refless.report.fill import (
    PLACE,
    as_html,
    filled,
    of_settings,
    read_numbers,
    section,
    with_settings,
)
from refless.report.names import words
from refless.report.render import MARKS, VERDICTS, meanings_of, parts_of
from refless.report.why import causes_of, paragraphs
from refless.statistics.bootstrap import packed
from refless.store import sealed
from tests.conftest import ROOT
from tests.report.made_up import ITEMS, SVG, make_page, make_results, table1, wide
from tests.test_plan import plan

COLUMNS = {
    "model": Column(join=("kernel",), mark="sees"),
    "rho": Column(label="Spearman", digits=3, full=True),
    "significant": Column(label="p < 0.01", star=True),
    "p": Column(digits=3, p=True),
    "n_covered": Column(label="covered", digits=0),
}
MISSING = [
    {"of": {"dataset": "news", "kernel": "rouge"}, "code": "raw_file_missing"},
    {"of": {"dataset": "news"}, "code": "second"},
    {"of": {"dataset": "chat"}, "code": "elsewhere"},
]


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": ["lost", "news", "news", "news"],
            "model": ["human_average", "bleu", "bleu", "rouge"],
            "kernel": ["", "bleu.word", "bleu.char", "rouge"],
            "rho": [np.nan, 0.00001, 0.3244, np.nan],
            "rho_low": [np.nan, 0.00001, -0.0001, np.nan],
            "rho_high": [np.nan, 0.00001, 0.4, np.nan],
            "paper_rho": ["", "", "0.325", "0.20"],
            "significant": [None, 0, 1, None],
            "paper_significant": ["", "", "1", ""],
            "p": [np.nan, 0.25, 1e-9, np.nan],
            "sees": [0, 0, 1, 0],
            "n_covered": pd.array([None, 10, 198, None], "Int64"),
            "n": pd.array([None, 199, 199, None], "Int64"),
            "provenance": ["", "shipped", "computed", ""],
        }
    )


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch) -> Entry:
    made = Entry("one", "A paper", "table 1", "models", "With {draws} draws.", columns=COLUMNS)
    monkeypatch.setattr(tables, "catalogue", lambda: {"one": made})
    return made


def publish(folder: Path) -> pd.DataFrame:
    tables.publish("one", table(), folder, missing=MISSING, facts={"draws": 7})
    return tables.read_table(folder / "one.csv")


def test_rows_without_numbers_have_a_reason(entry, tmp_path):
    assert publish(tmp_path)["reason"].tolist() == ["not_made", "", "", "raw_file_missing second"]
    own = table().assign(reason=["", "", "", "quoted"])
    assert tables.with_reasons(own, MISSING)["reason"].tolist()[3] == "quoted"


def test_a_column_has_one_number_and_what_the_paper_prints_comes_first(entry, tmp_path):
    publish(tmp_path)
    lines = (tmp_path / "one.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    spearman = ["Spearman, paper", "Spearman, ours", "difference", "our 95% interval"]
    assert rows[0] == ["model", *spearman, "p < 0.01, paper", "p < 0.01, ours", "p", "covered"]
    # what has a number of ours comes first
    models = [
        "BLEU of characters (BLEU\\*)\u00a0†",
        "rouge",
        "**Not in the paper**",
        "BLEU of words",
    ]
    assert [row[0] for row in rows[2:]] == [*models, "average annotator"]
    assert rows[2][1:5] == ["0.325", "0.324", "-0.001", "0.000 to 0.400"]
    assert rows[2][5:] == ["\\*", "\\*", "< 0.001", "198"]
    assert rows[5][1:5] == ["–", "0.000", "–", "0.000 to 0.000"]
    text = "\n".join(lines)
    assert "With 7 draws." in text
    # a word of why is a sentence, where there is one
    reasons = [line.split(": ") for line in lines if line.startswith("– ")]
    assert [of for of, _ in reasons] == ["– average annotator", "– rouge", "– rouge"]
    assert [len(reason.split()) > 1 for _, reason in reasons] == [True, True, False]
    assert "nan" not in text


def test_a_number_may_have_the_digits_of_another():
    column = Column(digits="published", paper="published")
    entry = Entry("cells", "A", "b", "c", columns={"item": Column(), "ours": column})
    table = pd.DataFrame({"ours": [1476.0, 0.02004], "published": ["1476", "0.0200"]})
    (part,) = parts_of(entry, table.assign(item=["x", "y"]), {})
    rows = [[cell.text for cell in row] for rows in part.groups.values() for row in rows]
    assert rows == [["x", "1476", "1476"], ["y", "0.0200", "0.0200"]]
    verdicts = [row[2].verdict for rows in part.groups.values() for row in rows]
    assert verdicts == ["equal", "equal"]


def test_values_of_a_column_stand_side_by_side(entry):
    """Each data set by its name, and only columns with a value."""
    section = Section("{value}", by="dataset", across="kernel", rows=(RowGroup(),))
    columns = {"dataset": Column(), "rho": Column(digits=2)}
    of = replace(entry, columns=columns, sections=(section,))
    news, lost = parts_of(of, table(), {"news": "the news"})
    # what has no number of ours is last
    assert (news.title, lost.title) == ("the news", "lost")
    assert lost.header == ["dataset"]
    characters = "BLEU of characters (BLEU*): rho"
    assert news.header[1:3] == [f"{characters}, paper", f"{characters}, ours"]
    assert news.header[3] == "BLEU of words: rho"
    assert news.size == 1


def test_a_file_for_people_has_the_marks_of_the_report(entry, tmp_path, monkeypatch):
    values = {"model": ["a", "b", "c"], "paper_rho": ["0.325", "0.2", "0.50"]}
    values |= {
        "rho": [0.3251, 0.3, 0.45],
        "rho_low": [0.3, 0.29, 0.4],
        "rho_high": [0.4, 0.31, 0.6],
    }
    table = pd.DataFrame(values).assign(provenance="computed")
    columns = {"model": Column(), "rho": Column(digits=3, full=True)}
    shown = {"one": replace(entry, columns=columns)}
    monkeypatch.setattr(tables, "catalogue", lambda: shown)
    tables.publish("one", table, tmp_path, facts={"draws": 7})
    text = (tmp_path / "one.md").read_text(encoding="utf-8")
    ours = [line.split(" | ")[2] for line in text.splitlines() if line.startswith("| ")][2:]
    assert ours == ["0.325 =", "0.300 ≠", "0.450"]
    for verdict, mark in MARKS.items():
        assert f"{mark} {VERDICTS[verdict]}" in text


@pytest.mark.parametrize("name", ["rnn_qe_table2", "rnn_qe_table3"])
def test_a_table_says_what_its_setups_are(name):
    rows = pd.DataFrame({"setup": ["bleu", "1", "2"], "schedule": ["", "short", "short"]})
    rows = rows.assign(pearson=0.1, training_instances=9, provenance="computed")
    (line,) = meanings_of(parts_of(catalogue()[name], rows, {}))
    means = words()["setup_means"]
    assert [means[number] in line for number in "123"] == [True, True, False]


def test_every_entry_names_a_function_and_has_a_caption():
    for name, shown in catalogue().items():
        assert shown.tabulated_by or shown.drawn_by, name
        for function in filter(None, (shown.tabulated_by, shown.drawn_by)):
            assert callable(function_of(function))
        assert shown.caption, name


def test_a_method_has_one_name():
    names = {name: entry.label for name, entry in METHODS.items() if entry.label != name}
    assert names.items() <= words()["method"].items()


def test_what_is_read_back_is_what_was_printed(entry, tmp_path):
    again = publish(tmp_path)
    assert again["paper_rho"].tolist() == ["", "", "0.325", "0.20"]
    np.testing.assert_array_equal(again["rho"], table()["rho"])
    record = json.loads((tmp_path / "one.json").read_text())
    assert record["metadata"]["provenance_counts"] == {"absent": 2, "computed": 1, "shipped": 1}
    assert record["metadata"]["reason"] == {"not_made": 1, "raw_file_missing": 1}
    # draws stand in the record
    draws = ["", packed(np.array([0.5, 0.25])), None, ""]
    tables.publish("one", table().assign(rho_draws=draws), tmp_path, facts={"draws": 7})
    assert "rho_draws" not in (tmp_path / "one.csv").read_text()
    again = tables.read_table(tmp_path / "one.csv")["rho_draws"]
    assert again.tolist() == ["", draws[1], "", ""]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return make_results(tmp_path / "results")


def test_every_item_is_there_once_whole_and_linked(report):
    text = report.read_text(encoding="utf-8")
    for name in ITEMS:
        assert text.count(f'id="{name}"') == 1
    linked = set(re.findall(r'href="#([^"]+)"', text))
    assert linked <= set(re.findall(r' id="([^"]+)"', text))
    assert set(ITEMS) - {"reproducibility_cells-drawn"} <= linked
    assert text.count("<tr>") == 4 + len(table1()) + len(wide()) + 8 + 1  # with heads


def test_the_report_leads_to_pages_of_the_handbook(report):
    linked = set(re.findall(r'href="\.\./([^"#]+)"', report.read_text(encoding="utf-8")))
    assert {path for path in linked if (ROOT / path).is_file()} == linked
    assert len(linked) > 4


def test_above_a_picture_stands_what_its_curves_say(report, monkeypatch):
    writers = {"first_figure1": lambda points, settings: f"It ends at {points['y'].iloc[-1]}."}
    monkeypatch.setattr(page, "WRITERS", writers)
    monkeypatch.setattr(curve_words, "WRITERS", writers)
    stem = report.parent / "figures/first_figure1"
    contents = {stem.with_suffix(".svg"): SVG.encode(), stem.with_suffix(".csv"): b"y\n0.5\n0.7\n"}
    sealed.write_sidecar(contents, {})
    make_page(report.parent)
    text = report.read_text(encoding="utf-8")
    item = text[text.index('id="first_figure1"') :]
    assert item.index("It ends at 0.7.") < item.index("<img")
    assert text.count('class="finding"') == 1


def test_below_a_table_stands_why_numbers_differ_with_a_link_to_what_was_tested(report):
    text = report.read_text(encoding="utf-8")
    first, second = (text[text.index(f'id="first_{name}"') :] for name in ("table1", "wide"))
    note = first[: first.index("</section>")]
    sentences = words()["why"]
    assert note.index(f"2 × {sentences['may_be_chance']}") < note.index(
        f"1 × {sentences['not_known']}"
    )
    (target,) = re.findall(r'href="#(why-[^"]+)"', note)
    assert 'href="#reproducibility_cells"' in note
    assert 'id="reproducibility_cells"' in text
    paragraph = text[text.index(f'id="{target}"') :]
    assert "<em>tried</em>" in paragraph[: paragraph.index("</section>")]
    # nothing differs there
    assert "×" not in second[: second.index("</section>")]


def test_a_cause_of_an_absent_number_is_its_reason():
    cells = pd.DataFrame(
        {"table": "t", "explanation": ["", "not_public number_lost", "not_public"]}
    )
    causes = [(cause.cells, cause.sentence) for cause in causes_of(cells, "t")]
    reasons = words()["reason"]
    assert causes == [(2, reasons["not_public"]), (1, reasons["number_lost"])]


def test_each_paper_has_a_paragraph_of_why_its_numbers_differ():
    papers = ["BLEU Neighbors", "Discriminative BLEU", "RNN-QE"]
    text = (ROOT / "docs/findings.md").read_text("utf-8")
    assert list(paragraphs(text, [*papers, "Every method"])) == papers


def test_the_report_says_by_what_it_was_made(report, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setenv("REFLESS_COMMAND", "snakemake --cores 2 'a b'")
    make_page(report.parent)
    made = re.findall(r'class="made">(.*)</p>', report.read_text(encoding="utf-8"))
    (line,) = map(unescape, made)
    parts = (__version__, "1970-01-02", "snakemake --cores 2 'a b'")
    assert all(part in line for part in parts)
    record = json.loads((report.parent / "run/provenance.json").read_text())
    assert (record["date"], record["command"]) == parts[1:]
    assert record["code"]["commit"] in line


def test_a_commit_is_that_of_files_that_git_knows(tmp_path):
    assert commit_of(tmp_path) == ""
    (tmp_path / "__init__.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    # in a repository, but none of its files
    assert commit_of(tmp_path) == ""
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "m"], check=True)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    assert commit_of(tmp_path) == head[:12]
    (tmp_path / "__init__.py").write_text("changed = True\n")
    assert commit_of(tmp_path) == f"{head[:12]}-dirty"


def test_cells_and_rows_are_counted(report):
    text = report.read_text(encoding="utf-8")
    counts = re.findall(r'<span class="(\w+)">(\d+) ', text)
    assert counts == [("equal", "5"), ("inside", "2"), ("outside", "1"), ("absent", "0")]
    rows = table1()["provenance"].eq("computed").sum() + 8 + 1
    assert f"{rows} computed, 150 shipped, {len(table1()) - rows + 9} absent" in text


def test_nothing_becomes_markup_and_no_text_of_the_data_is_there(report):
    text = report.read_text(encoding="utf-8")
    assert "models &amp; &lt;annotators&gt;" in text
    assert not re.search("<(meteor|annotators)>", text)
    assert "secret words" not in text


def test_the_record_has_what_a_rerun_needs(report):
    record = json.loads((report.parent / "run/provenance.json").read_text())
    assert record["data"] == {"chat": {"raw.csv": "0123abc"}}
    assert record["tables"]["first_wide"]["provenance_counts"] == {"shipped": 150}
    assert record["settings"] == {"mirror": ""}
    assert {"code", "packages", "python", "machine"} <= set(record)


@pytest.mark.parametrize("name", ["tables/first_wide.csv", "figures/first_figure1.svg"])
def test_what_is_changed_or_missing_is_refused(report, name):
    path = report.parent / name
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(FormatError, match=path.stem):
        make_page(report.parent)
    path.unlink()
    with pytest.raises(FormatError, match=path.stem):
        make_page(report.parent)


OTHER_SETTINGS = {"bleu_neighbors.models.bleu.tau": 0.12}
NUMBERS = {"one": {"from": "t", "column": "r", "who": "a"}}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"who": ["a", "b"], "r": [0.98765, None], "r_low": [-0.1, None], "r_high": [1, None]}
    monkeypatch.setattr(fill, "read_table", lambda path: pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("text", "cell", "expected"),
    [
        ("0.5", {}, "1.0"),
        ("0.555", {}, "0.988"),
        ("0.50 (0.1, 0.2)", {}, "0.99 (-0.10, 1.00)"),
        ("", {}, "0.988"),
        # what rounds to zero has no sign
        ("0", {"column": "r_low"}, "0"),
        # no number, and no or several rows
        ("1", {"who": "b"}, "–"),
        ("1", {"who": "c"}, "–"),
        ("1", {"who": ""}, "–"),
    ],
)
@pytest.mark.usefixtures("told")
def test_a_number_keeps_the_form_that_it_has_in_the_page(text, cell, expected):
    page, numbers = "r is <!--one-->{}<!--/-->, and 3", {"one": {**NUMBERS["one"], **cell}}
    assert filled(page.format(text), numbers, Path()) == page.format(expected)


@pytest.mark.usefixtures("told")
def test_an_unknown_number_is_named():
    with pytest.raises(FormatError, match="other"):
        filled("<!--other-->1<!--/-->", NUMBERS, Path())


def test_findings_are_of_the_settings_that_they_were_written_for():
    """Of those of the configuration; of others, the report has the table of claims instead."""
    text = section((ROOT / "README.md").read_text("utf-8"), "What we learned")
    digests = [plan(Path(), changes).digest_of_findings() for changes in ({}, OTHER_SETTINGS)]
    assert [of_settings(text, digest) for digest in digests] == [True, False]
    assert of_settings(with_settings(text, digests[1]), digests[1])
    assert "settings:" not in as_html(text)


def test_without_findings_the_report_has_the_claims(report):
    make_page(report.parent, findings="")
    text = report.read_text(encoding="utf-8")
    findings = text[text.index('class="findings"') : text.index("<nav")]
    assert "other settings" in findings
    assert "rises, it is claimed" in findings
    assert "It works" not in text


def test_a_page_as_html_has_neither_marks_nor_links_into_the_repository():
    text = "![a](b.png)\n\n**r** is <!--one-->1<!--/--> ([more](docs/x.md#y)), as [b](c.md) says."
    assert as_html(text).strip() == "<p><strong>r</strong> is 1, as b says.</p>"


def test_a_section_ends_where_the_next_begins():
    assert section("# A\n\n## B\n\nb\n\n### c\n\n## D\n\nd\n", "B") == "b\n\n### c"


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_pages_name_numbers_that_there_are(page):
    text, numbers = (ROOT / page).read_text("utf-8"), read_numbers(ROOT / "resources/numbers.yaml")
    names = {name for name, _ in PLACE.findall(text)}
    assert names
    assert names <= set(numbers)
    assert "–" not in {number for _, number in PLACE.findall(text)}
    # a line that begins with a comment is no Markdown any more
    assert not re.search(r"(?m)^\s*<!--", text)
