# Table 3, essays. Stage: prediction, table, figure. In: rated essays, or shipped numbers of them.
# Out: results/essays (numbers without text), results/tables and results/figures of table 3.


rule predict_essays:
    input:
        ratings=f"results/ratings/{ESSAYS}/texts.csv",
        about=f"results/ratings/{ESSAYS}/about.json",
        raw=essay_raw_files(),
        verified=essay_verified_files(),
        code=code("predict_essays.py", "kernels/bleu", "sources/asap_sas"),
    output:
        csv="results/essays/estimates.csv",
        json="results/essays/estimates.json",
    log:
        "results/logs/predict_essays.log",
    benchmark:
        "results/benchmarks/predict_essays.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 4
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        files=essay_file_options(),
        malformed=config["malformed_rows"],
        settings=essay_settings("selection", "recipe", "changes", "left_out"),
    shell:
        "python workflow/scripts/predict_essays.py --ratings $(dirname {input.ratings})"
        " {params.files} --malformed {params.malformed} --settings {params.settings}"
        " --threads {threads} --out {output.csv} --log {log}"


rule sum_essay_sets:
    input:
        ratings=f"results/ratings/{ESSAYS}/texts.csv",
        about=f"results/ratings/{ESSAYS}/about.json",
        code=code("sum_essay_sets.py", "kernels/bleu"),
    output:
        csv="results/essays/set_sums.csv",
        json="results/essays/set_sums.json",
    log:
        "results/logs/sum_essay_sets.log",
    benchmark:
        "results/benchmarks/sum_essay_sets.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        settings=essay_settings("selection", "recipe"),
    shell:
        "python workflow/scripts/sum_essay_sets.py --ratings $(dirname {input.ratings})"
        " --settings {params.settings} --threads {threads} --out {output.csv} --log {log}"


rule tabulate_bleu_neighbors_table3:
    input:
        estimates=essay_estimates,
        published="resources/published/bleu_neighbors_table3.csv",
        code=code("tabulate_bleu_neighbors_table3.py"),
    output:
        csv="results/tables/bleu_neighbors_table3.csv",
        md="results/tables/bleu_neighbors_table3.md",
        williams="results/tables/bleu_neighbors_table3_williams.csv",
        sensitivity="results/tables/bleu_neighbors_table3_sensitivity.csv",
        sensitivity_md="results/tables/bleu_neighbors_table3_sensitivity.md",
    log:
        "results/logs/tabulate_bleu_neighbors_table3.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_table3.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=essay_estimates_option,
        settings=essay_settings("selection", "recipe", "changes", "left_out"),
        a=NEIGHBORS["essays"]["min_neighbors"],
        b=NEIGHBORS["essays"]["max_share"],
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_table3.py {params.numbers}"
        " --published {input.published} --settings {params.settings} --a {params.a} --b {params.b}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"


rule tabulate_bleu_neighbors_essays:
    input:
        sums=essay_set_sums,
        code=code("tabulate_bleu_neighbors_essays.py"),
    output:
        csv="results/tables/bleu_neighbors_essays.csv",
        md="results/tables/bleu_neighbors_essays.md",
    log:
        "results/logs/tabulate_bleu_neighbors_essays.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_essays.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=essay_set_sums_option,
        settings=essay_settings("selection", "recipe"),
        a=NEIGHBORS["essays"]["min_neighbors"],
        b=NEIGHBORS["essays"]["max_share"],
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_essays.py {params.numbers}"
        " --settings {params.settings} --a {params.a} --b {params.b}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"


rule plot_bleu_neighbors_essays:
    input:
        table="results/tables/bleu_neighbors_essays.csv",
        code=code("plot_bleu_neighbors_essays.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_essays.svg",
            caption="../report/bleu_neighbors_essays.rst",
            category="BLEU Neighbors",
            labels={"item": "beyond table 3", "content": "every set of essays, drawn"},
        ),
        others=multiext("results/figures/bleu_neighbors_essays", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_essays.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_essays.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        sentences=NEIGHBORS["essays"]["sentences"],
    shell:
        "python workflow/scripts/plot_bleu_neighbors_essays.py {input.table}"
        " --fewest {params.sentences[fewest]} --most {params.sentences[most]}"
        " --out results/figures/bleu_neighbors_essays --log {log}"
