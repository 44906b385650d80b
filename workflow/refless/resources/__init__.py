"""Where the files lie that come with refless: the table of raw files, and published and shipped
numbers.

Stage: none. In a checkout they are its folder ``resources``; a wheel has them beside this file.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml


def resources_folder() -> Path:
    """The folder that REFLESS_RESOURCES names, else the checkout's, else the wheel's."""
    if named := os.environ.get("REFLESS_RESOURCES"):
        return Path(named)
    checkout = Path(__file__).parents[3] / "resources"
    return checkout if (checkout / "sources.csv").is_file() else Path(str(files(__name__)))


def bundled(path: str) -> Path:
    """A file or folder that comes with refless, by its path in a checkout."""
    folder = resources_folder()
    in_wheel = folder / path.removeprefix("resources/")
    return in_wheel if in_wheel.exists() else folder.parent / path


def read_claims() -> list[dict[str, Any]]:
    """The claims of the papers and of the findings; the head of their file says what they have."""
    return list(read_yaml(resources_folder() / "published/claims.yaml"))


def read_yaml(path: Path) -> Any:
    """A file of YAML, by the fast loader where it is installed."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)
