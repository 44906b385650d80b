# What all rules share: the settings, the plan of the run, and a few helpers. Stage: none.
import atexit
import os
import re
import shlex
import sys
import time
from itertools import repeat
from os import environ
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

# The library beside this workflow, whichever is installed, and the Python that runs Snakemake,
# whether its environment was activated or only called by path. As a module of another workflow, ours
# is not the main Snakefile.
ROOT = Path(str(workflow.current_basedir)).parents[1]
# Resolved, since compiled loops are kept by the path of their file.
LIBRARY = str((ROOT / "workflow").resolve())
if os.pathsep in LIBRARY:
    raise WorkflowError(f"{LIBRARY}: Python finds nothing in a path with {os.pathsep}; move it")
sys.path.insert(0, LIBRARY)
environ["PYTHONPATH"] = os.pathsep.join(filter(None, [LIBRARY, environ.get("PYTHONPATH")]))
environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])

import refless
from refless.availability import Facts, Plan, needs
from refless.command_line import options
from refless.data.fetch import read_sources
from refless.data.obtain import (
    as_it_lies,
    every_kernel,
    fitting,
    gather_facts,
    groups,
    places_of,
    resources_of,
    shipped_files,
)
from refless.data.encoders import has_encoder, lacking
from refless.errors import ReflessError
from refless.kernels.bertscore import in_package, model_name
from refless.models.rnn_qe import names as qe
from refless.report.catalogue import catalogue, figures, tables
from refless.settings import read_settings, typed
from refless.store.beside import read_beside
from refless.store.code import code_sum
from refless.store.files import file_sum, whole_list
from refless.store.inputs import made_of, parameter_sum, require

# folders of files for people; of each, a record has the sum
OF_THE_CATALOGUE = "tables", "figures"
READ_BY_PEOPLE = *OF_THE_CATALOGUE, "run"

if not Path(refless.__file__).resolve().is_relative_to(LIBRARY):
    raise WorkflowError(
        f"{LIBRARY} needs its own library, but {refless.__file__} is loaded already; one workflow can"
        " have the rules of one checkout only"
    )


def whole_config():
    """The configuration. What a file, or another workflow, tells is laid over ours, and its own
    entries follow ours; `--config` hands on nested numbers as strings."""
    if not workflow.modifier.skip_configfile:
        # in its place, since jobs look there as well
        update_config(config, typed(workflow.config_settings.config))
    found = load_configfile(ROOT / "config/config.yaml")
    update_config(found, config)
    return found


def typed_targets():
    """The targets of the command line, by Snakemake's own parser: a folder or a profile may have a
    target's name."""
    if "quickstart" in sys.argv:  # the parser takes its time
        return get_argument_parser().parse_known_args(sys.argv[1:])[0].targets
    return []


def beside(path):
    """A file that comes with the workflow; the rest is where Snakemake runs."""
    return path if ROOT == Path.cwd() else str(ROOT / path)


if workflow.is_main_process:
    try:
        Path(".snakemake").mkdir(exist_ok=True)
    except OSError as error:
        raise WorkflowError(
            f"{Path.cwd()}: Snakemake cannot write here ({error.strerror})\n  What to do: run in a folder of your own:"
            f" snakemake --cores 1 -s {shlex.quote(str(ROOT / 'Snakefile'))} --directory FOLDER"
        ) from None

# The table of sources too comes with the workflow.
environ["REFLESS_RESOURCES"] = str(ROOT / "resources")
BEGIN, PLACE = time.time(), Path.cwd()
try:
    SETTINGS = read_settings(whole_config())
    SOURCES = read_sources()
    PLACES = places_of(SETTINGS, Path("resources"))
    # The numbers asked for: `snakemake quickstart` typed by hand means what `make` does.
    NUMBERS = SETTINGS.numbers or ("auto" if "quickstart" in typed_targets() else "computed")
    # A cluster's jobs read the rules again, elsewhere: they get the facts of the run that started
    # them. A run within a job of another one makes its own plan.
    if "REFLESS_PLAN" in environ and not workflow.is_main_process:
        FACTS = Facts.from_json(environ["REFLESS_PLAN"])
    else:
        FACTS = gather_facts(SETTINGS, NUMBERS, SOURCES, PLACES)
    LISTED = whole_list(ROOT / "resources/published", ".csv")
    SHIPPED = fitting(shipped_files(beside("resources/shipped"), "resources/trained"), SETTINGS)
    PLAN = Plan(FACTS, needs(SETTINGS), SHIPPED)
