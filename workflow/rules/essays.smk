# Table 3 of BLEU Neighbors (essays), and the agreement of tables 1 to 3. Stage: prediction, table,
# figure. In: rated essays; finished tables. Out: results/essays (numbers without text), the tables.


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
        threads: 4
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            loader=SETTINGS.data[ESSAY_TASKS[0]].loader,
            files=raw_files(ESSAY_TASKS[0]),
            options=ESSAY_OPTIONS,
            malformed=SETTINGS.malformed_rows,
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
        threads: 8
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
        estimates=there("results/essays/estimates.csv"),
        published="resources/published/bleu_neighbors_table3.csv",
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
        settings=ESSAY_SETTINGS,
        thresholds=ESSAY_THRESHOLDS,
        missing=missing("results/essays/estimates.csv"),
        code=code("tabulate_bleu_neighbors_table3.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_table3.py"


rule tabulate_bleu_neighbors_essays:
    input:
        there("results/essays/set_sums.csv"),
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
        settings=ESSAY_SUM_SETTINGS,
        thresholds=ESSAY_THRESHOLDS,
        missing=missing("results/essays/set_sums.csv"),
        code=code("tabulate_bleu_neighbors_essays.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_essays.py"


rule plot_bleu_neighbors_essays:
    input:
        "results/tables/bleu_neighbors_essays.csv",
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


rule tabulate_bleu_neighbors_agreement:
    input:
        tables=[f"results/tables/{name}.csv" for name in AGREEMENT_TABLES],
        published=[f"resources/published/{name}.csv" for name in AGREEMENT_TABLES],
    output:
        table("bleu_neighbors_agreement"),
        table("bleu_neighbors_agreement_cells"),
    log:
        "results/logs/tabulate_bleu_neighbors_agreement.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_agreement.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        looks=looks(TASKS),
        code=code("tabulate_bleu_neighbors_agreement.py"),
    script:
        "../scripts/tabulate_bleu_neighbors_agreement.py"
