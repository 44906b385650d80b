# BLEU Neighbors (Ethayarajh and Sadigh, 2020). Stage: prediction, cell, table, figure. In: ratings
# and kernels. Out: results/neighbors, results/curves, and the paper's tables and figures.

BN_THRESHOLDS = {"a": NEIGHBORS.min_neighbors, "b": NEIGHBORS.max_share}
BN_CROSSED = "results/cross_task/{source_dataset}.{target_dataset}.csv"
BN_KERNEL = BLEU.kernels[0]  # the published BLEU*, which figures 2 to 4 are about
BN_PRINTED = {dataset: {"published": PRINTED.get(dataset, "")} for dataset in TASKS}
BN_FIGURES = {
    "styles": {dataset: STYLES[dataset] for dataset in TASKS},
    "kernel": BN_KERNEL,
    "settings": {**BN_THRESHOLDS, **BOOTSTRAP},
}
# The parameters of table 1 and of section 5.3, which have the same rows.
BN_TABLE = {
    "arguments": {
        "styles": BN_PRINTED,
        "models": {model: list(of.kernels) for model, of in NEIGHBORS.models.items()},
        "thresholds": BN_THRESHOLDS,
        "bootstrap": BOOTSTRAP,
    },
    "facts": {**BN_THRESHOLDS, "tau": SETTINGS.taus()[BN_KERNEL]},
    "datasets": {dataset: NAMES[dataset] for dataset in TASKS},
    "missing": missing([RATINGS[0], PREDICTED], dataset=TASKS, kernel=SETTINGS.kernels()),
}


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
        kernels=lambda wildcards: matrix(wildcards.dataset, BN_KERNEL),
    output:
        multiext("results/curves/{dataset}/data_size", ".csv", ".json"),
    log:
        "results/logs/compute_data_size_curve/{dataset}.log",
    conda:
        "../../envs/refless.yaml"
    params:
        settings={
            "tau": SETTINGS.taus()[BN_KERNEL],
            **BN_THRESHOLDS,
            "seed": SETTINGS.bootstrap.seed,
        },
        code=code("compute_data_size_curve.py"),
    script:
        "../scripts/compute_data_size_curve.py"


use rule table_template as bleu_neighbors_table1 with:
    input:
        ratings=available(RATINGS, dataset=TASKS),
        predictions=PREDICTIONS,
        published=repo_path("resources/published/bleu_neighbors_table1.csv"),
    output:
        table("bleu_neighbors_table1"),
    log:
        "results/logs/bleu_neighbors_table1.log",
    params:
        **BN_TABLE,
        code=code_of_table("bleu_neighbors_table1"),


use rule table_template as bleu_neighbors_section53 with:
    input:
        ratings=available(RATINGS, dataset=TASKS),
        predictions=PREDICTIONS,
        published=repo_path("resources/published/bleu_neighbors_section53.csv"),
    output:
        table("bleu_neighbors_section53"),
    log:
        "results/logs/bleu_neighbors_section53.log",
    params:
        **BN_TABLE,
        code=code_of_table("bleu_neighbors_section53"),


# Figures 2 and 3 are over the thresholds, figure 4 is over the data size.
use rule figure_template as bleu_neighbors_figure2 with:
    input:
        predictions=available(PREDICTED, dataset=TASKS, kernel=BN_KERNEL),
        ratings=available(RATINGS, dataset=TASKS),
        published=repo_path("resources/published/bleu_neighbors_table1.csv"),
    output:
        figure("bleu_neighbors_figure2"),
    log:
        "results/logs/bleu_neighbors_figure2.log",
    params:
        arguments={**BN_FIGURES, "column": "spearman"},
        code=code_of_figure("bleu_neighbors_figure2"),


use rule figure_template as bleu_neighbors_figure3 with:
    input:
        predictions=available(PREDICTED, dataset=TASKS, kernel=BN_KERNEL),
        ratings=available(RATINGS, dataset=TASKS),
        published=repo_path("resources/published/bleu_neighbors_table1.csv"),
    output:
        figure("bleu_neighbors_figure3"),
    log:
        "results/logs/bleu_neighbors_figure3.log",
    params:
        arguments={**BN_FIGURES, "column": "coverage"},
        code=code_of_figure("bleu_neighbors_figure3"),


use rule figure_template as bleu_neighbors_figure4 with:
    input:
        sizes=available("results/curves/{dataset}/data_size.csv", dataset=TASKS),
        ratings=available(RATINGS, dataset=TASKS),
        published=repo_path("resources/published/bleu_neighbors_table1.csv"),
    output:
        figure("bleu_neighbors_figure4"),
    log:
        "results/logs/bleu_neighbors_figure4.log",
    params:
        arguments=BN_FIGURES,
        code=code_of_figure("bleu_neighbors_figure4"),


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


use rule table_template as bleu_neighbors_table3 with:
    input:
        estimates=available("results/essays/estimates.csv"),
        published=repo_path("resources/published/bleu_neighbors_table3.csv"),
    output:
        table("bleu_neighbors_table3"),
    log:
        "results/logs/bleu_neighbors_table3.log",
    params:
        arguments={"bootstrap": BOOTSTRAP},
        missing=missing("results/essays/estimates.csv"),
        code=code_of_table("bleu_neighbors_table3"),


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


use rule table_template as bleu_neighbors_table2 with:
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
            "styles": BN_PRINTED,
            "kernels": BLEU.kernels,
            "thresholds": BN_THRESHOLDS,
            "bootstrap": BOOTSTRAP,
        },
        facts=BN_THRESHOLDS,
        datasets={dataset: NAMES[dataset] for dataset in TASKS},
        missing=missing(BN_CROSSED, source_dataset=TASKS, target_dataset=TASKS),
        code=code_of_table("bleu_neighbors_table2"),
