# Beyond single data sets and beyond the paper: table 2 of BLEU Neighbors, HUSE, the ablation, the
# Pareto fronts. Stage: prediction, table, figure. In: rated texts. Out: results/cross_task,
# results/huse, results/ablation, results/pareto (numbers without text), and tables and figures.


# ---- table 2: trained on one data set, scored on another


rule estimate_cross_task:
    input:
        source=[
            f"results/ratings/{{source}}/{name}.csv" for name in ("texts", "ratings")
        ],
        target=[
            f"results/ratings/{{target}}/{name}.csv" for name in ("texts", "ratings")
        ],
    output:
        "results/cross_task/{source}.{target}.csv",
    log:
        "results/logs/estimate_cross_task/{source}.{target}.log",
    benchmark:
        "results/benchmarks/estimate_cross_task/{source}.{target}.tsv"
    wildcard_constraints:
        source="[^/.]+",
        target="[^/.]+",
    conda:
        "../../envs/refless.yaml"
    threads: 4
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        kernels=list(BLEU.kernels),
        tau=BLEU.tau,
        code=code("estimate_cross_task.py", *map(module, BLEU.kernels)),
    script:
        "../scripts/estimate_cross_task.py"


rule tabulate_bleu_neighbors_table2:
    input:
        ratings=ratings(*TASKS),
        estimates=there(
            "results/cross_task/{source}.{target}.csv", source=TASKS, target=TASKS
        ),
        published="resources/published/bleu_neighbors_table2.csv",
    output:
        table("bleu_neighbors_table2"),
    log:
        "results/logs/tabulate_bleu_neighbors_table2.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_table2.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*TASKS),
        looks=looks(TASKS),
        settings=TABLE_SETTINGS,
        tau=BLEU.tau,
        missing=missing(
            "results/cross_task/{source}.{target}.csv", source=TASKS, target=TASKS
        ),
        code=code("tabulate_bleu_neighbors_table2.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_table2.py"


# ---- HUSE itself


rule collect_huse_items:
    input:
        [f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
    output:
        "results/huse/{task}.csv",
    log:
        "results/logs/collect_huse_items/{task}.log",
    benchmark:
        "results/benchmarks/collect_huse_items/{task}.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("collect_huse_items.py"),
    script:
        "../scripts/collect_huse_items.py"


rule tabulate_bleu_neighbors_huse:
    input:
        ratings=ratings(*huse_batches()),
        batches=[f"results/huse/{task}.csv" for task in huse_batches()],
        predictions=predictions(*huse_batches()),
    output:
        table("bleu_neighbors_huse"),
    log:
        "results/logs/tabulate_bleu_neighbors_huse.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_huse.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*huse_batches()),
        looks=looks(SETTINGS.tasks("huse")),
        settings=TABLE_SETTINGS,
        kernel=BLEU.kernels[0],
        neighbors=NEIGHBORS.huse.neighbors,
        missing=missing("results/huse/{task}.csv", task=SETTINGS.tasks("huse")),
        code=code("tabulate_bleu_neighbors_huse.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_huse.py"


# ---- the ablation: one change at a time


rule compute_ablation:
    input:
        ratings=[
            f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")
        ],
        resources=lambda wildcards: resource_files(*ablation_kernels(wildcards)),
    output:
        "results/ablation/{task}/{part}.npz",
    log:
        "results/logs/compute_ablation/{task}/{part}.log",
    benchmark:
        "results/benchmarks/compute_ablation/{task}/{part}.tsv"
    conda:
        lambda wildcards: environment(wildcards.part)
    threads: 8
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        kernels=ablation_kernels,
        settings=ABLATION_SETTINGS,
        code=lambda wildcards: code(
            "compute_ablation.py",
            *map(module, [BLEU.kernels[0], *ablation_kernels(wildcards)]),
        ),
    script:
        "../scripts/compute_ablation.py"


rule tabulate_bleu_neighbors_ablation:
    input:
        ratings=ratings(*TASKS),
        numbers=there(
            "results/ablation/{task}/{part}.npz", task=TASKS, part=ablation_parts()
        ),
    output:
        table("bleu_neighbors_ablation"),
    log:
        "results/logs/tabulate_bleu_neighbors_ablation.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_ablation.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        folders=folders(*TASKS),
        looks=looks(TASKS),
        settings=ABLATION_SETTINGS,
        kernels=list(ABLATION.kernels),
        draws=ABLATION.draws,
        missing=missing(
            "results/ablation/{task}/{part}.npz", task=TASKS, part=ablation_parts()
        )
        + missing(
            "results/kernels/{task}/{kernel}.npz",
            task=TASKS,
            kernel=ablation_parts()["plain"],
        ),
        code=code("tabulate_bleu_neighbors_ablation.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_ablation.py"


rule plot_bleu_neighbors_ablation:
    input:
        "results/tables/bleu_neighbors_ablation.csv",
        "results/tables/bleu_neighbors_ablation.json",
    output:
        figure("bleu_neighbors_ablation"),
    log:
        "results/logs/plot_bleu_neighbors_ablation.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_ablation.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_ablation.py"),
    script:
        "../scripts/plot_bleu_neighbors_ablation.py"


# ---- the Pareto fronts: coverage against Spearman over all thresholds


rule compute_pareto_sums:
    input:
        ratings=[
            f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")
        ],
        resources=lambda wildcards: resource_files(wildcards.kernel),
    output:
        "results/pareto/{task}/{kernel}.npz",
    log:
        "results/logs/compute_pareto_sums/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_pareto_sums/{task}/{kernel}.tsv"
    conda:
        lambda wildcards: environment(wildcards.kernel)
    threads: 8
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        options=lambda wildcards: kernel_options(wildcards.kernel)[wildcards.kernel],
        settings=lambda wildcards: {
            model["kernel"]: model["settings"] for model in pareto_models().values()
        }[wildcards.kernel],
        code=lambda wildcards: code("compute_pareto_sums.py", module(wildcards.kernel)),
    script:
        "../scripts/compute_pareto_sums.py"


rule tabulate_bleu_neighbors_pareto:
    input:
        ratings=ratings(*TASKS),
        numbers=there(
            "results/pareto/{task}/{kernel}.npz",
            task=TASKS,
            kernel=[model["kernel"] for model in pareto_models().values()],
        ),
    output:
        table=table("bleu_neighbors_pareto"),
        fronts="results/curves/bleu_neighbors_pareto_front.csv",
    log:
        "results/logs/tabulate_bleu_neighbors_pareto.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_pareto.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        folders=folders(*TASKS),
        looks=looks(TASKS),
        models=pareto_models(),
        settings=PARETO_SETTINGS,
        folds=PARETO.folds,
        missing=missing(
            "results/pareto/{task}/{kernel}.npz",
            task=TASKS,
            kernel=[model["kernel"] for model in pareto_models().values()],
        ),
        code=code("tabulate_bleu_neighbors_pareto.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_pareto.py"


rule plot_bleu_neighbors_pareto:
    input:
        table="results/tables/bleu_neighbors_pareto.csv",
        record="results/tables/bleu_neighbors_pareto.json",
        fronts="results/curves/bleu_neighbors_pareto_front.csv",
    output:
        figure("bleu_neighbors_pareto"),
    log:
        "results/logs/plot_bleu_neighbors_pareto.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_pareto.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_pareto.py"),
    script:
        "../scripts/plot_bleu_neighbors_pareto.py"
