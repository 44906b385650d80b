# The input and parameter functions of RNN quality estimation. Stage: none. In: wildcards. Out:
# paths and arguments.
RNN_QE = config["rnn_qe"]
# What tables 3 to 5 and the learning curve want.
RNN_QE_EXPERIMENTS = ("cross_validation", "cross_domain", "cross_system", "curve")
# Of table 3: further questions, asked of the predictions that there are.
RNN_QE_READINGS = ("apart", "paper")
RNN_QE_TASKS = ("nem", "bagel", "sfrest", "sfhot")
SHIPPED_RNN_QE = f"{SHIPPED}/rnn_qe"


def rnn_qe_texts(wildcards):
    """The rated outputs and their human references, from raw data: texts are never shipped."""
    return [f"results/ratings/{task}/texts.csv" for task in RNN_QE_TASKS]


# ---- numbers without text ----------------------------------------------------------------------


def rnn_qe_mode():
    """``computed``, ``shipped`` or ``absent``: all but RNN-QE's own predictions."""
    if all(task_mode(task) == "computed" for task in RNN_QE_TASKS):
        return "computed"
    if Path(SHIPPED_RNN_QE, "outputs.json").is_file():
        return "shipped"
    return "absent"


def rnn_qe_numbers(name):
    """``outputs`` or ``curve``, a table and its signature; nothing where there is none."""
    if rnn_qe_mode() == "absent":
        return []
    where = SHIPPED_RNN_QE if rnn_qe_mode() == "shipped" else "results/rnn_qe"
    return [f"{where}/{name}.{ending}" for ending in ("csv", "json")]


def rnn_qe_outputs(wildcards):
    return rnn_qe_numbers("outputs")


def rnn_qe_curve(wildcards):
    return rnn_qe_numbers("curve")


def rnn_qe_outputs_option(wildcards):
    return rnn_qe_option("--outputs", "outputs")


def rnn_qe_curve_option(wildcards):
    return rnn_qe_option("--curve", "curve")


def rnn_qe_option(option, name):
    """Where the numbers are, or why there are none."""
    if rnn_qe_mode() == "absent":
        missing = next(task for task in RNN_QE_TASKS if task_mode(task) != "computed")
        return f"--absent {shlex.quote(why_absent(missing))}"
    return f"{option} {rnn_qe_numbers(name)[0]}"


def check_rnn_qe_settings():
    """What the schema cannot see: names that must exist elsewhere."""
    for model in RNN_QE["neighbors"]["models"]:
        if model not in NEIGHBORS["models"]:
            raise WorkflowError(
                f"config: rnn_qe.neighbors.models names {model!r}, which is not among"
                f" bleu_neighbors.models ({', '.join(NEIGHBORS['models'])})"
            )


def rnn_qe_kernels():
    """Model -> its published kernel and tau."""
    models = NEIGHBORS["models"]
    return {
        name: [models[name]["kernels"][0], models[name]["tau"]]
        for name in RNN_QE["neighbors"]["models"]
    }


def rnn_qe_lacks():
    """Model -> why its kernel cannot be computed, of those of which that is so."""
    if rnn_qe_mode() != "computed":
        return {}
    return {
        name: lacks(kernel)
        for name, (kernel, _) in rnn_qe_kernels().items()
        if lacks(kernel)
    }


def rnn_qe_missing_kernels(wildcards):
    return as_json(rnn_qe_lacks())


def rnn_qe_computed():
    """Model -> kernel and tau, of those whose kernel can be computed, or is shipped."""
    lacking = rnn_qe_lacks()
    return {
        name: kernel for name, kernel in rnn_qe_kernels().items() if name not in lacking
    }


def rnn_qe_wordnet(wildcards):
    return wordnet_of([kernel for kernel, _ in rnn_qe_computed().values()])


def rnn_qe_wordnet_option(wildcards):
    return wordnet_option([kernel for kernel, _ in rnn_qe_computed().values()])


def rnn_qe_settings(*parts):
    """The settings of these numbers, for the scripts (see rnn_qe_outputs.py); a function, since what
    can be had is known only when the targets are."""
    return lambda wildcards: rnn_qe_made(parts)


