from pathlib import Path

import pytest

from refless.evaluation.read import Rated
from tests.evaluation import made_up


@pytest.fixture(scope="session")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Rated:
    """120 invented texts with everything that a comparison can use."""
    path: Path = tmp_path_factory.mktemp("rated") / "rated.jsonl"
    return made_up.read_rated([made_up.write(path, made_up.rows())], [1, 5])
