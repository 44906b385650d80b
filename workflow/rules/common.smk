# Helpers of all rules: which numbers come from where, and which code a file hangs on.
# Stage: none. In: the configuration and what is at hand. Out: functions and constants.
import ast
import functools
import json
import os
import re
import shlex
import sys
from os import environ
from pathlib import Path

from snakemake.exceptions import WorkflowError

# The library is found without being installed (`--sdm conda`), and jobs run the Python that runs
# Snakemake, whether its environment was activated or only called by path.
sys.path.insert(0, str(Path(workflow.basedir) / "workflow"))
environ["PYTHONPATH"] = os.pathsep.join(
    filter(
        None,
        [str(Path(workflow.basedir) / "workflow"), environ.get("PYTHONPATH", "")],
    )
)
environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])

from refless.errors import ReflessError
from refless.fetch import Places, read_sources
from refless.kernels import module_path

# The mirror is handed on in the environment: as a parameter of the rule, another mirror would
# make Snakemake fetch again what is there and verified.
environ["REFLESS_MIRROR"] = environ.get("REFLESS_MIRROR") or config["mirror"]
environ["REFLESS_NETWORK"] = "on" if config["network"] else "off"

DATA, SHIPPED = "resources/data", "resources/shipped"
SOURCES = read_sources("resources/sources.csv", "resources/sources_members.csv")
PLACES = Places(
    data=Path(DATA),
    manual=Path("resources/manual"),
    mirror=environ["REFLESS_MIRROR"],
    network=config["network"],
)
WORDNET = "nltk/wordnet.zip"
NEIGHBORS = config["bleu_neighbors"]
# Table 3's data set, and the numbers of it that are shipped: no text, and no ratings either.
ESSAYS = "asap_sas"
SHIPPED_ESSAYS = f"{SHIPPED}/{ESSAYS}/essays"
# The report's own run of Snakemake inside the report's job.
NESTED = environ.get("REFLESS_NESTED") == "1"


def check_settings():
    """What the schema cannot see: names that must exist elsewhere."""
    for task, entry in config["data"].items():
        for path in entry["files"].values():
            if path not in SOURCES:
                raise WorkflowError(
                    f"config: data.{task}.files names {path!r}, which is not in"
                    " resources/sources.csv. Add a row for it there."
                )
        if not Path(f"workflow/refless/sources/{entry['loader']}.py").is_file():
            raise WorkflowError(
                f"config: data.{task}.loader is {entry['loader']!r}, but there is no"
                f" workflow/refless/sources/{entry['loader']}.py"
            )
    for kernel in configured_kernels():
        try:
            module_path(kernel)
        except ReflessError as error:
            raise WorkflowError(f"config: bleu_neighbors.models: {error}") from error
    for task in NEIGHBORS["tasks"]:
        if task not in config["data"]:
            raise WorkflowError(
                f"config: bleu_neighbors.tasks names {task!r}, which is not among the data sets"
                f" ({', '.join(config['data'])})"
            )


# ---- which numbers come from where -----------------------------------------------------------
# These are asked while the graph of jobs is built, not while the rules are read: only then does
# Snakemake know its targets.


def numbers():
    """The setting ``numbers``: ``computed``, ``auto`` or ``shipped``.

    The target `quickstart` by itself turns ``computed`` into ``auto``. Processes that this one
    starts (the report's, a cluster's jobs) have other targets, so they are told.
    """
    asked = environ.get("REFLESS_NUMBERS") or config["numbers"]
    targets = set(workflow.dag_settings.targets) if workflow.dag_settings else set()
    if asked == "computed" and targets == {"quickstart"}:
        asked = "auto"
    environ["REFLESS_NUMBERS"] = asked
    return asked


def obtainable(path):
    """Whether a run of this kind can have a raw file: at hand, or fetched on the way."""
    source = SOURCES[path]
    if numbers() == "shipped":
        return False
    return PLACES.at_hand(source) or (
        numbers() == "computed" and source.access == "url"
    )


def task_mode(task):
    """``computed``, ``shipped`` or ``absent``."""
    if all(obtainable(path) for path in config["data"][task]["files"].values()):
        return "computed"
    if Path(SHIPPED, task, "ratings", "about.json").is_file():
        return "shipped"
    return "absent"