except ReflessError as error:
    raise WorkflowError(str(error)) from None
environ["REFLESS_PLAN"] = FACTS.to_json()
environ["REFLESS_MIRROR"] = PLACES.mirror
environ["REFLESS_NETWORK"] = "on" if PLACES.network else "off"

NEIGHBORS = SETTINGS.bleu_neighbors
BLEU = NEIGHBORS.models["bleu"]
TASKS = SETTINGS.tasks("bleu_neighbors")
LOOKS = SETTINGS.looks()
BOOTSTRAP = {"draws": NEIGHBORS.draws, "seed": NEIGHBORS.seed}


# By the library's own path: sums go over files in the order of their paths.
SCRIPTS, REPORT = Path(LIBRARY) / "scripts", Path(LIBRARY) / "refless/report"


def code(script, *modules, shows=None):
    """What a job hangs on: its script, what that imports, modules called by name, and the entries
    of the catalogue that it shows (by default, those that the script is named after)."""
    name = shows or Path(script).stem.partition("_")[2]
    entries = [str(catalogue()[item]) for item in related(name)]
    if entries:  # what they show beside ours, of which each reader checks the sum
        entries.append(LISTED)
    pages = [p for p in sorted(REPORT.glob("*.*")) if p.suffix != ".py"] if entries else []
    return code_sum(SCRIPTS / script, *modules, *pages, text="".join(entries))


def related(name):
    """The items of that name in the catalogue, and the tables made with one."""
    return [item for item, entry in catalogue().items() if name in (item, entry.made_with)]


def looks(tasks):
    """How some data sets are shown, in their order."""
    return {task: LOOKS[task] for task in tasks}


def there(pattern, **wildcards):
    """Those files of a pattern that this run has, computed or taken."""
    return PLAN.there(expand(pattern, **wildcards))


def missing(*patterns, **wildcards):
    """Why the others cannot be had, as data for the table that lacks them."""
    return [one for pattern in patterns for one in PLAN.missing(expand(pattern, **wildcards))]


def ratings(*tasks):
    """The tidy tables of data sets, of those that are there."""
    return there("results/ratings/{task}/{table}.csv", task=tasks, table=["texts", "ratings"])


def folders(*tasks):
    """The folders of those tables."""
    return [
        str(Path(path).parent) for path in there("results/ratings/{task}/texts.csv", task=tasks)
    ]


def table(name):
    """The files of a table, as named outputs."""
    entry = catalogue()[name]
    page = report(
        f"results/tables/{name}.md",
        category=entry.paper,
        labels={"item": entry.item, "content": entry.content},
    )
    return [f"results/tables/{name}.csv", page, f"results/tables/{name}.json"]


def figure(name):
    """The files of a figure."""
    entry = catalogue()[name]
    drawn = ", drawn" if entry.table else ""
    picture = report(
        f"results/figures/{name}.svg",
        category=entry.paper,
        labels={"item": entry.item, "content": f"{entry.content}{drawn}"},
    )
    return [picture, *(f"results/figures/{name}.{kind}" for kind in ("pdf", "png", "csv", "json"))]


def environment(kernel):
    """The conda environment of a job that computes a kernel."""
    encoder = kernel.startswith(("bertscore.", "embedding."))
    return f"../../envs/{'torch' if encoder else 'refless'}.yaml"


def resource_files(*kernels):
    """The files, besides texts, that kernels are computed with."""
    return [path for kernel in kernels for path in resources_of(kernel, SETTINGS, PLACES)[0]]


def kernel_options(*kernels):
    """Kernel -> its options: those of the configuration, and where its resources lie."""
    return {
        kernel: SETTINGS.options(kernel) | resources_of(kernel, SETTINGS, PLACES)[1]
        for kernel in kernels
    }


def own_encoders(*kernels):
    """Sums of the files of encoders that nothing fetches: others in their place are others."""
    return {kernel: as_it_lies(kernel, SETTINGS.options(kernel)) for kernel in kernels}


def module(kernel):
    """The module of a kernel, as `code` wants it."""
    return f"kernels/{kernel.partition('.')[0]}.py"


