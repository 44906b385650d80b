# Helpers of all rules: are the settings sound, which numbers come from where, and which code a file hangs on.
# Stage: none. In: the configuration and what is at hand. Out: functions and constants.
import ast
import functools
import json
import os
import re
import shlex
import sys
import time
from os import environ
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

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

from refless.data import encoders
from refless.data import fetch
from refless.data.encoders import has_encoder
from refless.errors import ReflessError
from refless.data.fetch import Places, read_sources
from refless.kernels import module_path
from refless.kernels.bertscore import in_package, layer_and_offset

# The report's own run of Snakemake inside the report's job.
NESTED = environ.get("REFLESS_NESTED") == "1"


# ---- are the settings sound ------------------------------------------------------------------


def check_schema():
    """The schema's verdict on the configuration, in one line."""
    try:
        validate(config, "../schemas/config.schema.yaml")
    except WorkflowError as error:
        fault = error.__context__
        raise WorkflowError(
            f"config: {schema_fault(fault)}" if hasattr(fault, "validator") else error
        ) from None


def schema_fault(fault):
    """What is wrong with a setting, and what is allowed there (jsonschema's error as a sentence)."""
    where = ".".join(str(part) for part in fault.absolute_path)
    if fault.validator in {"additionalProperties", "propertyNames"}:
        allowed = fault.schema.get("properties", {})
        patterns = fault.schema.get("patternProperties", {})
        wrong = [
            key
            for key in fault.instance
            if key not in allowed and not any(re.search(p, key) for p in patterns)
        ]
        known = ", ".join([*allowed, *patterns])
        inside = f"{where}." if where else ""
        return f"{inside}{wrong[0]} is no setting; known are: {known}"
    if fault.validator == "required":
        return f"{where or 'a setting'}: {fault.message}"
    allowed = {
        "enum": f"one of {', '.join(map(str, fault.schema.get('enum', [])))}",
        "minimum": f"at least {fault.validator_value}",
        "maximum": f"at most {fault.validator_value}",
        "exclusiveMinimum": f"above {fault.validator_value}",
        "type": f"of type {fault.validator_value}",
        "pattern": f"of the form {fault.validator_value}",
        "uniqueItems": "without repetition",
        "minItems": f"at least {fault.validator_value} long",
        "maxItems": f"at most {fault.validator_value} long",
    }.get(fault.validator, fault.message)
    return f"{where} is {fault.instance!r}; it must be {allowed}"


# The nested run has the outer one's settings, wherever those came from.
if NESTED and "REFLESS_CONFIG" in environ:
    config.clear()
    config.update(json.loads(environ["REFLESS_CONFIG"]))
check_schema()
environ["REFLESS_CONFIG"] = json.dumps(config)

# The mirror is handed on in the environment: as a parameter of the rule, another mirror would
# make Snakemake fetch again what is there and verified.
environ["REFLESS_MIRROR"] = environ.get("REFLESS_MIRROR") or config["mirror"]
environ["REFLESS_NETWORK"] = "on" if config["network"] else "off"
# Set by `numbers()`; a cluster's profile names it, and what it names must exist.
environ.setdefault("REFLESS_NUMBERS", "")

BEGIN = time.monotonic()
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
# Options that change a kernel's values; the others say where something lies.
VALUE_OPTIONS = {"layer", "rescale", "baseline", "prefix_space"}
# Tasks that are too large for kernel matrices.
STREAMED = NEIGHBORS["streamed"]
# Table 3's data set, and the numbers of it that are shipped: no text, and no ratings either.
ESSAYS = "asap_sas"
SHIPPED_ESSAYS = f"{SHIPPED}/{ESSAYS}/essays"
# Table -> its place in the report.
CATALOGUE = yaml.safe_load(
    Path("workflow/report/catalogue.yaml").read_text(encoding="utf-8")
)


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
        check_kernel(kernel, "models")
    for kernel in config.get("kernels", {}):
        if kernel not in configured_kernels():
            raise WorkflowError(
                f"config: kernels has options for {kernel!r}, which no model of"
                " bleu_neighbors.models has"
            )
    for name, model in NEIGHBORS["models"].items():
        for kernel in set(model.get("taus", {})) - set(model["kernels"]):
            raise WorkflowError(
                f"config: bleu_neighbors.models.{name}.taus names {kernel!r}, which is not among"
                f" its kernels ({', '.join(model['kernels'])})"
            )
        for task in set(model.get("skip_tasks", [])) - set(config["data"]):
            raise WorkflowError(
                f"config: bleu_neighbors.models.{name}.skip_tasks names {task!r}, which is not"
                f" among the data sets ({', '.join(config['data'])})"
            )
    for name in ("tasks", "streamed"):
        for task in NEIGHBORS[name]:
            if task not in config["data"]:
                raise WorkflowError(
                    f"config: bleu_neighbors.{name} names {task!r}, which is not among the data"
                    f" sets ({', '.join(config['data'])})"
                )


def check_kernel(kernel, where):
    """A kernel that the configuration names must exist, with the options that it is given."""
    try:
        module_path(kernel)
        if kernel.startswith("bertscore."):
            chosen = kernel_options(kernel)
            layer_and_offset(kernel, *map(chosen.get, ("layer", "rescale", "baseline")))
    except ReflessError as error:
        raise WorkflowError(
            f"config: kernel {kernel} of bleu_neighbors.{where}: {error}"
        ) from error


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
    if PLACES.at_hand(source):
        return True
    if numbers() != "computed":
        return False
    # Without a public address, a mirror behind a URL is the only hope: it is asked.
    mirrored = PLACES.mirror_address(path)
    return source.access == "url" or (bool(mirrored) and answers(mirrored))


