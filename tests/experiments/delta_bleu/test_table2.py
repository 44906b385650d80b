"""Table 2 and figure 2 of ΔBLEU: from files of numbers to rows, and what is refused."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from refless.experiments.delta_bleu.dialogues import ALL, GOOD, HIGH, METRICS, SINGLE
from refless.experiments.delta_bleu.table2 import KEYS, figure2, read_units, table2
from refless.experiments.delta_bleu.units import write_units
from refless.experiments.published import read_published
from refless.report import figures
from refless.report.figures_delta_bleu import delta_bleu_figure
from refless.statistics import interval
from refless.statistics.bootstrap import unpacked
from tests.conftest import ROOT
from tests.experiments.delta_bleu.small import SETTINGS, as_task, small_texts

REFERENCES = [SINGLE, HIGH, "w>=0.4", "w>=0.2", ALL]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ratings") / "small"
    path = folder.parent / "results/small/units.csv"
    write_units(path, as_task(folder, small_texts(contexts=24)), SETTINGS)
    return path


def published() -> pd.DataFrame:
    return read_published(ROOT / "resources/published/delta_bleu_table2.csv", KEYS[1:3])


def test_the_rows_of_a_data_set_the_papers_and_one_without_numbers(file: Path) -> None:
    table = table2(["small", "other"], read_units([file]), published())
    assert not table.duplicated(KEYS).any()
    paper = table.iloc[:2]  # the report counts these as the published cells
    assert paper[KEYS[:3]].to_numpy().tolist() == [
        ["twitter", "bleu", HIGH],
        ["twitter", "delta_bleu", ALL],
    ]
    assert paper["paper_spearman_low"].tolist() == ["0.265", "0.415"]
    assert set(paper["reason"]) == {"not_public"}
    assert set(table.loc[2:, "paper_spearman_low"]) == {""}
    assert table.loc[table["task"] == "other", "source"].tolist() == [""]
    own = table[table["task"] == "small"]
    assert set(own["source"]) == {"computed"}
    row = own.iloc[3]
    ends = interval(unpacked(row["spearman_draws"]))
    assert ends == pytest.approx((row["spearman_low"], row["spearman_high"]), abs=1e-6)
    assert own.groupby("contexts").size().to_dict() == {"all": 33, GOOD: 6}
    plain = own[(own["contexts"] == "all") & (own["rule"] == "smooth")]
    assert plain[["tokens", "metric", "references"]].to_numpy().tolist() == [
        [tokens, metric, references]
        for tokens in ("words", "blanks")
        for metric in METRICS
        for references in REFERENCES
    ]
    rest = own[own["rule"] != "smooth"]
    assert rest["rule"].tolist() == ["zero", "floor", "signed"]
    assert set(rest["metric"] + " " + rest["references"]) == {f"delta_bleu {ALL}"}


def test_shipped_numbers_give_the_published_table() -> None:
    """The first row of each metric on DSTC7, as it stood when it was first computed."""
    path = ROOT / "resources/shipped/delta_bleu/dstc7/units.csv"
    table = table2(["dstc7"], read_units([path]), published()).set_index(KEYS[1:])
    names = ["spearman", "kendall", "references_per_context", "without_good_reference"]
    for key, numbers in {
        f"bleu {SINGLE} all words smooth": [0.2792168793, 0.1879035713, 1, 0],
        "sbleu w>=0.4 all blanks smooth": [0.8137269996, 0.6058087724, 1.36205556, 0.3345],
        f"delta_bleu {ALL} all words signed": [-0.0370395449, -0.0226004285, 8, 0.0391111111],
        f"delta_bleu {HIGH} {GOOD} words smooth": [
            0.4731042861,
            0.322967229,
            0.31955556,
            0.71680556,
        ],
    }.items():
        row = table.loc[tuple(key.split())]
        assert row[names].tolist() == pytest.approx(numbers, abs=1e-8)


def test_the_figure_draws_its_points_and_writes_them(file: Path, tmp_path: Path) -> None:
    points = figure2(read_units([file]))
    with plt.rc_context():
        figure = delta_bleu_figure(points, {"small": {"name": "Some chat"}})
        lines = [[line for line in ax.lines if line.get_label()[0] != "_"] for ax in figure.axes]
        assert [len(own) for own in lines] == [3, 4, 4]
        for line, metric in zip(lines[0], METRICS, strict=True):
            drawn = points[(points["panel"] == "threshold") & (points["metric"] == metric)]
            assert line.get_ydata().tolist() == drawn["spearman"].tolist()[::-1]
        left, right = figure.axes[0].get_xlim()
        assert left > right  # worse and worse references are let in
        figures.save(figure, tmp_path / "delta_bleu_figure2", points)
    written = pd.read_csv(tmp_path / "delta_bleu_figure2.csv")
    assert not written.drop(columns="spearman").duplicated().any()
    assert len(written) == 11 * 3 + 3 * 4 + 4 * 4 - 4
