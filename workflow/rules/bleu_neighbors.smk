# BLEU Neighbors (Ethayarajh and Sadigh, 2020). Stage: prediction, cell, table, figure. In: ratings
# and kernel files. Out: results/neighbors, results/curves, and the paper's tables and figures.

# What the tables, the sweeps and the curves of BLEU Neighbors are told.
TABLE_SETTINGS = {
    "models": {name: list(model.kernels) for name, model in NEIGHBORS.models.items()},
    "a": NEIGHBORS.min_neighbors,
    "b": NEIGHBORS.max_share,
    **BOOTSTRAP,
}
BASELINES = NEIGHBORS.baselines.model_dump()
# Figures 2 to 4 and the ablation are about the published BLEU*.
PLAIN = {"kernel": BLEU.kernels[0], "tau": SETTINGS.taus()[BLEU.kernels[0]]}
SWEEP = {
    **PLAIN,
    "a": NEIGHBORS.min_neighbors,
    "b": NEIGHBORS.max_share,
    "a_range": list(NEIGHBORS.thresholds.a),
    "b_step": NEIGHBORS.thresholds.b_step,
}
SIZE_SETTINGS = {
    **PLAIN,
    "a": NEIGHBORS.min_neighbors,
    "b": NEIGHBORS.max_share,
    "subsets": NEIGHBORS.data_size.subsets,
    "seed": NEIGHBORS.data_size.seed,
}


# One job for all kernels of a data set: an estimate is a matter of milliseconds, a job is not.
rule predict_neighbors:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
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
        options={kernel: SETTINGS.options(kernel) for kernel in SETTINGS.kernels()},
        kernels=lambda wildcards, input: list(input.get("kernels", [])),
        code=code("predict_neighbors.py"),
    script:
        "../scripts/predict_neighbors.py"


rule compute_threshold_curves:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
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
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        kernel=f"results/kernels/{{task}}/{BLEU.kernels[0]}.npz",
    output:
        "results/curves/{task}/data_size.csv",
    log:
        "results/logs/compute_data_size_curve/{task}.log",
    benchmark:
        "results/benchmarks/compute_data_size_curve/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        settings=lambda wildcards: size_settings(wildcards.task),
        code=code("compute_data_size_curve.py", module(BLEU.kernels[0])),
    script:
        "../scripts/compute_data_size_curve.py"


# What needs no kernel, for tables of estimates to be compared with.
rule compute_baselines:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
    output:
        "results/baselines/{task}.npz",
    log:
        "results/logs/compute_baselines/{task}.log",
    benchmark:
        "results/benchmarks/compute_baselines/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        settings=BASELINES,
        code=code("compute_baselines.py"),
    script:
        "../scripts/compute_baselines.py"


# Section 5.3 and the annotators' reliability are made of the same ratings and predictions.
rule tabulate_bleu_neighbors_table1:
    input:
        ratings=ratings(*TASKS),
        predictions=predictions(*TASKS),
        published=beside("resources/published/bleu_neighbors_table1.csv"),
        section53=beside("resources/published/bleu_neighbors_section53.csv"),
        baselines=there("results/baselines/{task}.npz", task=TASKS),
    output:
        table("bleu_neighbors_table1"),
        table("bleu_neighbors_section53"),
        table("bleu_neighbors_reliability"),
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
        taus=SETTINGS.taus(),
        baselines=BASELINES,
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
        ratings=ratings(*TASKS),
        curves=threshold_curves(),
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
        settings=SWEEP,
        folders=folders(*TASKS),
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_thresholds.py"),
    script:
        "../scripts/plot_bleu_neighbors_thresholds.py"


rule plot_bleu_neighbors_figure4:
    input:
        ratings=ratings(*TASKS),
        sizes=data_size_curves(),
        # for the annotators
        thresholds=threshold_curves(),
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
        settings={task: size_settings(task) for task in TASKS},
        folders=folders(*TASKS),
        sweep={name: SWEEP[name] for name in ("kernel", "tau", "a", "b")},
        looks=looks(TASKS),
        code=code("plot_bleu_neighbors_figure4.py"),
    script:
        "../scripts/plot_bleu_neighbors_figure4.py"


# ---- table 2, HUSE, and beyond the paper: the ablation, the Pareto fronts ---------------------------

