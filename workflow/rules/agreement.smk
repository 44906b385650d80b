# Every published cell of tables 1 to 3 once. Stage: table. In: the finished tables. Out: how many
# cells are equal, inside the interval, outside, not available; and each cell with its reason.


rule tabulate_bleu_neighbors_agreement:
    input:
        tables=agreement_tables(),
        published=agreement_published(),
        code=code("tabulate_bleu_neighbors_agreement.py"),
    output:
        csv="results/tables/bleu_neighbors_agreement.csv",
        cells="results/tables/bleu_neighbors_agreement_cells.csv",
        md="results/tables/bleu_neighbors_agreement.md",
    log:
        "results/logs/tabulate_bleu_neighbors_agreement.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_agreement.tsv"
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_agreement.py --tables {input.tables}"
        " --published {input.published} --out {output.csv} --log {log}"
