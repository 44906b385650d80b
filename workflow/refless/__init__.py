"""refless: how good is this generated text, when there is no reference to compare it with?

The library under the workflow. It knows nothing of Snakemake, of configuration files or of
``results/``; the scripts in ``workflow/scripts`` hand it paths and numbers.

One road, one direction: file -> ratings -> kernel -> prediction -> cell -> figure -> report.
"""

__version__ = "1.1.0"
