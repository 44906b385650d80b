# The input and parameter functions of ablation.smk. Stage: none. In: wildcards. Out: paths and
# arguments.
from importlib.util import find_spec

ABLATION, PARETO = NEIGHBORS["ablation"], NEIGHBORS["pareto"]
# The families of kernels that need torch and an encoder.
ENCODERS = ("bertscore", "embedding")


def check_ablation_settings():
    """What the schema cannot see: names that must exist elsewhere."""
    for kernel in ABLATION["kernels"]:
        try:
            module_path(kernel)
        except ReflessError as error:
            raise WorkflowError(f"config: bleu_neighbors.ablation: {error}") from error
    for model in PARETO["models"]:
        if model not in NEIGHBORS["models"]:
            raise WorkflowError(
                f"config: bleu_neighbors.pareto.models names {model!r}, which is not among"
                f" bleu_neighbors.models ({', '.join(NEIGHBORS['models'])})"
            )
    for name, part in (("ablation", ABLATION), ("pareto", PARETO)):
        for task in part["tasks"]:
            if task not in config["data"]:
                raise WorkflowError(
                    f"config: bleu_neighbors.{name}.tasks names {task!r}, which is not among the"
                    f" data sets ({', '.join(config['data'])})"
                )


# ---- the ablation ------------------------------------------------------------------------------


def ablation_kernels(part):
    """The other kernels of one file of numbers: ``encoders`` need torch, ``plain`` do not."""
    return [
        kernel
        for kernel in ABLATION["kernels"]
        if (kernel.split(".")[0] in ENCODERS) == (part == "encoders")
    ]


def encoders_there():
    """Whether torch, transformers and every encoder that is asked for can be found."""
    models = [kernel.partition(".")[2] for kernel in ablation_kernels("encoders")]
    folder = environ.get("REFLESS_MODELS", "")
    return all(find_spec(name) for name in ("torch", "transformers")) and all(
        (folder and Path(folder, model).is_dir())
        or find_spec(re.sub(r"\W", "_", model))
        for model in models
    )


def numbers_mode(task, path, possible=True):
    """``computed``, ``shipped`` or ``absent``, for numbers below the task's shipped folder."""
    if task_mode(task) == "computed" and possible:
        return "computed"
    return "shipped" if Path(SHIPPED, task, path).is_file() else "absent"


def ablation_mode(task, part):
    possible = part == "plain" or encoders_there()
    return numbers_mode(task, f"ablation/{part}.npz", possible)


def ablation_file(task, part):
    if ablation_mode(task, part) == "shipped":
        return f"{SHIPPED}/{task}/ablation/{part}.npz"
    return f"results/ablation/{task}/{part}.npz"


def ablation_tasks(part):
    """The tasks that have numbers of one part."""
    if not ablation_kernels("encoders") and part == "encoders":
        return []
    return [
        task
        for task in ABLATION["tasks"]
        if ablation_mode(task, "plain") != "absent"
        and ablation_mode(task, part) != "absent"
    ]


def ablation_numbers(wildcards):
    return [ablation_file(task, "plain") for task in ablation_tasks("plain")]


def ablation_extra(wildcards):
    return [ablation_file(task, "encoders") for task in ablation_tasks("encoders")]


def ablation_modules(part):
    """Modules of the kernels behind one file of numbers."""
    kernels = [NEIGHBORS["models"]["bleu"]["kernels"][0], *ablation_kernels(part)]
    return sorted({f"kernels/{kernel.split('.')[0]}" for kernel in kernels})


def ablation_code(wildcards):
    return code("compute_ablation.py", *ablation_modules(wildcards.part))


def ablation_options(wildcards):
    only = "--kernels-only" if wildcards.part == "encoders" else ""
    return f"--kernels {' '.join(ablation_kernels(wildcards.part))} {only}"


