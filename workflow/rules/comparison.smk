# Every method of `refless compare` on every data set. Stage: cell, table. In: rated texts. Out:
# results/comparison (numbers without text), and the table `comparison`. RNN-QE's estimates need torch,
# and are made apart.

# Kernels that cannot be computed here are left out, and so are those that a data set skips.
LACKING = PLAN.lacking(SETTINGS.comparison.kernels)
COMPARED = [kernel for kernel in SETTINGS.comparison.kernels if kernel not in LACKING]
COMPARISON_TASKS = SETTINGS.tasks("comparison")


rule train_comparison_networks:
    input:
        RATINGS,
    output:
        "results/comparison/networks/{task}.csv",
    log:
        "results/logs/train_comparison_networks/{task}.log",
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
        networks=lambda wildcards: there(f"results/comparison/networks/{wildcards.task}.csv"),
        resources=resource_files(*COMPARED),
    output:
        "results/comparison/{task}.csv",
    log:
        "results/logs/compare_methods/{task}.log",
    priority: 50
    conda:
        "../../envs/refless.yaml"
    # the longest job of a whole run, so it starts early
    resources:
        mem_mb=6000,
        runtime=120,
    params:
        settings=lambda wildcards: comparison_settings(wildcards.task),
        options=kernel_options(*COMPARED),
        own_encoders={kernel: PLAN.own_encoder(kernel) for kernel in COMPARED},
        left_out=lambda wildcards: comparison_left_out(wildcards.task),
        code=code("compare_methods.py", *map(module, COMPARED)),
    script:
        "../scripts/compare_methods.py"


rule tabulate_comparison:
    input:
        there("results/comparison/{task}.csv", task=COMPARISON_TASKS),
    output:
        table("comparison"),
    log:
        "results/logs/tabulate_comparison.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=COMPARISON_TASKS,
        missing=missing("results/comparison/{task}.csv", task=COMPARISON_TASKS),
        code=code("tabulate_comparison.py"),
    script:
        "../scripts/tabulate_comparison.py"


rule comparison:
    input:
        "results/tables/comparison.csv",
    output:
        figure("comparison"),
    log:
        "results/logs/comparison.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        looks=looks(COMPARISON_TASKS),
        code=code("plot_comparison.py"),
    script:
        "../scripts/plot_comparison.py"
