"""refless: how good is this generated text, when there is no reference to compare it with?

The library under the workflow. It knows nothing of Snakemake, of configuration files or of
``results/``; the scripts in ``workflow/scripts`` hand it paths and numbers.

Pipeline: file -> ratings -> kernel -> prediction -> cell -> figure -> report.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refless.api import compare, estimate, score

__version__ = "1.2.0"
__all__ = ["compare", "estimate", "score"]


def __getattr__(name: str) -> Any:
    """The functions of `refless.api`, which is imported once one of them is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("refless.api"), name)
