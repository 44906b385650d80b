# What all rules share: the settings, the plan of the run, and a few helpers. Stage: none.
import os
import re
import shlex
import sys
from itertools import chain, permutations
from os import environ
from pathlib import Path
from tempfile import TemporaryFile

from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

# Of the library that these rules are for.
VERSION = "1.2.0"
# Beside these rules, as in a checkout, lies the library, and it is taken, whichever is installed.
# Rules that come from an address have none beside them, and take the installed one.
LIBRARY = Path(str(workflow.current_basedir)).parent
ROOT = LIBRARY.parent if (LIBRARY / "refless/__init__.py").is_file() else None
if ROOT:
    sys.path.insert(0, str(LIBRARY.resolve()))
try:
    from refless import __version__ as library_version
    from refless.errors import ReflessError
    from refless.fetch.places import Places, read_sources
    from refless.kernel_registry import entry, names as kernel_names
    from refless.models.rnn_qe import names as qe
    from refless.plan import Plan
    from refless.report.catalogue import catalogue, module_of
    from refless.report.styles import dataset_styles
    from refless.resources import bundled, read_claims
    from refless.run_messages import Run, announce
    from refless.settings import read_settings, typed
    from refless.code_sums import code_sum
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{sys.executable}, which runs Snakemake, has no package {error.name}\n  What to do: install"
        f" there what these rules need, refless {VERSION}: pip install -r envs/lock/core.txt, and pip install ."
    ) from None
if not ROOT and library_version != VERSION:
    raise WorkflowError(
        f"these rules are those of refless {VERSION}, and {library_version} is installed\n  What to"
        f" do: install refless {VERSION}, or take the rules of {library_version} (tag, branch)"
    )


def repo_path(path):
    """A file that comes with the workflow; the rest is where Snakemake runs."""
    if not ROOT:
        return str(bundled(path))
    return path if ROOT == Path.cwd() else str(ROOT / path)


def whole_config():
    """The configuration. What a file, or another workflow, sets is laid over ours, and its entries
    follow ours; `--config` hands on nested numbers as strings."""
    if not workflow.modifier.skip_configfile:
        # in its place, since jobs look there as well
        update_config(config, typed(workflow.config_settings.config))
    whole = load_configfile(CONFIG if ROOT else workflow.source_path("../../config/config.yaml"))
    # an empty section sets nothing, and an empty data set is taken out
    update_config(whole, {name: section for name, section in config.items() if section is not None})
    whole["data"] = {name: entry for name, entry in whole["data"].items() if entry is not None}
    return whole


def prepare_jobs():
    """Put into the environment what jobs need: the library, the Python that runs Snakemake, even if
    its environment is not active, and where the table of sources lies."""
    if ROOT:
        paths = [str(LIBRARY.resolve()), environ.get("PYTHONPATH")]
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environ["REFLESS_RESOURCES"] = str(ROOT / "resources")
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    # a cluster's profile may name these, so they must be there
    environ.setdefault("REFLESS_MODELS", "")
    environ.setdefault("REFLESS_WORDNET", "")


def prepare_run():
    """Of the process that plans the jobs: try whether it can write here, and have its command for
    the report and its messages for the logger. Raises OSError: it cannot."""
    Path(".snakemake").mkdir(exist_ok=True)
    TemporaryFile(dir=".snakemake").close()
    if Path("results").is_dir() and not Path(".snakemake/metadata").is_dir():
        print(
            "refless: results came without .snakemake, so they are judged by times alone:"
            " other settings or code do not make them again; --forceall does",
            file=sys.stderr,
        )
    # a parameter would make the report anew whenever another command is typed
    environ["REFLESS_COMMAND"] = shlex.join(["snakemake", *sys.argv[1:]])
    announce(Run(workflow, os.getcwd()))


def plan_of_run():
    """The plan, from the configuration and what lies on this machine. Of all rules, only this
    function changes the process and its folder."""
    try:
        prepare_jobs()
        if workflow.is_main_process:
            prepare_run()
        settings = read_settings(whole_config())
        mirror = environ.get("REFLESS_MIRROR") or settings.mirror
        environ["REFLESS_MIRROR"] = mirror
        environ["REFLESS_NETWORK"] = "on" if settings.network else "off"
        places = Places(mirror=mirror, network=settings.network)
        plan = Plan(settings, read_sources(), places, Path(repo_path("resources/shipped")))
        plan.check()
    except OSError as error:
        raise WorkflowError(
            f"{Path.cwd()}: Snakemake cannot write here ({error.strerror})\n  What to do: run in a folder of your own:"
            f" snakemake --cores 1 -s {shlex.quote(str(LIBRARY / 'Snakefile'))} --directory FOLDER"
        ) from None
    except ReflessError as error:
        raise WorkflowError(str(error)) from None
    return plan


PLAN = plan_of_run()
SETTINGS = PLAN.settings


wildcard_constraints:
    dataset="[^/]+",
    source_dataset="[^/.]+",
    target_dataset="[^/.]+",
    block="[0-9]+",
    blocks="[0-9]+",
    name="|".join(qe.RUNS),
    seed="[0-9]+",


