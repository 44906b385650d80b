"""Print codecheck.yml: every table and figure that a run leaves. Stage: none."""

import yaml

from refless.report.catalogue import catalogue

_HEAD = """# What a run of `make` leaves, for a codecheck (https://codecheck.org.uk/guide). Made by
# `python -m refless.report.catalogue`; who checks adds the paper, the codechecker and the report.
---
"""


def manifest() -> str:
    """The manifest, in the order of the catalogue."""
    files = []
    for entry in catalogue().values():
        if entry.tabulated_by:
            files.append({"file": f"results/tables/{entry.name}.csv", "comment": entry.title})
        if entry.drawn_by:
            files.append({"file": f"results/figures/{entry.name}.pdf", "comment": entry.title})
    fields = {"version": "https://codecheck.org.uk/spec/config/1.0/", "manifest": files}
    return _HEAD + yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=100)


if __name__ == "__main__":
    print(manifest(), end="")