def rnn_qe_made(parts):
    own = RNN_QE["neighbors"]
    settings = {
        "data": RNN_QE["data"],
        "neighbors": {
            "kernels": rnn_qe_computed(),
            "min_neighbors": NEIGHBORS["min_neighbors"],
            "max_share": NEIGHBORS["max_share"],
            "taus": own["taus"],
            "dev_min_neighbors": own["min_neighbors"],
        },
        "curve": RNN_QE["curve"],
    }
    return as_json({name: settings[name] for name in parts})


# ---- training ----------------------------------------------------------------------------------


def rnn_qe_data(wildcards):
    """``paper_setup<n>`` is set-up n, trained by the paper's schedule whatever the setting is."""
    return f"results/rnn_qe/data/{wildcards.name.removeprefix('paper_')}"


def rnn_qe_schedule(wildcards):
    paper = wildcards.name.startswith("paper_")
    return "paper" if paper else RNN_QE["training"]["schedule"]


def rnn_qe_seeds(wildcards):
    """Of a learning curve the random subsets do what elsewhere the seeds do; 500 passes are long
    enough with one."""
    one = wildcards.name.startswith(("curve_", "paper_"))
    seeds = 1 if one else RNN_QE["training"]["seeds"]
    return " ".join(map(str, range(seeds)))


def rnn_qe_models(wildcards):
    """How many models are trained behind a name."""
    folds = 1 if wildcards.name.startswith("cross_") else 5
    subsets = RNN_QE["curve"]["subsets"] if wildcards.name.startswith("curve_") else 1
    return folds * subsets * len(rnn_qe_seeds(wildcards).split())


