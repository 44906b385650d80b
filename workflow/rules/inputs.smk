# The input and parameter functions of the rules, by stage (Snakemake wants no functions beside
# rules). Stage: none. In: wildcards. Out: paths and arguments.

# ---- collect -----------------------------------------------------------------------------------


def table_files(names):
    return [
        f"results/tables/{name}.{ending}" for name in names for ending in ("csv", "md")
    ]


def figure_files(names):
    return [
        f"results/figures/{name}.{ending}"
        for name in names
        for ending in ("pdf", "svg", "png")
    ]


# ---- ratings -----------------------------------------------------------------------------------


def raw_files(wildcards):
    return [
        f"{DATA}/{path}" for path in config["data"][wildcards.task]["files"].values()
    ]


def verified_files(wildcards):
    paths = config["data"][wildcards.task]["files"].values()
    return [f"results/verified/{path}.json" for path in paths]


def loader_code(wildcards):
    loader = config["data"][wildcards.task]["loader"]
    return code("normalize_ratings.py", f"sources/{loader}")


def loader_files(wildcards):
    files = config["data"][wildcards.task]["files"]
    return " ".join(f"--file {name}={DATA}/{path}" for name, path in files.items())


def loader_options(wildcards):
    return as_json(config["data"][wildcards.task].get("options", {}))


# ---- kernels -----------------------------------------------------------------------------------


def kernel_families():
    """Family -> its configured kernels; the family is the module that computes them."""
    families = {}
    for kernel in configured_kernels():
        families.setdefault(kernel.split(".")[0], []).append(kernel)
    return families


def kernel_outputs(family, directory):
    return [f"{directory}/{kernel}.npz" for kernel in kernel_families()[family]]


def shard_inputs(family):
    return [
        path
        for kernel in kernel_families()[family]
        for path in gather.kernel(
            f"results/shards/{{{{task}}}}/{{scatteritem}}/{kernel}.npz"
        )
    ]


def first_directory(wildcards, output):
    return str(Path(output[0]).parent)


def shard_directories(wildcards, input):
    """The directories of the shards, each once, in the order of the shards."""
    return list(dict.fromkeys(str(Path(path).parent) for path in input.shards))


def wordnet_files(family):
    if family == "meteor":
        return [f"{DATA}/{WORDNET}", f"results/verified/{WORDNET}.json"]
    return []


def wordnet_option(family):
    return f"--wordnet {DATA}/{WORDNET}" if family == "meteor" else ""


def computed_kernels(task):
    """The kernel files of a task that are computed, of those that the configuration names."""
    return [
        kernel_file(task, kernel)
        for kernel in configured_kernels()
        if kernel_mode(task, kernel) == "computed"
    ]


def all_ratings(wildcards):
    return [path for task in there(config["data"]) for path in ratings_files(task)]


def all_kernels(wildcards):
    return [
        kernel_file(task, kernel)
        for task in there(NEIGHBORS["tasks"])
        for kernel in configured_kernels()
        if kernel_mode(task, kernel) != "absent"
    ]


def shippable():
    """The tasks whose numbers are computed here, from texts."""
    return [task for task in NEIGHBORS["tasks"] if task_mode(task) == "computed"]


def shippable_files(wildcards):
    return [
        path
        for task in shippable()
        for path in [*ratings_files(task), *computed_kernels(task)]
    ]


def ship_commands(wildcards):
    return "; ".join(
        f"python workflow/scripts/ship.py --ratings {ratings_directory(task)}"
        f" --kernels {' '.join(computed_kernels(task))}"
        for task in shippable()
    )


# ---- neighbors ---------------------------------------------------------------------------------


def task_ratings(wildcards):
    return ratings_files(wildcards.task)


def task_ratings_directory(wildcards):
    return ratings_directory(wildcards.task)


def task_kernel(wildcards):
    return kernel_file(wildcards.task, wildcards.kernel)


def task_kernels(wildcards):
    """Every kernel of the configuration that a task has."""
    return [
        kernel_file(wildcards.task, kernel)
        for kernel in configured_kernels()
        if kernel_mode(wildcards.task, kernel) != "absent"
    ]


def kernel_taus():
    return {
        kernel: model["tau"]
        for model in NEIGHBORS["models"].values()
        for kernel in model["kernels"]
    }


def kernel_tau(wildcards):
    return kernel_taus()[wildcards.kernel]


# ---- tables ------------------------------------------------------------------------------------


def table1_predictions(wildcards):
    return [f"results/neighbors/{task}.csv" for task in there(NEIGHBORS["tasks"])]


def table1_ratings(wildcards):
    return [path for task in there(NEIGHBORS["tasks"]) for path in ratings_files(task)]


def table1_directories(wildcards):
    return [ratings_directory(task) for task in there(NEIGHBORS["tasks"])]


def table1_models(wildcards):
    return as_json(
        {name: model["kernels"] for name, model in NEIGHBORS["models"].items()}
    )


def table1_absent(wildcards):
    tasks = NEIGHBORS["tasks"]
    return as_json(
        {task: why_absent(task) for task in tasks if task not in there(tasks)}
    )


def table1_missing_models(wildcards):
    missing = {}
    if "bertscore" not in NEIGHBORS["models"]:
        missing["bertscore"] = (
            "no kernel is configured for it (bleu_neighbors.models.bertscore)"
        )
    return as_json(missing)


# ---- figures -----------------------------------------------------------------------------------


def curves(kind):
    """The curves of one kind, for every task that has the published BLEU* kernel."""
    kernel = NEIGHBORS["models"]["bleu"]["kernels"][0]
    return [
        f"results/curves/{task}/{kernel}.{kind}.csv"
        for task in there(NEIGHBORS["tasks"])
        if kernel_mode(task, kernel) != "absent"
    ]


def threshold_curves(wildcards):
    return curves("thresholds")


def data_size_curves(wildcards):
    return curves("data_size")
