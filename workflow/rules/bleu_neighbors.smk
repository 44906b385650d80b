# BLEU Neighbors (Ethayarajh and Sadigh, 2020). Stage: prediction, cell, table, figure. In: ratings
# and kernels. Out: results/neighbors, results/curves, and the paper's tables and figures.

THRESHOLDS = {"a": NEIGHBORS.min_neighbors, "b": NEIGHBORS.max_share}
CROSSED = "results/cross_task/{source_dataset}.{target_dataset}.csv"
PLAIN = BLEU.kernels[0]  # the published BLEU*, which figures 2 to 4 are about
PRINTED_AS = {dataset: {"published": PRINTED.get(dataset, "")} for dataset in TASKS}


rule predict_neighbors:
    input:
        ratings=RATINGS,
        kernels=lambda wildcards: matrix(wildcards.dataset, wildcards.kernel),
    output:
        multiext("results/neighbors/{dataset}/{kernel}", ".csv", ".json"),
    log:
        "results/logs/predict_neighbors/{dataset}/{kernel}.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        tau=lambda wildcards: SETTINGS.taus()[wildcards.kernel],
        options=lambda wildcards: SETTINGS.options(wildcards.kernel),
        code=code("predict_neighbors.py"),
    script:
        "../scripts/predict_neighbors.py"


rule compute_data_size_curve:
    input:
        ratings=RATINGS,
        kernels=lambda wildcards: matrix(wildcards.dataset, PLAIN),
    output:
        multiext("results/curves/{dataset}/data_size", ".csv", ".json"),
    log:
        "results/logs/compute_data_size_curve/{dataset}.log",
    conda:
        "../../envs/refless.yaml"
    params:
        settings={"tau": SETTINGS.taus()[PLAIN], **THRESHOLDS, "seed": SETTINGS.bootstrap.seed},
        code=code("compute_data_size_curve.py"),
    script:
        "../scripts/compute_data_size_curve.py"


for NAME in ("bleu_neighbors_table1", "bleu_neighbors_section53"):

    rule:
        name:
            NAME
        input:
            ratings=available(RATINGS, dataset=TASKS),
            predictions=PREDICTIONS,
            published=repo_path(f"resources/published/{NAME}.csv"),
        output:
            table(NAME),
        log:
            f"results/logs/{NAME}.log",
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            arguments={
                "styles": PRINTED_AS,
                "models": {name: list(model.kernels) for name, model in NEIGHBORS.models.items()},
                "thresholds": THRESHOLDS,
                "bootstrap": BOOTSTRAP,
            },
            facts={**THRESHOLDS, "tau": SETTINGS.taus()[PLAIN]},
            datasets={dataset: NAMES[dataset] for dataset in TASKS},
            missing=missing([RATINGS[0], PREDICTED], dataset=TASKS, kernel=SETTINGS.kernels()),
            code=code_of_table(NAME),
        script:
            "../scripts/tabulate.py"


# Figures 2 and 3 are over the thresholds, figure 4 is over the data size.
CURVE = {"sizes": available("results/curves/{dataset}/data_size.csv", dataset=TASKS)}
OVER = {"predictions": available(PREDICTED, dataset=TASKS, kernel=PLAIN)}
for NAME, FILES, MEASURE in (
    ("bleu_neighbors_figure2", OVER, {"column": "spearman", "kernel": PLAIN}),
    ("bleu_neighbors_figure3", OVER, {"column": "coverage", "kernel": PLAIN}),
    ("bleu_neighbors_figure4", CURVE, {}),
):

    rule:
        name:
            NAME
        input:
            **FILES,
            ratings=available(RATINGS, dataset=TASKS),
            published=repo_path("resources/published/bleu_neighbors_table1.csv"),
        output:
            figure(NAME),
        log:
            f"results/logs/{NAME}.log",
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            arguments={
                "styles": {dataset: STYLES[dataset] for dataset in TASKS},
                "thresholds": THRESHOLDS,
                **MEASURE,
            },
            code=code_of_figure(NAME),
        script:
            "../scripts/plot.py"


rule predict_essays:
    input:
        ratings=expand(RATINGS, dataset=SETTINGS.tasks("essays")),  # one at most
    output:
        multiext("results/essays/estimates", ".csv", ".json"),
    log:
        "results/logs/predict_essays.log",
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("predict_essays.py", "kernels/bleu.py"),
    script:
        "../scripts/predict_essays.py"


# Rules of tables that are made in one way take from this one what they do not say.
rule bleu_neighbors_table3:
    input:
        estimates=available("results/essays/estimates.csv"),
        published=repo_path("resources/published/bleu_neighbors_table3.csv"),
    output:
        table("bleu_neighbors_table3"),
    log:
        "results/logs/bleu_neighbors_table3.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        arguments={"bootstrap": BOOTSTRAP},
        missing=missing("results/essays/estimates.csv"),
        code=code_of_table("bleu_neighbors_table3"),
    script:
        "../scripts/tabulate.py"


rule estimate_cross_task:
    input:
        source=expand(RATINGS, dataset="{source_dataset}"),
        target=expand(RATINGS, dataset="{target_dataset}"),
    output:
        multiext("results/cross_task/{source_dataset}.{target_dataset}", ".csv", ".json"),
    log:
        "results/logs/estimate_cross_task/{source_dataset}.{target_dataset}.log",
    conda:
        "../../envs/refless.yaml"
    params:
        taus={kernel: SETTINGS.taus()[kernel] for kernel in BLEU.kernels},
        code=code("estimate_cross_task.py", *map(module, BLEU.kernels)),
    script:
        "../scripts/estimate_cross_task.py"


use rule bleu_neighbors_table3 as bleu_neighbors_table2 with:
    input:
        ratings=available(RATINGS, dataset=TASKS),
        predictions=PREDICTIONS,
        estimates=available("results/cross_task/{of}.csv", of=map(".".join, permutations(TASKS, 2))),
        published=repo_path("resources/published/bleu_neighbors_table2.csv"),
    output:
        table("bleu_neighbors_table2"),
    log:
        "results/logs/bleu_neighbors_table2.log",
    params:
        arguments={
            "styles": PRINTED_AS,
            "kernels": BLEU.kernels,
            "thresholds": THRESHOLDS,
            "bootstrap": BOOTSTRAP,
        },
        facts=THRESHOLDS,
        datasets={dataset: NAMES[dataset] for dataset in TASKS},
        missing=missing(CROSSED, source_dataset=TASKS, target_dataset=TASKS),
        code=code_of_table("bleu_neighbors_table2"),
