# Table 2, across tasks. Stage: prediction, table. In: rated texts of two tasks, or shipped numbers
# of them. Out: results/cross_task (numbers without text), results/tables of table 2.


rule estimate_cross_task:
    input:
        source="results/ratings/{source}/texts.csv",
        source_about="results/ratings/{source}/about.json",
        target="results/ratings/{target}/texts.csv",
        target_about="results/ratings/{target}/about.json",
        code=code("estimate_cross_task.py", "kernels/bleu"),
    output:
        csv="results/cross_task/{source}.{target}.csv",
        json="results/cross_task/{source}.{target}.json",
    log:
        "results/logs/estimate_cross_task/{source}.{target}.log",
    benchmark:
        "results/benchmarks/estimate_cross_task/{source}.{target}.tsv"
    wildcard_constraints:
        source="[a-z0-9_]+",
        target="[a-z0-9_]+",
    conda:
        "../../envs/refless.yaml"
    threads: 4
    params:
        kernels=BLEU["kernels"],
        tau=BLEU["tau"],
    shell:
        "python workflow/scripts/estimate_cross_task.py {params.kernels}"
        " --source $(dirname {input.source}) --target $(dirname {input.target})"
        " --tau {params.tau} --threads {threads} --out {output.csv} --log {log}"


rule tabulate_bleu_neighbors_table2:
    input:
        numbers=table2_files,
        abouts=table2_abouts,
        published="resources/published/bleu_neighbors_table2.csv",
        code=code("tabulate_bleu_neighbors_table2.py"),
    output:
        csv="results/tables/bleu_neighbors_table2.csv",
        md="results/tables/bleu_neighbors_table2.md",
    log:
        "results/logs/tabulate_bleu_neighbors_table2.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_table2.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=NEIGHBORS["tasks"],
        estimates=table2_estimates,
        directories=table2_directories,
        missing=table2_missing,
        kernels=as_json(BLEU["kernels"]),
        tau=BLEU["tau"],
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_table2.py --tasks {params.tasks}"
        " --estimates {params.estimates} --ratings {params.directories} --missing {params.missing}"
        " --kernels {params.kernels} --tau {params.tau} --published {input.published}"
        " --a {params.a} --b {params.b}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"
