# The input and parameter functions of the rules of ΔBLEU. Stage: none. In: wildcards and settings.
# Out: paths and arguments.
DELTA_BLEU = config["delta_bleu"]
PREDICTOR = DELTA_BLEU["predictor"]


def check_delta_bleu_settings():
    """What the schema cannot see: tasks must be data sets, models those of BLEU Neighbors."""
    named = {
        "tasks": DELTA_BLEU["tasks"],
        "predictor.tasks": PREDICTOR["tasks"],
        "predictor.references": [
            name for names in PREDICTOR["references"].values() for name in names
        ],
    }
    for setting, tasks in named.items():
        for task in tasks:
            if task not in config["data"]:
                raise WorkflowError(
                    f"config: delta_bleu.{setting} names {task!r}, which is not among the data"
                    f" sets ({', '.join(config['data'])})"
                )
    for model in PREDICTOR["models"]:
        if model not in NEIGHBORS["models"]:
            raise WorkflowError(
                f"config: delta_bleu.predictor.models names {model!r}, which is not among"
                f" bleu_neighbors.models ({', '.join(NEIGHBORS['models'])})"
            )


check_delta_bleu_settings()


def delta_bleu_parts(name, task):
    """The tasks that the numbers of one task are made from."""
    references = PREDICTOR["references"].get(task, []) if name == "predictor" else []
    return [task, *references]


def delta_bleu_mode(name, task):
    """``computed``, ``shipped`` or ``absent``, of the numbers ``units`` or ``predictor``."""
    parts = delta_bleu_parts(name, task)
    if all(task_mode(part) == "computed" for part in parts):
        return "computed"
    if Path(SHIPPED, task, "delta_bleu", f"{name}.json").is_file():
        return "shipped"
    return "absent"


def delta_bleu_directory(name, task):
    if delta_bleu_mode(name, task) == "shipped":
        return f"{SHIPPED}/{task}/delta_bleu"
    return f"results/delta_bleu/{task}"


def delta_bleu_tasks(name):
    """The tasks of the table of these numbers."""
    return PREDICTOR["tasks"] if name == "predictor" else list(DELTA_BLEU["tasks"])


def delta_bleu_there(name):
    return [
        task
        for task in delta_bleu_tasks(name)
        if delta_bleu_mode(name, task) != "absent"
    ]


def delta_bleu_files(name, task):
    names = ["units", "tests"] if name == "units" else [name]
    return [
        f"{delta_bleu_directory(name, task)}/{own}.{ending}"
        for own in names
        for ending in ("csv", "json")
    ]


def delta_bleu_numbers(name):
    return [
        path for task in delta_bleu_there(name) for path in delta_bleu_files(name, task)
    ]


def delta_bleu_unit_numbers(wildcards):
    return delta_bleu_numbers("units")


def delta_bleu_predictor_numbers(wildcards):
    return delta_bleu_numbers("predictor")


def delta_bleu_option(name):
    """Where the numbers of each task are."""
    pairs = [
        f"{task}={delta_bleu_directory(name, task)}" for task in delta_bleu_there(name)
    ]
    return f"--numbers {' '.join(pairs)}" if pairs else ""


def delta_bleu_units_option(wildcards):
    return delta_bleu_option("units")


def delta_bleu_predictor_option(wildcards):
    return delta_bleu_option("predictor")


def delta_bleu_absent(name):
    """Why a task has no numbers."""
    there_are = delta_bleu_there(name)
    return as_json(
        {
            task: "; ".join(
                why_absent(part)
                for part in delta_bleu_parts(name, task)
                if task_mode(part) != "computed"
            )
            for task in delta_bleu_tasks(name)
            if task not in there_are
        }
    )


def delta_bleu_units_absent(wildcards):
    return delta_bleu_absent("units")


def delta_bleu_predictor_absent(wildcards):
    return delta_bleu_absent("predictor")


