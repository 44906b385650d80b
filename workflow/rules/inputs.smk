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


def kernel_groups():
    """Name -> the configured kernels that one job computes: those of a module.

    Those with an encoder are alone, so that a missing one does not keep another from its work.
    """
    groups = {}
    for kernel in configured_kernels():
        name = kernel if has_encoder(kernel) else kernel.split(".")[0]
        groups.setdefault(re.sub(r"\W", "_", name), []).append(kernel)
    return groups


def kernel_module(kernels):
    """The module of a group of kernels."""
    return f"kernels/{kernels[0].split('.')[0]}"


def kernel_outputs(kernels, directory):
    return [f"{directory}/{kernel}.npz" for kernel in kernels]


def shard_inputs(kernels, kind):
    return [
        path
        for kernel in kernels
        for path in gather.kernel(
            f"results/shards/{kind}/{{{{task}}}}/{{scatteritem}}/{kernel}.npz"
        )
    ]


def first_directory(wildcards, output):
    return str(Path(output[0]).parent)


def shard_directories(wildcards, input):
    """The directories of the shards, each once, in the order of the shards."""
    return list(dict.fromkeys(str(Path(path).parent) for path in input.shards))


def fetched_model(kernels):
    """The model that a group of kernels needs in the data directory; empty for none."""
    if not has_encoder(kernels[0]) or "model" in kernel_options(kernels[0]):
        return ""
    model = encoders.model_of(kernels[0])
    return "" if in_package(model) else model


def kernel_resources(kernels):
    """The files, besides texts, that a group of kernels is computed with."""
    if kernels[0].startswith("meteor."):
        return [f"{DATA}/{WORDNET}", f"results/verified/{WORDNET}.json"]
    model = fetched_model(kernels)
    if model:
        return [
            f"{DATA}/models/{model}/sums.json",
            f"results/verified/models/{model}.json",
        ]
    options = kernel_options(kernels[0])
    files = [f"{options['model']}/config.json"] if "model" in options else []
    return files + ([options["baseline"]] if "baseline" in options else [])


def resource_options(kernels):
    """The same, and the kernels' options, as arguments of the script."""
    if kernels[0].startswith("meteor."):
        return f"--wordnet {DATA}/{WORDNET}"
    options, verified = dict(kernel_options(kernels[0])), ""
    if model := fetched_model(kernels):
        options["model"] = f"{DATA}/models/{model}"
        verified = f" --verified results/verified/models/{model}.json"
    return f"--options {as_json({kernels[0]: options})}{verified}" if options else ""


def wordnet_of(kernels):
    """What METEOR needs besides texts, if it is among kernels of several modules."""
    meteor = [kernel for kernel in kernels if kernel.startswith("meteor.")]
    return kernel_resources(meteor) if meteor else []


def wordnet_option(kernels):
    """The same, as an argument of the script."""
    return f"--wordnet {DATA}/{WORDNET}" if wordnet_of(kernels) else ""


def fetchable_files(wildcards):
    """Notes that raw files are there and verified, and the encoders that can be had."""
    files = [
        f"results/verified/{path}.json"
        for path, source in SOURCES.items()
        if source.access == "url" or obtainable(path)
    ]
    kernels = [*configured_kernels(), *ABLATION["kernels"]]
    models = filter(None, (fetched_model([kernel]) for kernel in kernels))
    return files + [
        f"results/verified/models/{model}.json"
        for model in dict.fromkeys(models)
        if encoders.local_folder(model, PLACES)
        or not encoders.why_not(f"bertscore.{model}", PLACES, answers)
    ]


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
    for task in shippable():
        files += streamed_curve(task)
    if essays_mode() == "computed":
        files += [*essay_numbers("estimates"), *essay_numbers("set_sums")]
    if rnn_qe_mode() == "computed":
        files += [*rnn_qe_numbers("outputs"), *rnn_qe_numbers("curve")]
    files += cross_files_to_ship() + ablation_shippable()
    return files + delta_bleu_shippable(wildcards)