PREDICTED = "results/neighbors/{dataset}/{kernel}.csv"
RATINGS = ["results/ratings/{dataset}/texts.csv", "results/ratings/{dataset}/ratings.csv"]
NEIGHBORS = SETTINGS.bleu_neighbors
BLEU = NEIGHBORS.models["bleu"]
TASKS = SETTINGS.tasks("bleu_neighbors")
STYLES = dataset_styles(SETTINGS.data)
NAMES = {dataset: style["name"] for dataset, style in STYLES.items()}
PRINTED = {dataset: style["published"] for dataset, style in STYLES.items() if style["published"]}
BOOTSTRAP = SETTINGS.bootstrap.model_dump()
PAPERS = {
    paper: [name for name in catalogue() if name.startswith(paper)]
    for paper in ("bleu_neighbors", "delta_bleu", "rnn_qe")
}


def script_path(script):
    """A script; where the rules come from an address, a copy of it."""
    return (
        LIBRARY / "scripts" / script if ROOT else Path(workflow.source_path(f"../scripts/{script}"))
    )


def code(script, *modules):
    """What a job hangs on: its script, what that imports, and modules called by name."""
    return code_sum(script_path(script), *modules)


def code_of_table(*names):
    """What tables hang on: the functions that make them, how they are shown, and in which words."""
    functions = [catalogue()[name].tabulated_by for name in names]
    files = [script_path("tabulate.py"), *map(module_of, functions), "report/names.yaml"]
    return code_sum(*files, text="".join(str(catalogue()[name]) for name in names))


def code_of_figure(name):
    """What a figure hangs on: the function that draws it, and its words."""
    files = [script_path("plot.py"), module_of(catalogue()[name].drawn_by)]
    return code_sum(*files, "report/names.yaml", text=str(catalogue()[name]))


def available(patterns, **wildcards):
    """Where those files of one or more patterns lie that this run has, computed or shipped."""
    try:
        return PLAN.available(expand(patterns, **wildcards))
    except ReflessError as error:
        raise WorkflowError(str(error)) from None


def missing(patterns, **wildcards):
    """Why the others cannot be had, as data for the table that lacks them."""
    return PLAN.missing(expand(patterns, **wildcards))


def shown(path, name, drawn=""):
    """A file of a table or figure, for Snakemake's own report as well."""
    entry = catalogue()[name]
    labels = {"item": entry.item, "content": entry.content + drawn}
    return report(path, category=entry.paper, labels=labels)


def table(name):
    """The files of a table."""
    page = shown(f"results/tables/{name}.md", name)
    return [f"results/tables/{name}.csv", page, f"results/tables/{name}.json"]


def figure(name):
    """The files of a figure."""
    drawn = ", drawn" if catalogue()[name].tabulated_by else ""
    picture = shown(f"results/figures/{name}.svg", name, drawn)
    return [picture, *(f"results/figures/{name}.{kind}" for kind in ("pdf", "png", "csv", "json"))]


def item_files(*names):
    """The files of tables and figures of the catalogue."""
    files = []
    for name in names:
        entry = catalogue()[name]
        files += table(name) if entry.tabulated_by else []
        files += figure(name) if entry.drawn_by else []
    return files


def paper_cells(name):
    """What tells a table's published cells: the paper, the columns of a row's name, and columns
    that are another table's."""
    entry = catalogue()[name]
    return entry.paper, list(entry.paper_row), list(entry.repeats)


def module(kernel):
    """The module of a kernel, as `code` wants it."""
    return f"kernels/{kernel.partition('.')[0]}.py"


def reader(dataset):
    """The module that reads a data set, as `code` wants it."""
    return f"data/sources/{SETTINGS.data[dataset].loader}.py"


def matrix(dataset, kernel):
    """The files of a kernel's matrix: a block of rows each."""
    blocks = SETTINGS.data[dataset].blocks
    return [f"results/kernels/{dataset}/{kernel}/{k}of{blocks}.npy" for k in range(1, blocks + 1)]


def kernel_mb(wildcards, input, attempt):
    """Memory: some for the program, and a matrix of four bytes a pair of texts."""
    return attempt * int(2000 + 1000 * os.path.getsize(input.ratings[0]) / 1e6)


def comparison_mb(wildcards, input, attempt):
    """Memory: half as much again as the comparisons took, and an encoder's if there is one."""
    encoder = any("torch" in entry(kernel).packages for kernel in PLAN.compared(wildcards.dataset))
    return attempt * int(600 + 100 * os.path.getsize(input.ratings[0]) / 1e6 + 2000 * encoder)


def kernel_minutes(wildcards, input, attempt):
    """Time for the slowest kernel, METEOR, which grows with the square of the texts; a hundred
    times as much with an encoder on a processor."""
    pairs = (os.path.getsize(input.ratings[0]) / 1e6) ** 2
    return attempt * int(60 + (100 if "torch" in entry(wildcards.kernel).packages else 10) * pairs)
