# ΔBLEU. Stage: cell, table, figure. In: rated responses, or shipped numbers of them. Out:
# results/delta_bleu (numbers without text), results/tables and results/figures of ΔBLEU.


rule score_delta_bleu:
    input:
        ratings="results/ratings/{task}/texts.csv",
        judged="results/ratings/{task}/ratings.csv",
        about="results/ratings/{task}/about.json",
        gold=delta_bleu_gold,
        code=code("score_delta_bleu.py"),
    output:
        units="results/delta_bleu/{task}/units.csv",
        about_units="results/delta_bleu/{task}/units.json",
        tests="results/delta_bleu/{task}/tests.csv",
        about_tests="results/delta_bleu/{task}/tests.json",
    log:
        "results/logs/score_delta_bleu/{task}.log",
    benchmark:
        "results/benchmarks/score_delta_bleu/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 8
    params:
        gold=delta_bleu_gold_option,
        settings=delta_bleu_task_settings,
    shell:
        "python workflow/scripts/score_delta_bleu.py --ratings $(dirname {input.ratings})"
        " {params.gold} --settings {params.settings} --threads {threads}"
        " --out {output.units} --tests {output.tests} --log {log}"


rule predict_delta_bleu:
    input:
        ratings=predictor_ratings,
        wordnet=predictor_wordnet,
        code=code("predict_delta_bleu.py", *predictor_kernel_modules()),
    output:
        csv="results/delta_bleu/{task}/predictor.csv",
        json="results/delta_bleu/{task}/predictor.json",
    log:
        "results/logs/predict_delta_bleu/{task}.log",
    benchmark:
        "results/benchmarks/predict_delta_bleu/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 8
    params:
        references=predictor_references_option,
        wordnet=predictor_wordnet_option,
        settings=predictor_task_settings,
    shell:
        "python workflow/scripts/predict_delta_bleu.py --ratings results/ratings/{wildcards.task}"
        " {params.references} {params.wordnet} --settings {params.settings} --out {output.csv} --log {log}"


rule tabulate_delta_bleu_table2:
    input:
        numbers=delta_bleu_unit_numbers,
        published="resources/published/delta_bleu_table2.csv",
        code=code("tabulate_delta_bleu_table2.py"),
    output:
        csv="results/tables/delta_bleu_table2.csv",
        md="results/tables/delta_bleu_table2.md",
        tests="results/tables/delta_bleu_table2_tests.csv",
    log:
        "results/logs/tabulate_delta_bleu_table2.log",
    benchmark:
        "results/benchmarks/tabulate_delta_bleu_table2.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=delta_bleu_units_option,
        absent=delta_bleu_units_absent,
        settings=delta_bleu_all_settings(),
    shell:
        "python workflow/scripts/tabulate_delta_bleu_table2.py {params.numbers}"
        " --absent {params.absent} --settings {params.settings} --published {input.published}"
        " --out {output.csv} --log {log}"


rule plot_delta_bleu_figure2:
    input:
        numbers=delta_bleu_unit_numbers,
        code=code("plot_delta_bleu_figure2.py"),
    output:
        svg=report(
            "results/figures/delta_bleu_figure2.svg",
            caption="../report/delta_bleu_figure2.rst",
            category="Discriminative BLEU",
            labels={"item": "figure 2", "content": "threshold, unit size, order"},
        ),
        others=multiext("results/figures/delta_bleu_figure2", ".pdf", ".png"),
    log:
        "results/logs/plot_delta_bleu_figure2.log",
    benchmark:
        "results/benchmarks/plot_delta_bleu_figure2.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=delta_bleu_units_option,
        settings=delta_bleu_all_settings(),
    shell:
        "python workflow/scripts/plot_delta_bleu_figure2.py {params.numbers}"
        " --settings {params.settings} --out results/figures/delta_bleu_figure2 --log {log}"


rule tabulate_delta_bleu_predictor:
    input:
        numbers=delta_bleu_predictor_numbers,
        code=code("tabulate_delta_bleu_predictor.py"),
    output:
        csv="results/tables/delta_bleu_predictor.csv",
        md="results/tables/delta_bleu_predictor.md",
    log:
        "results/logs/tabulate_delta_bleu_predictor.log",
    benchmark:
        "results/benchmarks/tabulate_delta_bleu_predictor.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=delta_bleu_predictor_option,
        absent=delta_bleu_predictor_absent,
        missing=predictor_missing(),
        settings=predictor_all_settings(),
    shell:
        "python workflow/scripts/tabulate_delta_bleu_predictor.py {params.numbers}"
        " --absent {params.absent} --missing {params.missing} --settings {params.settings} --out {output.csv} --log {log}"
