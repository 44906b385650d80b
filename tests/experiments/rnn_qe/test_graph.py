"""Training as jobs of Snakemake. Needs torch."""

import pytest

from tests.conftest import Project


@pytest.mark.slow
def test_a_run_says_what_it_trains_and_a_later_one_trains_the_rest(fresh: Project) -> None:
    pytest.importorskip("torch", reason="make torch")
    files = [f"results/rnn_qe/predictions/cross_domain_1_setup1/{seed}.csv.gz" for seed in (0, 1)]
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(files[0])
    made = (fresh.path / files[0]).stat().st_mtime_ns
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(*files)
    assert (fresh.path / files[1]).is_file()
    assert (fresh.path / files[0]).stat().st_mtime_ns == made