def ablation_settings():
    """For the scripts; see bleu_neighbors_ablation.Settings."""
    model = NEIGHBORS["models"]["bleu"]
    return as_json(
        {
            "kernel": model["kernels"][0],
            "tau": model["tau"],
            "a": NEIGHBORS["min_neighbors"],
            "b": NEIGHBORS["max_share"],
            **{key: ABLATION[key] for key in ("halves", "tau_step", "seed")},
        }
    )


def ablation_absent(wildcards):
    return as_json(
        {
            task: why_absent(task)
            for task in ABLATION["tasks"]
            if ablation_mode(task, "plain") == "absent"
        }
    )


def ablation_missing(wildcards):
    """Why a task lacks the kernels that need an encoder."""
    reason = "not available: it needs torch and its encoder (`make torch`), and none is shipped"
    return as_json({task: reason for task in ABLATION["tasks"]})


# ---- the Pareto fronts -------------------------------------------------------------------------


def pareto_models():
    """Model -> its published kernel and tau."""
    models = NEIGHBORS["models"]
    return {
        name: [models[name]["kernels"][0], models[name]["tau"]]
        for name in PARETO["models"]
    }


def pareto_mode(task, kernel):
    possible = not kernel.startswith("meteor.") or obtainable(WORDNET)
    return numbers_mode(task, f"pareto/{kernel}.npz", possible)


def pareto_file(task, kernel):
    if pareto_mode(task, kernel) == "shipped":
        return f"{SHIPPED}/{task}/pareto/{kernel}.npz"
    return f"results/pareto/{task}/{kernel}.npz"


def pareto_numbers(wildcards):
    return [
        pareto_file(task, kernel)
        for task in PARETO["tasks"]
        for kernel, _ in pareto_models().values()
        if pareto_mode(task, kernel) != "absent"
    ]


def pareto_code(wildcards):
    return code("compute_pareto_sums.py", f"kernels/{wildcards.kernel.split('.')[0]}")


def pareto_wordnet(wildcards):
    return kernel_resources([wildcards.kernel])


def pareto_wordnet_option(wildcards):
    return resource_options([wildcards.kernel])


def pareto_made():
    """Kernel -> the settings of its numbers."""
    return {
        kernel: {
            "taus": [
                round(tau * factor, 6)
                for factor in PARETO["tau_factors"]
                if tau * factor <= 1
            ],
            "folds": PARETO["folds"],
            "seed": PARETO["seed"],
        }
        for kernel, tau in pareto_models().values()
    }


def pareto_sums_settings(wildcards):
    return as_json(pareto_made()[wildcards.kernel])


def pareto_settings():
    """For the script; see bleu_neighbors_pareto.Settings."""
    return as_json(
        {
            "a_values": PARETO["a"],
            "b_values": PARETO["b"],
            "floors": PARETO["floors"],
            "a": NEIGHBORS["min_neighbors"],
            "b": NEIGHBORS["max_share"],
            "draws": PARETO["draws"],
            "seed": PARETO["seed"],
        }
    )


def pareto_absent(wildcards):
    return as_json({task: why_absent(task) for task in PARETO["tasks"]})


def pareto_modules():
    return sorted(
        {f"kernels/{kernel.split('.')[0]}" for kernel, _ in pareto_models().values()}
    )


# ---- shipping ----------------------------------------------------------------------------------


def shippable_ablation():
    """The computed files of numbers, by the folder that they are shipped in."""
    return {
        "ablation": [
            ablation_file(task, part)
            for part in ("plain", "encoders")
            for task in ablation_tasks(part)
            if ablation_mode(task, part) == "computed"
        ],
        "pareto": [
            path for path in pareto_numbers(None) if path.startswith("results/")
        ],
    }


def ablation_shippable():
    return [path for paths in shippable_ablation().values() for path in paths]


def ablation_ship_commands():
    return [
        f"python workflow/scripts/ship_arrays.py {' '.join(paths)} --kind {kind}"
        for kind, paths in shippable_ablation().items()
        if paths
    ]


check_ablation_settings()
