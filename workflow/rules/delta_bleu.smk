# Discriminative BLEU (Galley et al., 2015). Stage: cell, table, figure. In: rated responses. Out:
# results/delta_bleu (numbers without text), and the tables and figure of ΔBLEU.

PREDICTOR = SETTINGS.delta_bleu.predictor
# Those that ΔBLEU is compared with, as an estimate: the published kernel of each model.
PREDICTOR_KERNELS = [NEIGHBORS.models[name].kernels[0] for name in PREDICTOR.models]


rule score_delta_bleu:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        gold=lambda wildcards: (
            list(raw_files(wildcards.task).values())
            if unit_settings(wildcards.task)["gold"]
            else []
        ),
    output:
        units="results/delta_bleu/{task}/units.csv",
        tests="results/delta_bleu/{task}/tests.csv",
    log:
        "results/logs/score_delta_bleu/{task}.log",
    benchmark:
        "results/benchmarks/score_delta_bleu/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=lambda wildcards: unit_settings(wildcards.task),
        loader=lambda wildcards: SETTINGS.data[wildcards.task].loader,
        files=lambda wildcards: raw_files(wildcards.task),
        code=lambda wildcards: code(
            "score_delta_bleu.py",
            f"data/sources/{SETTINGS.data[wildcards.task].loader}.py",
        ),
    script:
        "../scripts/score_delta_bleu.py"


rule predict_delta_bleu:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        references=lambda wildcards: expand(
            "{folder}/{name}.csv",
            folder=predictor_references(wildcards),
            name=["texts", "ratings"],
        ),
        resources=lambda wildcards: resource_files(*predictor_settings(wildcards.task)["kernels"]),
    output:
        "results/delta_bleu/{task}/predictor.csv",
    log:
        "results/logs/predict_delta_bleu/{task}.log",
    benchmark:
        "results/benchmarks/predict_delta_bleu/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=lambda wildcards: predictor_settings(wildcards.task),
        options=lambda wildcards: kernel_options(*predictor_settings(wildcards.task)["kernels"]),
        own_encoders=own_encoders(*PREDICTOR_KERNELS),
        references=predictor_references,
        code=code("predict_delta_bleu.py", *map(module, PREDICTOR_KERNELS)),
    script:
        "../scripts/predict_delta_bleu.py"


rule tabulate_delta_bleu_table2:
    input:
        ratings=ratings(*SETTINGS.tasks("delta_bleu")),
        units=there("results/delta_bleu/{task}/units.csv", task=SETTINGS.tasks("delta_bleu")),
        tests=there("results/delta_bleu/{task}/tests.csv", task=SETTINGS.tasks("delta_bleu")),
        published=beside("resources/published/delta_bleu_table2.csv"),
    output:
        table("delta_bleu_table2"),
        tests=table("delta_bleu_table2_tests"),
    log:
        "results/logs/tabulate_delta_bleu_table2.log",
    benchmark:
        "results/benchmarks/tabulate_delta_bleu_table2.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*SETTINGS.tasks("delta_bleu")),
        looks=looks(SETTINGS.tasks("delta_bleu")),
        settings={task: unit_settings(task) for task in SETTINGS.tasks("delta_bleu")},
        missing=missing("results/delta_bleu/{task}/units.csv", task=SETTINGS.tasks("delta_bleu")),
        facts=SETTINGS.delta_bleu.model_dump(),
        code=code("tabulate_delta_bleu_table2.py"),
    script:
        "../scripts/tabulate_delta_bleu_table2.py"


rule plot_delta_bleu_figure2:
    input:
        ratings=ratings(*SETTINGS.tasks("delta_bleu")),
        units=there("results/delta_bleu/{task}/units.csv", task=SETTINGS.tasks("delta_bleu")),
    output:
        figure("delta_bleu_figure2"),
    log:
        "results/logs/plot_delta_bleu_figure2.log",
    benchmark:
        "results/benchmarks/plot_delta_bleu_figure2.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*SETTINGS.tasks("delta_bleu")),
        looks=looks(SETTINGS.tasks("delta_bleu")),
        settings={task: unit_settings(task) for task in SETTINGS.tasks("delta_bleu")},
        code=code("plot_delta_bleu_figure2.py"),
    script:
        "../scripts/plot_delta_bleu_figure2.py"


rule tabulate_delta_bleu_predictor:
    input:
        ratings=ratings(*SETTINGS.tasks("delta_bleu_predictor")),
        rows=there(
            "results/delta_bleu/{task}/predictor.csv",
            task=SETTINGS.tasks("delta_bleu_predictor"),
        ),
    output:
        table("delta_bleu_predictor"),
    log:
        "results/logs/tabulate_delta_bleu_predictor.log",
    benchmark:
        "results/benchmarks/tabulate_delta_bleu_predictor.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*SETTINGS.tasks("delta_bleu_predictor")),
        looks=looks(SETTINGS.tasks("delta_bleu_predictor")),
        settings={task: predictor_settings(task) for task in SETTINGS.tasks("delta_bleu_predictor")},
        kernels=PREDICTOR_KERNELS,
        missing=[
            *missing(
                "results/delta_bleu/{task}/predictor.csv",
                task=SETTINGS.tasks("delta_bleu_predictor"),
            ),
            *PLAN.lacking(PREDICTOR_KERNELS),
        ],
        facts=PREDICTOR.bootstrap.model_dump(),
        code=code("tabulate_delta_bleu_predictor.py"),
    script:
        "../scripts/tabulate_delta_bleu_predictor.py"
