"""Puts into a wheel what the workflow reads of the folder resources, so that its rules run where
the library is installed and no checkout lies beside them."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PARTS = (
    "README.md",
    "docs/findings.md",
    "resources/*.csv",
    "resources/*.yaml",
    "resources/published/*",
    "resources/shipped/**/*",
)


class BuildWithResources(build_py):
    """The library, and its resources."""

    def run(self) -> None:
        """Copy them, unless the checkout itself is installed."""
        super().run()
        files = [path for part in PARTS for path in ROOT.glob(part) if path.is_file()]
        for path in [] if self.editable_mode else files:
            below = path.relative_to(ROOT).as_posix().removeprefix("resources/")
            target = Path(self.build_lib, "refless/resources", below)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


setup(cmdclass={"build_py": BuildWithResources})
