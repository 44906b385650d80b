# BLEU Neighbors (Ethayarajh and Sadigh, 2020). Stage: prediction, cell, table, figure. In: ratings
# and kernel files. Out: results/neighbors, results/curves, and the paper's tables and figures.


# One job for all kernels of a data set: an estimate is a matter of milliseconds, a job is not.
rule predict_neighbors:
    input:
        ratings=[
            f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")
        ],
        kernels=lambda wildcards: there(
            "results/kernels/{task}/{kernel}.npz",
            task=wildcards.task,
            kernel=SETTINGS.kernels(),
        ),
    output:
        "results/neighbors/{task}.csv",
    log:
        "results/logs/predict_neighbors/{task}.log",
    benchmark:
        "results/benchmarks/predict_neighbors/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        taus=SETTINGS.taus(),
        code=code("predict_neighbors.py"),
    script:
        "../scripts/predict_neighbors.py"


rule compute_threshold_curves:
    input:
        ratings=[
            f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")
        ],
        kernel=f"results/kernels/{{task}}/{BLEU.kernels[0]}.npz",
    output:
        "results/curves/{task}/thresholds.csv",
    log:
        "results/logs/compute_threshold_curves/{task}.log",
    benchmark:
        "results/benchmarks/compute_threshold_curves/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        settings=SWEEP,
        code=code("compute_threshold_curves.py"),
    script:
        "../scripts/compute_threshold_curves.py"


rule compute_data_size_curve:
    input:
        ratings=[
            f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")
        ],
        kernel=f"results/kernels/{{task}}/{BLEU.kernels[0]}.npz",
    output:
        "results/curves/{task}/data_size.csv",
    log:
        "results/logs/compute_data_size_curve/{task}.log",
    benchmark:
        "results/benchmarks/compute_data_size_curve/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        settings=SIZE_SETTINGS,
        sizes=NEIGHBORS.data_size.streamed,
        step=NEIGHBORS.data_size.step,
        code=code("compute_data_size_curve.py", module(BLEU.kernels[0])),
    script:
        "../scripts/compute_data_size_curve.py"


# Section 5.3 is made of the same ratings and predictions.
rule tabulate_bleu_neighbors_table1:
    input:
        ratings=ratings(*TASKS),
        predictions=predictions(*TASKS),
        published="resources/published/bleu_neighbors_table1.csv",
        section53="resources/published/bleu_neighbors_section53.csv",
    output:
        table("bleu_neighbors_table1"),
        table("bleu_neighbors_section53"),
    log:
        "results/logs/tabulate_bleu_neighbors_table1.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_table1.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*TASKS),
        looks=looks(TASKS),
        settings=TABLE_SETTINGS,
        missing=missing(
            "results/ratings/{task}/texts.csv",
            "results/kernels/{task}/{kernel}.npz",
            task=TASKS,
            kernel=SETTINGS.kernels(),
        ),
        code=code("tabulate_bleu_neighbors_table1.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_table1.py"


rule plot_bleu_neighbors_thresholds:
    input:
        threshold_curves(),
    output:
        spearman=figure("bleu_neighbors_figure2"),
        coverage=figure("bleu_neighbors_figure3"),
    log:
        "results/logs/plot_bleu_neighbors_thresholds.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_thresholds.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings={name: SWEEP[name] for name in ("tau", "a", "b")},
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_thresholds.py"),
    script:
        "../scripts/plot_bleu_neighbors_thresholds.py"


rule plot_bleu_neighbors_figure4:
    input:
        data_size_curves(),
    output:
        figure("bleu_neighbors_figure4"),
    log:
        "results/logs/plot_bleu_neighbors_figure4.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_figure4.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings=SIZE_SETTINGS,
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_figure4.py"),
    script:
        "../scripts/plot_bleu_neighbors_figure4.py"