def answers(address):
    """Whether an address answers: asked once, for this process and those that it starts."""
    known = json.loads(environ.get("REFLESS_ANSWERS", "{}"))
    if address not in known:
        known[address] = fetch.answers(address)
        environ["REFLESS_ANSWERS"] = json.dumps(known)
    return known[address]


def task_mode(task):
    """``computed``, ``shipped`` or ``absent``."""
    if all(obtainable(path) for path in config["data"][task]["files"].values()):
        return "computed"
    if Path(SHIPPED, task, "ratings", "about.json").is_file():
        return "shipped"
    return "absent"


def why_absent(task):
    """Why a task has no numbers, and what would change that."""
    if numbers() == "shipped":
        return "it is not shipped, and the setting `numbers: shipped` computes nothing"
    paths = list(config["data"][task]["files"].values())
    missing = [path for path in paths if not obtainable(path)]
    where = " and ".join(f"{path} ({SOURCES[path].description})" for path in missing)
    return f"the raw file is missing, put it at resources/manual/{where}"


def numbers_mode(shipped, kernel, *tasks):
    """``computed``, ``shipped`` or ``absent``, for any numbers of a kernel on a task, or on two.

    ``shipped`` is where they lie if they are shipped; those were computed without options.
    """
    if not why_not(kernel, *tasks):
        return "computed"
    if any(skipped(task, kernel) for task in tasks):
        return "absent"
    if Path(SHIPPED, shipped).is_file() and not (
        VALUE_OPTIONS & set(kernel_options(kernel))
    ):
        return "shipped"
    return "absent"


def why_not(kernel, *tasks):
    """Why no numbers of a kernel can be computed on a task, or on two, and what would change that.

    Empty if they can. It is the reason of every cell whose numbers are not shipped either.
    """
    if any(skipped(task, kernel) for task in tasks):
        return "the configuration leaves this task out for this kernel (skip_tasks)"
    reasons = [why_absent(task) for task in tasks if task_mode(task) != "computed"]
    if numbers() != "shipped":
        reasons.append(lacks(kernel))
    return ", and ".join(dict.fromkeys(filter(None, reasons)))


def why_absent_each(mode, tasks, kernels):
    """Task -> kernel -> why it has no numbers, as tables are told; ``mode`` by task and kernel."""
    return {
        task: {
            kernel: why_not(kernel, task)
            for kernel in kernels
            if mode(task, kernel) == "absent"
        }
        for task in tasks
    }


def kernel_mode(task, kernel):
    """`numbers_mode` of the kernel's own file."""
    return numbers_mode(f"{task}/{kernel_kind(task)}/{kernel}.npz", kernel, task)


def kernel_kind(task):
    """What a kernel file of a task holds, and the directory that is named after it."""
    return "sums" if task in STREAMED else "kernels"


def lacks(kernel):
    """What a kernel needs on top of the texts and cannot have, in one line; empty if nothing."""
    if kernel.startswith("meteor.") and not obtainable(WORDNET):
        return f"METEOR needs {WORDNET}, put it at resources/manual/{WORDNET}"
    if not has_encoder(kernel):
        return ""
    folder = kernel_options(kernel).get("model")
    if folder is not None:
        return encoders.lacking(kernel) or encoders.fault(kernel, Path(folder))
    return encoders.why_not(
        kernel, PLACES, answers if numbers() == "computed" else None
    )


def skipped(task, kernel):
    """Whether the configuration leaves a kernel out for a task."""
    return any(
        kernel in model["kernels"] and task in model.get("skip_tasks", [])
        for model in NEIGHBORS["models"].values()
    )


def environment_of(kernel):
    """The conda environment of a job that computes a kernel."""
    name = "torch" if has_encoder(kernel) else "refless"
    return f"../../envs/{name}.yaml"


def kernel_options(kernel):
    """What the configuration tells a kernel."""
    return config.get("kernels", {}).get(kernel, {})


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
    """The matrix, or the sums of a task that is streamed."""
    if kernel_mode(task, kernel) == "shipped":
        return f"{SHIPPED}/{task}/{kernel_kind(task)}/{kernel}.npz"
    return f"results/{kernel_kind(task)}/{task}/{kernel}.npz"


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
            shown = ", ".join(path.name for path in found)
            lines.append(f"  {len(found)} {name} in {found[0].parent}: {shown}")
    shipped = [task for task in NEIGHBORS["tasks"] if task_mode(task) == "shipped"]
    shipped += [ESSAYS] if essays_mode() == "shipped" else []
    shipped += delta_bleu_shipped()
    shipped = list(dict.fromkeys(shipped))
    shipped += ["rnn_qe"] if rnn_qe_mode() == "shipped" else []
    if shipped:
        lines.append(
            f"  From shipped numbers: {', '.join(shipped)}. To compute them from the raw data:"
            " snakemake --cores 8 (with network), or set REFLESS_MIRROR."
        )
    lines += [
        f"  It took {time.monotonic() - BEGIN:.0f} s from reading the rules to here.",
        "  Next: open results/report.html; change a line of config/config.yaml and run again; rate"
        " your own outputs with `refless score --help`.",
    ]
    return "\n".join(lines)


check_settings()
