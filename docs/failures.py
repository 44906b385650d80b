"""The page "When something goes wrong" (docs/failures.md), made from the drills. Stage: none.

A drill is a test with the marker ``drill(subject, happens, outcome, comes)``: what happens, and
what comes of it, once in a word and once in a sentence. The page has one line for each thing that
happens, and says nothing that no test is marked with. ``make docs`` writes it; with ``--check`` it
is only compared, and ``--count`` counts drills.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/failures.md"
SUBJECTS = (
    "A run is killed, starved or crowded",
    "A file between two stages is not what was written",
    "Raw files and downloads",
    "Settings",
    "What data hold",
    "Anywhere",
    "Clusters",
    "Same inputs, same bytes",
)
OUTCOMES = ("refused", "made again", "same bytes", "told", "no effect", "given up")
HEAD = """# When something goes wrong

Made from the tests by `make docs` (`docs/failures.py`): each line is what one or more tests try,
and what they then ask for. `python -m pytest -m drill` runs them all; `make test`,
which you need first, the fast ones.
What says when, where or for how long something ran is left out where bytes are compared:
`results/run`, `results/logs`, `results/benchmarks`, `results/report.html`, and the first line of
RNN-QE's predictions.

- *refused*: the run stops, and names the file or setting and what to do.
- *made again*: it is computed or fetched anew.
- *same bytes*: the results are those of an undisturbed run.
- *told*: the run goes on and says so.
- *no effect*: nothing changes.
- *given up*: a download ends, and says why.
"""

Drill = tuple[str, str, str, str]


def drills() -> Iterator[Drill]:
    """The arguments of every marker in the tests, as they are written there."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.drill":
                subject, happens, outcome, comes = map(ast.literal_eval, node.args)
                if subject not in SUBJECTS or outcome not in OUTCOMES:
                    sys.exit(f"{path}:{node.lineno}: choose of {SUBJECTS} and of {OUTCOMES}")
                yield subject, happens, outcome, comes


def page() -> str:
    """The whole page."""
    found = dict.fromkeys(drills())
    told = Counter(happens for _, happens, _, _ in found)
    if (happens := told.most_common(1)[0])[1] > 1:
        sys.exit(f"two drills say another thing of: {happens[0]}")
    parts = [HEAD]
    for subject in SUBJECTS:
        rows = [
            f"| {happens} | **{outcome}** | {comes} |"
            for of, happens, outcome, comes in found
            if of == subject
        ]
        parts.append(f"## {subject}\n\n| What happens | In a word | What comes of it |\n")
        parts[-1] += "| --- | --- | --- |\n" + "\n".join(rows) + "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    if "--count" in sys.argv:
        for (subject, outcome), n in sorted(Counter((d[0], d[2]) for d in drills()).items()):
            print(f"{n:4d}  {subject}: {outcome}")
    elif "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE} is not what the drills say: make docs")
