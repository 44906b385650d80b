# The input and parameter functions of table 2, section 5.3, HUSE and the summary of agreement.
# Stage: none. In: wildcards. Out: paths and arguments.
SHIPPED_CROSS = f"{SHIPPED}/cross_task"
BLEU = NEIGHBORS["models"]["bleu"]


# ---- table 2 -----------------------------------------------------------------------------------


def cross_pairs():
    """Every (source, target) of table 2, in the order of its rows."""
    tasks = NEIGHBORS["tasks"]
    return [(source, target) for source in tasks for target in tasks]


def pair_mode(source, target):
    """`numbers_mode` of a pair; ``computed`` needs both tasks' texts."""
    shipped = f"cross_task/{source}.{target}.json"
    return numbers_mode(shipped, BLEU["kernels"][0], source, target)


def pair_numbers(source, target):
    where = (
        SHIPPED_CROSS
        if pair_mode(source, target) == "shipped"
        else "results/cross_task"
    )
    return [f"{where}/{source}.{target}.{ending}" for ending in ("csv", "json")]


def pairs_there():
    return [pair for pair in cross_pairs() if pair_mode(*pair) != "absent"]


def table2_files(wildcards):
    return [path for pair in pairs_there() for path in pair_numbers(*pair)]


def table2_estimates(wildcards):
    return [pair_numbers(*pair)[0] for pair in pairs_there()]


def table2_abouts(wildcards):
    """What the ratings of the tasks say about themselves: are the numbers about these texts?"""
    return [
        f"{ratings_directory(task)}/about.json" for task in there(NEIGHBORS["tasks"])
    ]


def table2_directories(wildcards):
    return [ratings_directory(task) for task in there(NEIGHBORS["tasks"])]


def table2_missing(wildcards):
    """Why a kernel cannot be computed on a pair, which may be shipped with other kernels alone."""
    reasons = {}
    for source, target in cross_pairs():
        reasons.setdefault(source, {})[target] = {
            kernel: why
            for kernel in BLEU["kernels"]
            if (why := why_not(kernel, source, target))
        }
    return as_json(reasons)


# ---- HUSE --------------------------------------------------------------------------------------


def huse_tasks():
    """The tasks of BLEU Neighbors whose texts come with the models' log-probabilities."""
    return [
        task for task in NEIGHBORS["tasks"] if config["data"][task]["loader"] == "huse"
    ]


def huse_mode(task):
    """``computed``, ``shipped`` or ``absent``: the log-probability and the length of each item."""
    if task_mode(task) == "computed":
        return "computed"
    if Path(SHIPPED, task, "huse/items.json").is_file():
        return "shipped"
    return "absent"


def huse_numbers(task):
    where = (
        f"{SHIPPED}/{task}/huse"
        if huse_mode(task) == "shipped"
        else f"results/huse/{task}"
    )
    return [f"{where}/items.{ending}" for ending in ("csv", "json")]


def huse_there():
    return [task for task in huse_tasks() if huse_mode(task) != "absent"]


def huse_files(wildcards):
    return [path for task in huse_there() for path in huse_numbers(task)]


def huse_items(wildcards):
    return [huse_numbers(task)[0] for task in huse_there()]


def huse_predictions(wildcards):
    return [f"results/neighbors/{task}.csv" for task in huse_there()]


def huse_abouts(wildcards):
    return [f"{ratings_directory(task)}/about.json" for task in huse_there()]


def huse_directories(wildcards):
    return [ratings_directory(task) for task in huse_there()]


def huse_absent(wildcards):
    return as_json(
        {task: why_absent(task) for task in huse_tasks() if task not in huse_there()}
    )


# ---- ship --------------------------------------------------------------------------------------


def numbers_to_ship():
    """Directory under resources/shipped -> the computed tables of numbers that go there."""
    found = {}
    for pair in cross_pairs():
        if pair_mode(*pair) == "computed":
            found.setdefault(SHIPPED_CROSS, []).append(pair_numbers(*pair)[0])
    for task in huse_tasks():
        if huse_mode(task) == "computed":
            found[f"{SHIPPED}/{task}/huse"] = [huse_numbers(task)[0]]
    return found


def cross_files_to_ship():
    return [path for paths in numbers_to_ship().values() for path in paths]


# ---- agreement ---------------------------------------------------------------------------------

AGREEMENT_TABLES = [f"bleu_neighbors_table{n}" for n in (1, 2, 3)]


def agreement_tables():
    return [f"results/tables/{name}.csv" for name in AGREEMENT_TABLES]


def agreement_published():
    return [f"resources/published/{name}.csv" for name in AGREEMENT_TABLES]
