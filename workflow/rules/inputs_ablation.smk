# The input and parameter functions of ablation.smk. Stage: none. In: wildcards. Out: paths and
# arguments.
ABLATION, PARETO = NEIGHBORS["ablation"], NEIGHBORS["pareto"]
# The part of the ablation that needs texts alone; every other part is one kernel.
PLAIN = "plain"


def check_ablation_settings():
    """What the schema cannot see: names that must exist elsewhere."""
    for kernel in ABLATION["kernels"]:
        check_kernel(kernel, "ablation.kernels")
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


def part_of(kernel):
    """The file of numbers that another kernel is in: its own, if it needs more than texts."""
    apart = has_encoder(kernel) or kernel.startswith("meteor.")
    return kernel if apart else PLAIN


def ablation_parts():
    """The parts, plain first."""
    return list(dict.fromkeys([PLAIN, *map(part_of, ABLATION["kernels"])]))


def ablation_kernels(part, task=None):
    """The other kernels of a part; with a task, those that it does not skip."""
    return [
        kernel
        for kernel in ABLATION["kernels"]
        if part_of(kernel) == part and not (task and skipped(task, kernel))
    ]


def ablation_mode(task, part):
    kernel = BLEU["kernels"][0] if part == PLAIN else part
    return numbers_mode(f"{task}/ablation/{part}.npz", kernel, task)


def ablation_file(task, part):
    if ablation_mode(task, part) == "shipped":
        return f"{SHIPPED}/{task}/ablation/{part}.npz"
    return f"results/ablation/{task}/{part}.npz"


def ablation_tasks(part):
    """The tasks that have numbers of one part; every other part is compared with plain."""
    return [
        task
        for task in ABLATION["tasks"]
        if ablation_mode(task, PLAIN) != "absent"
        and ablation_mode(task, part) != "absent"
    ]


def ablation_numbers(wildcards):
    return [ablation_file(task, PLAIN) for task in ablation_tasks(PLAIN)]


def ablation_extra(wildcards):
    return [
        ablation_file(task, part)
        for part in ablation_parts()[1:]
        for task in ablation_tasks(part)
    ]


def ablation_modules(kernels):
    """Modules of the kernels behind numbers."""
    return sorted(
        {f"kernels/{kernel.split('.')[0]}" for kernel in [BLEU["kernels"][0], *kernels]}
    )


def ablation_code(wildcards):
    kernels = ablation_kernels(wildcards.part)
    return code("compute_ablation.py", *ablation_modules(kernels))


def ablation_resources(wildcards):
    """What a part is computed with, beside texts."""
    return [] if wildcards.part == PLAIN else kernel_resources([wildcards.part])


def ablation_options(wildcards):
    kernels = " ".join(ablation_kernels(wildcards.part, wildcards.task))
    if wildcards.part == PLAIN:
        return f"--kernels {kernels}"
    return f"--kernels {kernels} --kernels-only {resource_options([wildcards.part])}"


def ablation_environment(wildcards):
    return environment_of(wildcards.part)


def ablation_settings():
    """For the scripts; see bleu_neighbors_ablation.Settings."""
    return as_json(
        {
            "kernel": BLEU["kernels"][0],
            "tau": BLEU["tau"],
            "a": NEIGHBORS["min_neighbors"],
            "b": NEIGHBORS["max_share"],
            **{key: ABLATION[key] for key in ("halves", "tau_step", "seed")},
        }
    )


def ablation_absent(wildcards):
    """Why a task has not even plain BLEU Neighbors."""
    return as_json(
        {
            task: why_not(BLEU["kernels"][0], task)
            for task in ABLATION["tasks"]
            if ablation_mode(task, PLAIN) == "absent"
        }
    )


def ablation_missing(wildcards):
    """Why a kernel cannot be computed; a file that is shipped may have fewer than are asked for."""
    return as_json(
        {
            task: {
                kernel: why
                for kernel in ABLATION["kernels"]
                if (why := why_not(kernel, task))
            }
            for task in there(ABLATION["tasks"])
        }
    )


# ---- the Pareto fronts -------------------------------------------------------------------------


def pareto_models():
    """Model -> its published kernel and that kernel's tau."""
    kernels = {
        name: NEIGHBORS["models"][name]["kernels"][0] for name in PARETO["models"]
    }
    return {name: [kernel, kernel_taus()[kernel]] for name, kernel in kernels.items()}


def pareto_kernels():
    return [kernel for kernel, _ in pareto_models().values()]


def pareto_mode(task, kernel):
    return numbers_mode(f"{task}/pareto/{kernel}.npz", kernel, task)


def pareto_file(task, kernel):
    if pareto_mode(task, kernel) == "shipped":
        return f"{SHIPPED}/{task}/pareto/{kernel}.npz"
    return f"results/pareto/{task}/{kernel}.npz"


def pareto_numbers(wildcards):
    return [
        pareto_file(task, kernel)
        for task in PARETO["tasks"]
        for kernel in pareto_kernels()
        if pareto_mode(task, kernel) != "absent"
    ]


def pareto_code(wildcards):
    return code("compute_pareto_sums.py", f"kernels/{wildcards.kernel.split('.')[0]}")


def pareto_resources(wildcards):
    return kernel_resources([wildcards.kernel])


def pareto_resource_options(wildcards):
    return resource_options([wildcards.kernel])


def pareto_environment(wildcards):
    return environment_of(wildcards.kernel)


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


def pareto_missing(wildcards):
    return as_json(why_absent_each(pareto_mode, PARETO["tasks"], pareto_kernels()))


def pareto_modules():
    return sorted({f"kernels/{kernel.split('.')[0]}" for kernel in pareto_kernels()})


# ---- shipping ----------------------------------------------------------------------------------


def shippable_ablation():
    """The computed files of numbers, by the folder that they are shipped in."""
    return {
        "ablation": [
            ablation_file(task, part)
            for part in ablation_parts()
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
