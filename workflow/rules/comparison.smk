# Every method of `refless compare` on every data set. Stage: cell, table. In: rated texts. Out:
# results/comparison (numbers without text), and the table `comparison`.

COMPARISON_TASKS = SETTINGS.tasks("comparison")


rule train_comparison_networks:
    input:
        RATINGS,
    output:
        multiext("results/comparison/networks/{dataset}", ".csv", ".json"),
    log:
        "results/logs/train_comparison_networks/{dataset}.log",
    benchmark:
        "results/logs/train_comparison_networks/{dataset}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=6000,
        runtime=480,
    params:
        seed=SETTINGS.comparison.seed,
        code=code("train_comparison_networks.py"),
    script:
        "../scripts/train_comparison_networks.py"


rule compare_methods:
    input:
        ratings=RATINGS,
        networks=lambda wildcards: available(f"results/comparison/networks/{wildcards.dataset}.csv"),
        resources=lambda wildcards: [
            path for one in PLAN.compared(wildcards.dataset) for path in PLAN.files(one)
        ],
    output:
        multiext("results/comparison/{dataset}", ".csv", ".json"),
    log:
        "results/logs/compare_methods/{dataset}.log",
    benchmark:
        "results/logs/compare_methods/{dataset}.tsv"
    priority: 50  # the longest jobs of a whole run start early, and what they need before
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=comparison_mb,
        runtime=120,
    params:
        settings=SETTINGS.comparison.model_dump(exclude={"networks"}),
        human_systems=lambda wildcards: SETTINGS.data[
            wildcards.dataset
        ].experiments.comparison.human_systems,
        options=lambda wildcards: {k: PLAN.options(k) for k in PLAN.compared(wildcards.dataset)},
        code=code("compare_methods.py", *map(module, SETTINGS.comparison.kernels)),
    script:
        "../scripts/compare_methods.py"


use rule table_template as tabulate_comparison with:
    input:
        paths=available("results/comparison/{dataset}.csv", dataset=COMPARISON_TASKS),
    output:
        table("comparison"),
    log:
        "results/logs/tabulate_comparison.log",
    params:
        arguments={"tasks": COMPARISON_TASKS},
        datasets={dataset: NAMES[dataset] for dataset in COMPARISON_TASKS},
        missing=missing("results/comparison/{dataset}.csv", dataset=COMPARISON_TASKS),
        code=code_of_table("comparison"),


use rule figure_template as comparison with:
    input:
        tables="results/tables/comparison.csv",
    output:
        figure("comparison"),
    log:
        "results/logs/comparison.log",
    params:
        arguments={"datasets": {dataset: NAMES[dataset] for dataset in COMPARISON_TASKS}},
        code=code_of_figure("comparison"),