def raw_files(task):
    """The raw files of a data set by the loader's names: fetched ones, or a user's own."""
    files = SETTINGS.data[task].files
    return {
        name: f"resources/data/{path}" if path in SOURCES else path for name, path in files.items()
    }


def raw_sums(task):
    """Sums of a data set's raw files: the published ones, else of what lies there or would be taken.
    A file that is exchanged, also for an older one, is another."""
    found = {}
    for path in SETTINGS.data[task].files.values():
        source = SOURCES.get(path)
        if source and source.sha256:
            found[path] = source.sha256
            continue
        places = [PLACES.data / path, *PLACES.local(source)] if source else [Path(path)]
        if there := [place for place in places if place.is_file()]:
            found[path] = file_sum(there[0])
    return found


def placed_by_hand(wildcards):
    """What a user placed by hand: a newer one is taken again."""
    placed = PLACES.by_hand(SOURCES[wildcards.path])
    return [str(path) for path in placed if path.is_file()][:1]


def matrix(task, kernel):
    """The files of a kernel's matrix: a block of rows each."""
    blocks = SETTINGS.data[task].blocks
    return [
        f"results/kernels/{task}/{kernel}/{block}of{blocks}.npy" for block in range(1, blocks + 1)
    ]


def fetchable():
    """Every raw file, and the encoders that are fetched where torch is installed."""
    kernels = [k for k in every_kernel(SETTINGS) if has_encoder(k) and not lacking(k)]
    models = {model_name(k) for k in kernels if "model" not in SETTINGS.options(k)}
    return [*SOURCES, *sorted(f"models/{model}" for model in models if not in_package(model))]


def may_be_shipped():
    """Patterns of what may be shipped; ratings, where tables are made from them and nothing else."""
    every = [path for path in needs(SETTINGS) if not path.startswith("results/ratings/")]
    return every + expand(
        "results/ratings/{task}/{name}.csv", task=TASKS, name=["texts", "ratings"]
    )


def predictions(*tasks):
    """What neighbors say in data sets, by each kernel that can be had."""
    return there("results/neighbors/{task}/{kernel}.csv", task=tasks, kernel=SETTINGS.kernels())


def size_settings():
    """What decides curves over the data size."""
    kernel = BLEU.kernels[0]
    thresholds = {"a": NEIGHBORS.min_neighbors, "b": NEIGHBORS.max_share}
    return {"kernel": kernel, "tau": SETTINGS.taus()[kernel], **thresholds, "seed": NEIGHBORS.seed}


def cross_estimates():
    """Estimates of the texts of one data set from those of another."""
    pairs = "results/cross_task/{source}.{target}.csv"
    return [p for s in TASKS for t in TASKS if s != t for p in there(pairs, source=s, target=t)]


def item_files(name):
    """The files of a table or figure, and of the tables that belong to it."""
    found = related(name)
    made = [table(n) for n in tables() if n in found] + [figure(n) for n in figures() if n in found]
    return [path for paths in made for path in paths]


def told_now():
    """Record of a table or figure -> the sum of what the job that makes it is told now."""
    return {
        str(path): parameter_sum(rule.params.items())
        for rule in workflow.rules
        if ours(rule.snakefile)
        for path in rule.output
        if Path(path).suffix == ".json" and Path(path).parent.name in OF_THE_CATALOGUE
    }


def ours(snakefile):
    """Whether a file with rules is of this workflow, and not of one that has it as a module."""
    path = Path(os.path.normpath(str(snakefile)))
    return path == ROOT / "Snakefile" or path.parent == ROOT / "workflow/rules"


# groups of Snakemake's options, and single ones, that a remedy leaves out: with them, it would make
# nothing, or not all that is asked for
MAKE_NOTHING = "REPORTS", "NOTEBOOKS", "UTILITIES"
MAKE_LESS = set(
    "dryrun touch dag omit_from allowed_rules forcerun print_compilation list_conda_envs"
    " conda_cleanup_envs conda_cleanup_pkgs conda_create_envs_only container_cleanup_images".split()
)


def typed_with_forcerun(rules):
    """The command of this run, with its own settings and target, that makes these rules' files
    anew; without what would keep it from that."""
    parser = get_argument_parser()
    left_out = MAKE_LESS.union(
        option.dest
        for group in parser._action_groups
        if group.title in MAKE_NOTHING
        for option in group._group_actions
    )
    program, *words = sys.argv
    typed, targets = [], []
    for dest, own in options(words, parser):
        if dest not in left_out:
            (typed if dest else targets).extend(own)
    by_name = Path(program).name == "snakemake"
    command = [program] if by_name else [sys.executable, "-m", "snakemake"]
    # of several --forcerun, Snakemake takes the last
    forced = ["--forcerun", *sorted({*rules, *map(str, workflow.dag_settings.forcerun)})]
    return shlex.join([*command, *typed, *forced, *(["--", *targets] if targets else [])])


