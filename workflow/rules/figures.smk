# Stage: figure. In: curves of the tasks that are there. Out: results/figures, as PDF, SVG and PNG.
# Each figure has its own script among its inputs, so touching one rebuilds that figure alone.


rule plot_bleu_neighbors_figure2:
    input:
        curves=threshold_curves,
        code=code("plot_bleu_neighbors_figure2.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_figure2.svg",
            caption="../report/bleu_neighbors_figure2.rst",
            category="BLEU Neighbors",
            labels={"item": "figure 2", "content": "Spearman over the thresholds"},
        ),
        others=multiext("results/figures/bleu_neighbors_figure2", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_figure2.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_figure2.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
    shell:
        "python workflow/scripts/plot_bleu_neighbors_figure2.py {input.curves} --a {params.a}"
        " --b {params.b} --out results/figures/bleu_neighbors_figure2 --log {log}"


rule plot_bleu_neighbors_figure3:
    input:
        curves=threshold_curves,
        code=code("plot_bleu_neighbors_figure3.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_figure3.svg",
            caption="../report/bleu_neighbors_figure3.rst",
            category="BLEU Neighbors",
            labels={"item": "figure 3", "content": "coverage over the thresholds"},
        ),
        others=multiext("results/figures/bleu_neighbors_figure3", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_figure3.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_figure3.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
    shell:
        "python workflow/scripts/plot_bleu_neighbors_figure3.py {input.curves} --a {params.a}"
        " --b {params.b} --out results/figures/bleu_neighbors_figure3 --log {log}"


rule plot_bleu_neighbors_figure4:
    input:
        curves=data_size_curves,
        code=code("plot_bleu_neighbors_figure4.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_figure4.svg",
            caption="../report/bleu_neighbors_figure4.rst",
            category="BLEU Neighbors",
            labels={"item": "figure 4", "content": "performance over the data size"},
        ),
        others=multiext("results/figures/bleu_neighbors_figure4", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_figure4.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_figure4.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/plot_bleu_neighbors_figure4.py {input.curves}"
        " --out results/figures/bleu_neighbors_figure4 --log {log}"