def rnn_qe_stacks(wildcards):
    """Models are trained five together, each five on one core."""
    return min(8, -(-rnn_qe_models(wildcards) // 5))


def rnn_qe_architecture():
    return as_json({"precision": RNN_QE["training"]["precision"]})


def rnn_qe_gpus(wildcards):
    return 0 if RNN_QE["training"]["device"] == "cpu" else 1


# ---- predictions of RNN-QE ---------------------------------------------------------------------


def rnn_qe_names(experiment):
    """The names of the training data of table 3, 4 or 5, or of the learning curve."""
    if experiment == "curve":
        return [f"curve_{size}_setup1" for size in RNN_QE["curve"]["sizes"]]
    if experiment in ("cross_validation", *RNN_QE_READINGS):
        prefix = "" if experiment == "cross_validation" else f"{experiment}_"
        return [f"{prefix}setup{setup}" for setup in range(1, 7)]
    return [
        f"{experiment}_{configuration}_setup{setup}"
        for configuration in (1, 2, 3)
        for setup in range(1, 7)
    ]


def rnn_qe_trains():
    """Whether this run trains: it is asked for, and the texts can be had."""
    return RNN_QE["train"] == "run" and rnn_qe_mode() == "computed"


def rnn_qe_at_hand(name):
    """Predictions that an earlier run of the trainer left, or none."""
    path = Path(f"results/rnn_qe/predictions/{name}.csv")
    return str(path) if path.is_file() and path.with_suffix(".json").is_file() else None


def rnn_qe_shipped(name):
    """Predictions that come with refless, if they were made from the data of this configuration."""
    path = Path(SHIPPED_RNN_QE, "predictions", f"{name}.csv.gz")
    about = path.with_name(f"{name}.json")
    if not (path.is_file() and about.is_file()):
        return None
    made = json.loads(about.read_text(encoding="utf-8"))["settings"]["data"]
    return str(path) if made == RNN_QE["data"] else None


def rnn_qe_predictions(experiment):
    """Name -> file of the predictions that a table reads."""
    asked, found = rnn_qe_names(experiment), {}
    further = [name for reading in RNN_QE_READINGS for name in rnn_qe_names(reading)]
    for name in asked + (further if experiment == "cross_validation" else []):
        if rnn_qe_trains() and name in asked:
            path = f"results/rnn_qe/predictions/{name}.csv"
        else:
            path = rnn_qe_at_hand(name) or rnn_qe_shipped(name)
        if path:
            found[name] = path
    return found


def rnn_qe_as_inputs(found):
    """Those of the predictions that may be asked for as files.

    What an earlier run left is read without asking: as an input it would be trained again as soon
    as anything before it is newer.
    """
    return [
        path
        for path in found.values()
        if rnn_qe_trains() or not path.startswith("results/rnn_qe/predictions")
    ]


def rnn_qe_as_options(found):
    return " ".join(
        ["--predictions", *(f"{name}={path}" for name, path in found.items())]
    )


def rnn_qe_sums(found):
    """Sums of what an earlier run left, so that other predictions make another table."""
    if rnn_qe_trains():
        return []
    return [
        json.loads(Path(path).with_suffix(".json").read_text(encoding="utf-8")).get(
            "sha256"
        )
        for path in found.values()
        if path.startswith("results/rnn_qe/predictions")
    ]


# Snakemake wants functions of wildcards, so each table has its own three.


def rnn_qe_table3_inputs(wildcards):
    return rnn_qe_as_inputs(rnn_qe_predictions("cross_validation"))


def rnn_qe_table3_options(wildcards):
    return rnn_qe_as_options(rnn_qe_predictions("cross_validation"))


def rnn_qe_table3_sums(wildcards):
    return rnn_qe_sums(rnn_qe_predictions("cross_validation"))


def rnn_qe_table4_inputs(wildcards):
    return rnn_qe_as_inputs(rnn_qe_predictions("cross_domain"))


def rnn_qe_table4_options(wildcards):
    return rnn_qe_as_options(rnn_qe_predictions("cross_domain"))


def rnn_qe_table4_sums(wildcards):
    return rnn_qe_sums(rnn_qe_predictions("cross_domain"))


def rnn_qe_table5_inputs(wildcards):
    return rnn_qe_as_inputs(rnn_qe_predictions("cross_system"))


def rnn_qe_table5_options(wildcards):
    return rnn_qe_as_options(rnn_qe_predictions("cross_system"))


def rnn_qe_table5_sums(wildcards):
    return rnn_qe_sums(rnn_qe_predictions("cross_system"))


def rnn_qe_trained():
    """Name -> file of all predictions that there are, or that this run makes."""
    return {
        name: path
        for experiment in RNN_QE_EXPERIMENTS
        for name, path in rnn_qe_predictions(experiment).items()
    }


def rnn_qe_training_names(wildcards):
    """What the tables and the figure want; readings are asked of what there is."""
    return [
        name for experiment in RNN_QE_EXPERIMENTS for name in rnn_qe_names(experiment)
    ]


def rnn_qe_training_inputs(wildcards):
    return rnn_qe_as_inputs(rnn_qe_trained())


def rnn_qe_training_options(wildcards):
    return rnn_qe_as_options(rnn_qe_trained())


def rnn_qe_training_sums(wildcards):
    return rnn_qe_sums(rnn_qe_trained())


def rnn_qe_curve_inputs(wildcards):
    return rnn_qe_as_inputs(rnn_qe_predictions("curve"))


def rnn_qe_curve_options(wildcards):
    return rnn_qe_as_options(rnn_qe_predictions("curve"))


def rnn_qe_curve_sums(wildcards):
    return rnn_qe_sums(rnn_qe_predictions("curve"))


# ---- ship --------------------------------------------------------------------------------------


def rnn_qe_ship_commands():
    """The commands that renew the shipped numbers, and what predictions an earlier run left."""
    if rnn_qe_mode() != "computed":
        return []
    numbers = [rnn_qe_numbers(name)[0] for name in ("outputs", "curve")]
    commands = [
        f"python workflow/scripts/ship_numbers.py {' '.join(numbers)} --out {SHIPPED_RNN_QE}"
    ]
    names = [
        name
        for experiment in (*RNN_QE_EXPERIMENTS, *RNN_QE_READINGS)
        for name in rnn_qe_names(experiment)
    ]
    found = [path for path in map(rnn_qe_at_hand, names) if path]
    if found:
        commands.append(f"python workflow/scripts/ship_rnn_qe.py {' '.join(found)}")
    return commands


check_rnn_qe_settings()