def fault_of(path, asked, source):
    """Why a result cannot stay as it is, if its job is told what is ``asked``, or copies it from a
    ``source``; "" if it can."""
    if not os.path.exists(path):
        return "is not there, so nobody can tell whether what was made from it is of today"
    if source:
        return "" if file_sum(path) == file_sum(source) else f"is another file than {source}"
    by_people = Path(path).parent.name in READ_BY_PEOPLE
    signed = path.startswith("results/") and not by_people
    record = by_people and Path(path).suffix == ".json"
    try:
        made = made_of(path) if os.path.isfile(path) and (signed or record) else {}
        if made.get("told", "") not in ("", asked):
            return (
                "was made under other settings, from other data or by other code, and Snakemake does"
                " not know it"
            )
        require(made.get("inputs", {}), path)
        if record:
            read_beside(path)
    except ReflessError as error:
        same = Path(error.path) == Path(path)
        return error.message if same else f"{Path(error.path).name} {error.message}"
    return ""


def require_todays_settings():
    """Make sure that what this run builds on is what its jobs would make now.

    Snakemake makes a job again if its parameters or its code have changed, unless it was told not to
    (--touch, --rerun-triggers), its memory (.snakemake) was left behind, or a file was put back. It
    does not miss a file whose followers are there, though only that file may tell of other data.
    """
    faults, rules = [], set()
    for job in workflow.dag.jobs:
        if workflow.dag.needrun(job) or not ours(job.rule.snakefile):
            continue
        asked = parameter_sum(job.params.items())
        copied = job.rule.name.startswith("take_")
        sources = job.params.get("sources", job.input) if copied else repeat("")
        for path, source in zip(map(str, job.output), sources):
            # what reads a raw file is told its sum
            may_go = path in job.temp_output or job.rule.name == "fetch_source"
            if may_go and not os.path.exists(path):
                continue
            if fault := fault_of(path, asked, source):
                faults.append(f"{path}: {fault}.")
                rules.add(job.rule.name)
    if faults:
        more = f"\n(and {len(faults) - 5} more files)" if len(faults) > 5 else ""
        # deleted, Snakemake would not miss it where what was made from it is there
        raise WorkflowError(
            "\n".join(sorted(faults)[:5]) + f"{more}\n"
            f"  What to do: run again with --forcerun: {typed_with_forcerun(rules)}"
        )


def check_at_the_end():
    """The same as Snakemake ends, where it was not done at the start: if there is nothing to do, and
    if another workflow has this one as a module, Snakemake does not call `onstart`. It knows no
    upstream change of what it has no memory of, was told to pass over, or got from elsewhere."""
    dag = workflow.dag
    if dag is None:
        return
    cut = dag.omitrules or dag.omitfiles or dag.untilrules or dag.untilfiles
    if cut or workflow.dag_settings.allowed_rules:
        print(
            "Note: what --until, --omit-from or --allowed-rules leave out was not looked at, nor what"
            " hangs on it: it may be from other settings or other data.",
            file=sys.stderr,
            flush=True,
        )
    if any(map(dag.needrun, dag.jobs)) and (ours(workflow.main_snakefile) or workflow.dryrun):
        return
    os.chdir(PLACE)  # with --directory, Snakemake has gone back by now
    if not any(os.path.exists(path) for job in dag.jobs for path in job.output):
        return  # after --delete-all-output
    try:
        require_todays_settings()
    except WorkflowError as error:
        print(f"{error}", file=sys.stderr, flush=True)
        os._exit(1)  # Snakemake has settled its exit status by now


def papers():
    """The target of each paper -> its items: names begin with the paper's."""
    found = {}
    for name in catalogue():
        for paper in ("bleu_neighbors", "delta_bleu", "rnn_qe"):
            if name.startswith(paper):
                found.setdefault(paper, []).append(name)
    return found


