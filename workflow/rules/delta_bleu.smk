# Discriminative BLEU (Galley et al., 2015). Stage: cell, table, figure. In: rated responses. Out:
# results/delta_bleu (numbers without text), and the table and figure of ΔBLEU.

DB_TASKS = SETTINGS.tasks("delta_bleu")


rule score_delta_bleu:
    input:
        RATINGS,
    output:
        multiext("results/delta_bleu/{dataset}/units", ".csv", ".json"),
    log:
        "results/logs/score_delta_bleu/{dataset}.log",
    conda:
        "../../envs/refless.yaml"
    params:
        settings=SETTINGS.delta_bleu.model_dump(),
        own=lambda wildcards: SETTINGS.data[wildcards.dataset].experiments.delta_bleu.model_dump(),
        code=code("score_delta_bleu.py"),
    script:
        "../scripts/score_delta_bleu.py"


use rule table_template as delta_bleu_table2 with:
    input:
        units=available("results/delta_bleu/{dataset}/units.csv", dataset=DB_TASKS),
        published=repo_path("resources/published/delta_bleu_table2.csv"),
    output:
        table("delta_bleu_table2"),
    log:
        "results/logs/delta_bleu_table2.log",
    params:
        arguments={"tasks": DB_TASKS},
        facts=SETTINGS.delta_bleu.model_dump(),
        datasets={dataset: NAMES[dataset] for dataset in DB_TASKS},
        missing=missing("results/delta_bleu/{dataset}/units.csv", dataset=DB_TASKS),
        code=code_of_table("delta_bleu_table2"),


use rule figure_template as delta_bleu_figure2 with:
    input:
        units=available("results/delta_bleu/{dataset}/units.csv", dataset=DB_TASKS),
        published=repo_path("resources/published/delta_bleu_table2.csv"),
    output:
        figure("delta_bleu_figure2"),
    log:
        "results/logs/delta_bleu_figure2.log",
    params:
        arguments={"datasets": {dataset: NAMES[dataset] for dataset in DB_TASKS}},
        code=code_of_figure("delta_bleu_figure2"),