ABLATION, PARETO = NEIGHBORS.ablation, NEIGHBORS.pareto
ABLATION_SETTINGS = {
    **PLAIN,
    "a": NEIGHBORS.min_neighbors,
    "b": NEIGHBORS.max_share,
    **{name: getattr(ABLATION, name) for name in ("halves", "tau_step", "seed")},
}
PARETO_SETTINGS = {
    "a_values": list(PARETO.a),
    "b_values": list(PARETO.b),
    "floors": list(PARETO.floors),
    "a": NEIGHBORS.min_neighbors,
    "b": NEIGHBORS.max_share,
    "draws": PARETO.draws,
    "seed": PARETO.seed,
}


# ---- table 2: trained on one data set, scored on another


rule estimate_cross_task:
    input:
        source=[f"results/ratings/{{source}}/{name}.csv" for name in ("texts", "ratings")],
        target=[f"results/ratings/{{target}}/{name}.csv" for name in ("texts", "ratings")],
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
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        taus={kernel: SETTINGS.taus()[kernel] for kernel in BLEU.kernels},
        code=code("estimate_cross_task.py", *map(module, BLEU.kernels)),
    script:
        "../scripts/estimate_cross_task.py"


rule tabulate_bleu_neighbors_table2:
    input:
        ratings=ratings(*TASKS),
        estimates=there("results/cross_task/{source}.{target}.csv", source=TASKS, target=TASKS),
        published=beside("resources/published/bleu_neighbors_table2.csv"),
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
        taus={kernel: SETTINGS.taus()[kernel] for kernel in BLEU.kernels},
        missing=missing("results/cross_task/{source}.{target}.csv", source=TASKS, target=TASKS),
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
        taus=SETTINGS.taus(),
        kernel=BLEU.kernels[0],
        neighbors=NEIGHBORS.huse.neighbors,
        missing=missing("results/huse/{task}.csv", task=SETTINGS.tasks("huse")),
        code=code("tabulate_bleu_neighbors_huse.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_huse.py"


# ---- the ablation: one change at a time


rule compute_ablation:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        resources=lambda wildcards: resource_files(*ablation_kernels(wildcards)),
    output:
        "results/ablation/{task}/{part}.npz",
    log:
        "results/logs/compute_ablation/{task}/{part}.log",
    benchmark:
        "results/benchmarks/compute_ablation/{task}/{part}.tsv"
    conda:
        lambda wildcards: environment(wildcards.part)
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        kernels=ablation_kernels,
        own_encoders=lambda wildcards: own_encoders(*ablation_kernels(wildcards)),
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
        numbers=there("results/ablation/{task}/{part}.npz", task=TASKS, part=ablation_parts()),
        baselines=there("results/baselines/{task}.npz", task=TASKS),
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
        baselines=BASELINES,
        draws=ABLATION.draws,
        missing=missing("results/ablation/{task}/{part}.npz", task=TASKS, part=ablation_parts())
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
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        resources=lambda wildcards: resource_files(wildcards.kernel),
    output:
        "results/pareto/{task}/{kernel}.npz",
    log:
        "results/logs/compute_pareto_sums/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_pareto_sums/{task}/{kernel}.tsv"
    conda:
        lambda wildcards: environment(wildcards.kernel)
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        options=lambda wildcards: kernel_options(wildcards.kernel)[wildcards.kernel],
        own_encoders=lambda wildcards: own_encoders(wildcards.kernel),
        settings=lambda wildcards: {
            model["kernel"]: model["settings"] | {"parts": pareto_deals()[wildcards.task]["parts"]}
            for model in pareto_models().values()
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
        deals=pareto_deals(),
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


# ---- essays: table 3 and beyond; agreement --------------------------------------------------------

ESSAYS = NEIGHBORS.essays
ESSAY_TASKS = SETTINGS.tasks("essays")  # one at most
ESSAY_OPTIONS = SETTINGS.data[ESSAY_TASKS[0]].options if ESSAY_TASKS else {}
ESSAY_SUM_SETTINGS = {
    "selection": {
        "test_set": ESSAYS.test_set,
        "fewest": ESSAYS.sentences.fewest,
        "most": ESSAYS.sentences.most,
    },
    "recipe": {
        "reading": "quoted" if ESSAY_OPTIONS.get("quoting", True) else "unquoted",
        "sentences": ESSAYS.sentences.rule,
        "cut": ESSAYS.cut,
        "raters": ESSAY_OPTIONS.get("raters", "both"),
        "kernel": ESSAYS.kernel,
        "tau": ESSAYS.tau,
        "means": ESSAYS.means,
    },
}
ESSAY_SETTINGS = {
    **ESSAY_SUM_SETTINGS,
    "changes": ESSAYS.sensitivity.model_dump(),
    "left_out": ESSAYS.left_out,
}
ESSAY_THRESHOLDS = {"a": ESSAYS.min_neighbors, "b": ESSAYS.max_share, **BOOTSTRAP}
ESSAY_KERNELS = sorted({module(k) for k in [ESSAYS.kernel, *ESSAYS.sensitivity.kernel]})


# The names are wildcards, since a rule without any goes before: the one that takes shipped files.
if ESSAY_TASKS:

    rule predict_essays:
        input:
            ratings=ratings(*ESSAY_TASKS),
            raw=list(raw_files(ESSAY_TASKS[0]).values()),
        output:
            "results/essays/{name}.csv",
        log:
            "results/logs/predict_essays/{name}.log",
        benchmark:
            "results/benchmarks/predict_essays/{name}.tsv"
        wildcard_constraints:
            name="estimates",
        conda:
            "../../envs/refless.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            loader=SETTINGS.data[ESSAY_TASKS[0]].loader,
            files=raw_files(ESSAY_TASKS[0]),
            options=ESSAY_OPTIONS,
            settings=ESSAY_SETTINGS,
            code=code(
                "predict_essays.py",
                f"data/sources/{SETTINGS.data[ESSAY_TASKS[0]].loader}.py",
                *ESSAY_KERNELS,
            ),
        script:
            "../scripts/predict_essays.py"

    rule sum_essay_sets:
        input:
            ratings=ratings(*ESSAY_TASKS),
        output:
            "results/essays/{name}.csv",
        log:
            "results/logs/sum_essay_sets/{name}.log",
        benchmark:
            "results/benchmarks/sum_essay_sets/{name}.tsv"
        wildcard_constraints:
            name="set_sums",
        conda:
            "../../envs/refless.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            settings=ESSAY_SUM_SETTINGS,
            code=code("sum_essay_sets.py", module(ESSAYS.kernel)),
        script:
            "../scripts/sum_essay_sets.py"


rule tabulate_bleu_neighbors_table3:
    input:
        ratings=ratings(*ESSAY_TASKS),
        estimates=there("results/essays/estimates.csv"),
        published=beside("resources/published/bleu_neighbors_table3.csv"),
    output:
        table("bleu_neighbors_table3"),
        table("bleu_neighbors_table3_williams"),
        table("bleu_neighbors_table3_sensitivity"),
    log:
        "results/logs/tabulate_bleu_neighbors_table3.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_table3.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*ESSAY_TASKS),
        settings=ESSAY_SETTINGS,
        thresholds=ESSAY_THRESHOLDS,
        missing=missing("results/essays/estimates.csv"),
        code=code("tabulate_bleu_neighbors_table3.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_table3.py"


rule tabulate_bleu_neighbors_essays:
    input:
        ratings=ratings(*ESSAY_TASKS),
        sums=there("results/essays/set_sums.csv"),
    output:
        table("bleu_neighbors_essays"),
    log:
        "results/logs/tabulate_bleu_neighbors_essays.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_essays.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*ESSAY_TASKS),
        settings=ESSAY_SUM_SETTINGS,
        thresholds=ESSAY_THRESHOLDS,
        missing=missing("results/essays/set_sums.csv"),
        code=code("tabulate_bleu_neighbors_essays.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_essays.py"


rule plot_bleu_neighbors_essays:
    input:
        "results/tables/bleu_neighbors_essays.csv",
        "results/tables/bleu_neighbors_essays.json",
    output:
        figure("bleu_neighbors_essays"),
    log:
        "results/logs/plot_bleu_neighbors_essays.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_essays.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        selection=ESSAY_SUM_SETTINGS["selection"],
        code=code("plot_bleu_neighbors_essays.py"),
    script:
        "../scripts/plot_bleu_neighbors_essays.py"