def what_was_built():
    """The last words of a run: what it made, and where numbers came from."""
    if workflow.touch:
        return (
            "\nrefless: files have the time of now (--touch), and none was made. What is from other"
            " settings, data or code, the next run refuses."
        )
    lines = ["", "refless: done. New in this run:"]
    for what, folder, pattern in (
        ("tables", "results/tables", "*.md"),
        ("figures", "results/figures", "*.pdf"),
        ("report", "results", "report.html"),
    ):
        files = (p for p in Path(folder).glob(pattern) if p.name[0] != ".")
        found = sorted(p.name for p in files if p.stat().st_mtime >= BEGIN)
        if found:
            lines.append(f"  {len(found)} {what} in {folder}: {', '.join(found)}")
    # what this run's targets hang on
    used = [(job.rule.name, dict(job.wildcards)) for job in workflow.dag.jobs]
    read = {names["task"] for rule, names in used if rule == "normalize_ratings"}
    rules = {rule for rule, _ in used}
    every = groups(SHIPPED[path] for path in PLAN.taken)
    shipped = [name for name in every if f"take_{name}" in rules]
    if read:
        lines.append(f"  From the raw data: {', '.join(t for t in SETTINGS.data if t in read)}.")
    if shipped and FACTS.numbers == "computed":
        lines.append(
            f"  From shipped numbers: {', '.join(shipped)}. What networks predict is computed with"
            " train: run below rnn_qe, and networks: run below comparison, in config/config.yaml;"
            " what BERTScore and embeddings say, after make torch."
        )
    elif shipped:
        how = "" if PLACES.mirror else " (with network), or set REFLESS_MIRROR"
        lines.append(
            f"  From shipped numbers: {', '.join(shipped)}. To compute them from the raw data:"
            f" snakemake --cores 8{how}."
        )
    for task, entry in SETTINGS.data.items():
        lost = [p for p in entry.files.values() if p not in SOURCES and not Path(p).is_file()]
        lines += [f"  {task} is left out: there is no file {path}." for path in lost]
    page = "open results/report.html; " if Path("results/report.html").exists() else ""
    mirror = PLACES.mirror_directory
    if mirror and not any((mirror / path).is_file() for path in SOURCES):
        lines.append(
            f"  The mirror {mirror} has none of the raw files. Is it spelt right (REFLESS_MIRROR,"
            " or mirror: in the configuration)?"
        )
    lines += [
        f"  It took {time.time() - BEGIN:.0f} s from reading the rules to here.",
        f"  Next: {page}change a line of config/config.yaml and run again; put your own ratings"
        " into `refless compare` (docs/own_ratings.md).",
    ]
    return "\n".join(lines)


def unit_settings(task):
    """What decides the numbers of table 2 and figure 2 of ΔBLEU, of one data set."""
    return SETTINGS.experiment(task, "delta_bleu").model_dump() | SETTINGS.delta_bleu.model_dump()


def comparison_lacking():
    """Why kernels of the comparison cannot be computed."""
    return PLAN.lacking(SETTINGS.comparison.kernels)


def comparison_kernels():
    """Those that can."""
    lost = {one["of"]["kernel"] for one in comparison_lacking()}
    return [kernel for kernel in SETTINGS.comparison.kernels if kernel not in lost]


def comparison_settings(task):
    """What decides the comparison on a data set; a computed one does without kernels that are not
    there."""
    computed = PLAN.origin(f"results/comparison/{task}.csv") == "computed"
    own = SETTINGS.comparison.model_dump(exclude={"networks"})
    kernels = comparison_kernels() if computed else own["kernels"]
    skipped = SETTINGS.data[task].skip_kernels
    return {**own, "kernels": [kernel for kernel in kernels if kernel not in skipped]}


def comparison_networks(task):
    """RNN-QE's estimates on a data set."""
    return f"results/comparison/networks/{task}.csv"


def comparison_left_out(task):
    """Method, kernel and why the comparison on a data set is without it."""
    lost = {one["of"]["kernel"]: one["sentence"] for one in comparison_lacking()}
    skipped = set(SETTINGS.data[task].skip_kernels) & set(SETTINGS.comparison.kernels)
    lost |= dict.fromkeys(sorted(skipped), "the configuration leaves it out (skip_kernels)")
    untrained = {one["sentence"] for one in missing(comparison_networks(task))}
    return [("neighbors", *one) for one in lost.items()] + [
        ("rnn_qe", "", why) for why in untrained
    ]
