# Section 5.3, annotators on all texts and on the covered ones. Stage: table. In: ratings and
# predictions of the tasks that are there. Out: results/tables of section 5.3.


rule tabulate_bleu_neighbors_section53:
    input:
        predictions=table1_predictions,
        ratings=table1_ratings,
        published="resources/published/bleu_neighbors_section53.csv",
        code=code("tabulate_bleu_neighbors_section53.py"),
    output:
        csv="results/tables/bleu_neighbors_section53.csv",
        md="results/tables/bleu_neighbors_section53.md",
    log:
        "results/logs/tabulate_bleu_neighbors_section53.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_section53.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=NEIGHBORS["tasks"],
        directories=table1_directories,
        models=table1_models,
        absent=table1_absent,
        missing=table1_missing_models,
        missing_kernels=table1_missing_kernels,
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_section53.py"
        " --tasks {params.tasks} --ratings {params.directories} --predictions {input.predictions}"
        " --published {input.published} --models {params.models} --absent {params.absent}"
        " --missing-models {params.missing} --missing-kernels {params.missing_kernels} --a {params.a} --b {params.b}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"