def why_absent(task):
    """Why a task has no numbers, and what would change that."""
    paths = list(config["data"][task]["files"].values())
    missing = [path for path in paths if not obtainable(path)]
    where = " and ".join(f"{path} ({SOURCES[path].description})" for path in missing)
    return f"the raw file is missing, put it at resources/manual/{where}"


def kernel_mode(task, kernel):
    """``computed``, ``shipped`` or ``absent``: METEOR needs WordNet on top of the texts."""
    if task_mode(task) == "computed" and (
        not kernel.startswith("meteor.") or obtainable(WORDNET)
    ):
        return "computed"
    if Path(SHIPPED, task, "kernels", f"{kernel}.npz").is_file():
        return "shipped"
    return "absent"


def ratings_directory(task):
    """Where the tidy tables of a task lie."""
    return (
        f"{SHIPPED}/{task}/ratings"
        if task_mode(task) == "shipped"
        else f"results/ratings/{task}"
    )


def ratings_files(task):
    return [
        f"{ratings_directory(task)}/{name}"
        for name in ("texts.csv", "ratings.csv", "about.json")
    ]


def essays_mode():
    """``computed``, ``shipped`` or ``absent``: table 3's numbers come from the essays alone."""
    if task_mode(ESSAYS) == "computed":
        return "computed"
    if Path(SHIPPED_ESSAYS, "estimates.json").is_file():
        return "shipped"
    return "absent"


def kernel_file(task, kernel):
    if kernel_mode(task, kernel) == "shipped":
        return f"{SHIPPED}/{task}/kernels/{kernel}.npz"
    return f"results/kernels/{task}/{kernel}.npz"


def configured_kernels():
    """Every kernel of every model of BLEU Neighbors."""
    return [
        kernel for model in NEIGHBORS["models"].values() for kernel in model["kernels"]
    ]


def there(tasks):
    """The tasks of a list that have numbers."""
    return [task for task in tasks if task_mode(task) != "absent"]


# ---- which code a file hangs on --------------------------------------------------------------


@functools.cache
def imports(path):
    """The package's files that one file imports, wherever in the file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {
                f"{node.module}.{alias.name}" for alias in node.names
            }
    found = set()
    for name in names:
        if name.split(".")[0] == "refless":
            stem = Path("workflow", *name.split("."))
            found |= {
                str(p)
                for p in (stem.with_suffix(".py"), stem / "__init__.py")
                if p.is_file()
            }
    return frozenset(found)


def code(script, *modules):
    """A script and every file of the package that it hangs on.

    ``modules`` are those that it reaches by a name in its arguments, where no import is to be
    seen: a loader, a kernel.
    """
    todo = [
        f"workflow/scripts/{script}",
        *(f"workflow/refless/{name}.py" for name in modules),
    ]
    done = []
    while todo:
        path = todo.pop()
        if path not in done:
            done.append(path)
            todo += sorted(imports(path))
    return done


# ---- the shell -------------------------------------------------------------------------------


def as_json(value):
    """A value as one argument of a command."""
    return shlex.quote(json.dumps(value, ensure_ascii=False))


def what_was_built():
    """The last words of a run: what lies where."""
    lines = ["", "refless: done. What there is now:"]
    places = [
        ("tables", "results/tables", "*.md"),
        ("figures", "results/figures", "*.pdf"),
        ("report", "results", "report.html"),
    ]
    for name, directory, pattern in places:
        found = sorted(
            p for p in Path(directory).glob(pattern) if not p.name.startswith(".")
        )
        if found:
            lines.append(f"  {name:8s}" + ", ".join(map(str, found)))
    shipped = [task for task in NEIGHBORS["tasks"] if task_mode(task) == "shipped"]
    shipped += [ESSAYS] if essays_mode() == "shipped" else []
    shipped += ["rnn_qe"] if rnn_qe_mode() == "shipped" else []
    if shipped:
        lines.append(
            f"  From shipped numbers: {', '.join(shipped)}. To compute them from the raw data:"
            " snakemake --cores 8 (with network), or set REFLESS_MIRROR."
        )
    return "\n".join(lines)


check_settings()
