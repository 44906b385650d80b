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


def placed_by_hand(wildcards):
    """What a user placed by hand for a source without a sum: only its bytes tell a new version."""
    source = SOURCES[wildcards.path]
    if source.sha256 or source.members:
        return []
    return [str(path) for path in PLACES.by_hand(source) if path.is_file()][:1]


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
    files = [
        path
        for task in shippable()
        for path in [*ratings_files(task), *computed_kernels(task)]
    ]
    if essays_mode() == "computed":
        files += [*essay_numbers("estimates"), *essay_numbers("set_sums")]
    if rnn_qe_mode() == "computed":
        files += [*rnn_qe_numbers("outputs"), *rnn_qe_numbers("curve")]
    return files


def ship_commands(wildcards):
    commands = [
        f"python workflow/scripts/ship.py --ratings {ratings_directory(task)}"
        f" --kernels {' '.join(computed_kernels(task))}"
        for task in shippable()
    ]
    if essays_mode() == "computed":
        paths = [essay_numbers(name)[0] for name in ("estimates", "set_sums")]
        commands.append(
            f"python workflow/scripts/ship_essays.py {' '.join(paths)} --out {SHIPPED_ESSAYS}"
        )
    return " && ".join(commands + rnn_qe_ship_commands())


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


def shipped_families(task, kernels):
    """Modules of the shipped kernels among these: when one changes, who reads them must look."""
    return sorted(
        {
            f"kernels/{kernel.split('.')[0]}"
            for kernel in kernels
            if kernel_mode(task, kernel) == "shipped"
        }
    )


def prediction_code(wildcards):
    return code(
        "predict_neighbors.py", *shipped_families(wildcards.task, configured_kernels())
    )


def threshold_code(wildcards):
    modules = shipped_families(wildcards.task, [wildcards.kernel])
    return code("compute_threshold_curves.py", *modules)


def data_size_code(wildcards):
    modules = shipped_families(wildcards.task, [wildcards.kernel])
    return code("compute_data_size_curve.py", *modules)


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


# ---- essays ------------------------------------------------------------------------------------


def essay_numbers(name):
    """A table of numbers about the essays and its signature; nothing where there is none."""
    if essays_mode() == "absent":
        return []
    where = SHIPPED_ESSAYS if essays_mode() == "shipped" else "results/essays"
    return [f"{where}/{name}.{ending}" for ending in ("csv", "json")]


def essay_estimates(wildcards):
    return essay_numbers("estimates")


def essay_set_sums(wildcards):
    return essay_numbers("set_sums")


def essay_estimates_option(wildcards):
    return essay_option("--estimates", "estimates")


def essay_set_sums_option(wildcards):
    return essay_option("--sums", "set_sums")


def essay_option(option, name):
    """Where the numbers are, or why there are none."""
    if essays_mode() == "absent":
        return f"--absent {shlex.quote(why_absent(ESSAYS))}"
    return f"{option} {essay_numbers(name)[0]}"


def essay_files():
    """The raw files, which the other reading of quotation marks is made from."""
    return config["data"][ESSAYS]["files"]


def essay_raw_files():
    return [f"{DATA}/{path}" for path in essay_files().values()]


def essay_verified_files():
    return [f"results/verified/{path}.json" for path in essay_files().values()]


def essay_file_options():
    return " ".join(
        f"--file {name}={DATA}/{path}" for name, path in essay_files().items()
    )


def essay_settings(*parts):
    """The settings of the essays' numbers, for the scripts (see bleu_neighbors_essays.py)."""
    essays, options = (
        NEIGHBORS["essays"],
        config["data"][ESSAYS].get("options", {}),
    )
    sentences = essays["sentences"]
    settings = {
        "selection": {
            "test_set": essays["test_set"],
            "fewest": sentences["fewest"],
            "most": sentences["most"],
        },
        "recipe": {
            "reading": "quoted" if options.get("quoting", True) else "unquoted",
            "sentences": sentences["rule"],
            "cut": essays["cut"],
            "raters": options.get("raters", "both"),
            "kernel": essays["kernel"],
            "tau": essays["tau"],
            "means": essays["means"],
        },
        "changes": essays["sensitivity"],
        "left_out": essays["left_out"],
    }
    return as_json({name: settings[name] for name in parts})


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
