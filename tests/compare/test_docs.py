"""The example of docs/own_ratings.md is what the command says."""

from __future__ import annotations

from pathlib import Path

import pytest

from refless.cli import main
from tests.compare.made_up import rows, write

DOCS = Path(__file__).parents[2] / "docs/own_ratings.md"


@pytest.mark.slow
def test_the_example_is_real(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("rated.jsonl"), rows(400))
    command = "compare --ratings rated.jsonl --scale 1 5 --out comparison"
    shown = DOCS.read_text(encoding="utf-8").split(f"$ refless {command}\nFor")[1]
    assert main([*command.split(), "--no-networks"]) == 0  # so that torch makes no difference
    said = capsys.readouterr()
    for sentence in (said.out + said.err).splitlines():
        assert sentence.removeprefix("For") in shown
