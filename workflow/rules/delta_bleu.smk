# Discriminative BLEU (Galley et al., 2015). Stage: cell, table, figure. In: rated responses. Out:
# results/delta_bleu (numbers without text), and the tables and figure of ΔBLEU.


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