def delta_bleu_settings(task):
    """The settings of one task, for the scripts (`Settings` of delta_bleu_units.py)."""
    own = DELTA_BLEU["tasks"][task]
    return {
        "unit": own["unit"],
        "units": own["units"],
        "assignments": DELTA_BLEU["assignments"],
        "figure_assignments": DELTA_BLEU["figure_assignments"],
        "draws": DELTA_BLEU["bootstrap"]["draws"],
        "figure_draws": DELTA_BLEU["bootstrap"]["figure_draws"],
        "times": DELTA_BLEU["bootstrap"]["assignments"],
        "seeds": DELTA_BLEU["seeds"],
        "thresholds": DELTA_BLEU["thresholds"],
        "orders": DELTA_BLEU["orders"],
    }


def delta_bleu_task_settings(wildcards):
    return as_json(delta_bleu_settings(wildcards.task))


def delta_bleu_all_settings():
    return as_json({task: delta_bleu_settings(task) for task in DELTA_BLEU["tasks"]})


def predictor_kernels():
    """Kernel -> tau, those of BLEU Neighbors."""
    models = [NEIGHBORS["models"][name] for name in PREDICTOR["models"]]
    return {model["kernels"][0]: model["tau"] for model in models}


def predictor_lacking(task):
    """Kernel -> why it cannot be computed; shipped numbers have them all."""
    if delta_bleu_mode("predictor", task) != "computed":
        return {}
    return {kernel: lacks(kernel) for kernel in predictor_kernels() if lacks(kernel)}


def predictor_settings(task):
    lacking = predictor_lacking(task)
    return {
        "kernels": {
            k: tau for k, tau in predictor_kernels().items() if k not in lacking
        },
        "min_neighbors": NEIGHBORS["min_neighbors"],
        "max_share": NEIGHBORS["max_share"],
        **PREDICTOR["bootstrap"],
    }


def predictor_task_settings(wildcards):
    return as_json(predictor_settings(wildcards.task))


def predictor_all_settings():
    return as_json({task: predictor_settings(task) for task in PREDICTOR["tasks"]})


def predictor_missing():
    return as_json({task: predictor_lacking(task) for task in PREDICTOR["tasks"]})


def predictor_kernel_modules():
    return sorted({f"kernels/{name.split('.')[0]}" for name in predictor_kernels()})


def predictor_wordnet(wildcards):
    return wordnet_of(predictor_settings(wildcards.task)["kernels"])


def predictor_wordnet_option(wildcards):
    return wordnet_option(predictor_settings(wildcards.task)["kernels"])


def delta_bleu_gold(wildcards):
    """The raw file that has a task's gold references, if they are used."""
    if not DELTA_BLEU["tasks"][wildcards.task]["gold"]:
        return []
    return [
        *raw_files(wildcards),
        *verified_files(wildcards),
    ]


def delta_bleu_gold_option(wildcards):
    if not DELTA_BLEU["tasks"][wildcards.task]["gold"]:
        return ""
    return f"--gold {raw_files(wildcards)[0]}"


def predictor_ratings(wildcards):
    return [
        f"results/ratings/{part}/{name}"
        for part in delta_bleu_parts("predictor", wildcards.task)
        for name in ("texts.csv", "ratings.csv", "about.json")
    ]


def predictor_references_option(wildcards):
    parts = delta_bleu_parts("predictor", wildcards.task)[1:]
    directories = " ".join(f"results/ratings/{part}" for part in parts)
    return f"--references {directories}" if parts else ""


def delta_bleu_shipped():
    """The tasks of which shipped numbers are used."""
    return [
        task
        for name in ("units", "predictor")
        for task in delta_bleu_tasks(name)
        if delta_bleu_mode(name, task) == "shipped"
    ]


def delta_bleu_to_ship():
    """Task -> the tables of numbers that are computed here."""
    found = {}
    for name in ("units", "predictor"):
        for task in delta_bleu_tasks(name):
            if delta_bleu_mode(name, task) == "computed":
                found.setdefault(task, []).extend(delta_bleu_files(name, task)[::2])
    return found


def delta_bleu_shippable(wildcards):
    return [path for paths in delta_bleu_to_ship().values() for path in paths]


def delta_bleu_ship_commands(wildcards):
    return [
        f"python workflow/scripts/ship_numbers.py {' '.join(paths)}"
        f" --out {SHIPPED}/{task}/delta_bleu"
        for task, paths in delta_bleu_to_ship().items()
    ]