def ship_commands(wildcards):
    commands = [
        f"python workflow/scripts/ship.py --ratings {ratings_directory(task)}"
        f" --kernels {' '.join(computed_kernels(task))}"
        for task in shippable()
    ]
    numbers_of = {
        f"{SHIPPED}/{task}/curves": streamed_curve(task)[:1] for task in shippable()
    }
    if essays_mode() == "computed":
        names = ("estimates", "set_sums")
        numbers_of[SHIPPED_ESSAYS] = [essay_numbers(name)[0] for name in names]
    numbers_of |= numbers_to_ship()
    commands += [
        f"python workflow/scripts/ship_numbers.py {' '.join(paths)} --out {out}"
        for out, paths in numbers_of.items()
        if paths
    ]
    commands += ablation_ship_commands() + delta_bleu_ship_commands(wildcards)
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
    """Where the script computes the kernel itself, its module counts as well."""
    task, kernel = wildcards.task, wildcards.kernel
    modules = shipped_families(task, [kernel])
    if task in STREAMED:
        modules = [f"kernels/{kernel.split('.')[0]}"]
    return code("compute_data_size_curve.py", *modules)


def shipped_curve(task, kernel):
    """The data-size curve of a streamed task, which cannot be had from shipped sums."""
    stem = f"{SHIPPED}/{task}/curves/{kernel}.data_size"
    return [f"{stem}.csv", f"{stem}.json"]


def data_size_numbers(wildcards):
    """What a data-size curve is made from, beside the ratings."""
    task, kernel = wildcards.task, wildcards.kernel
    if task not in STREAMED:
        return [kernel_file(task, kernel)]
    return shipped_curve(task, kernel) if task_mode(task) == "shipped" else []


def data_size_option(wildcards):
    task, kernel = wildcards.task, wildcards.kernel
    if task not in STREAMED:
        return f"--matrix {kernel_file(task, kernel)}"
    if task_mode(task) == "shipped":
        return f"--shipped {shipped_curve(task, kernel)[0]}"
    return f"--stream {kernel}"


def data_size_points(wildcards):
    size = NEIGHBORS["data_size"]
    if wildcards.task in STREAMED:
        return "--sizes " + " ".join(map(str, size["streamed"]))
    return f"--step {size['step']}"


def streamed_curve(task):
    """The data-size curve of a task, if it is to be shipped: a matrix gives it in no time."""
    if task not in STREAMED:
        return []
    kernel = NEIGHBORS["models"]["bleu"]["kernels"][0]
    stem = f"results/curves/{task}/{kernel}.data_size"
    return [f"{stem}.csv", f"{stem}.json"]


def kernel_taus():
    return {
        kernel: model.get("taus", {}).get(kernel, model["tau"])
        for model in NEIGHBORS["models"].values()
        for kernel in model["kernels"]
    }


def taus_of(kernels):
    return {kernel: kernel_taus()[kernel] for kernel in kernels}


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


def table1_missing_kernels(wildcards):
    return as_json(
        why_absent_each(kernel_mode, there(NEIGHBORS["tasks"]), configured_kernels())
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


# ---- report ------------------------------------------------------------------------------------


def table_caption(table):
    return f"{CATALOGUE[table].get('caption', table)}.rst"


def table_labels(table):
    entry = CATALOGUE[table]
    return {"item": entry["item"], "content": entry["content"]}


def table_title(table):
    entry = CATALOGUE[table]
    title = f"{entry['category']}, {entry['item']}: {entry['content']}"
    return entry.get("title", title)


def numbers_in_use(wildcards):
    return numbers()


def run_again(wildcards):
    target = "quickstart" if numbers() == "auto" else "all"
    return f"REFLESS_NUMBERS={numbers()} snakemake --cores 8 {target}"
