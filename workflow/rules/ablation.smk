# Beyond the BLEU Neighbors paper. Stage: prediction, table, figure. In: rated texts, or shipped
# numbers of them. Out: results/ablation and results/pareto (numbers without text), tables, figures.


rule compute_ablation:
    input:
        ratings="results/ratings/{task}/texts.csv",
        about="results/ratings/{task}/about.json",
        resources=ablation_resources,
        code=ablation_code,
    output:
        "results/ablation/{task}/{part}.npz",
    log:
        "results/logs/compute_ablation/{task}/{part}.log",
    benchmark:
        "results/benchmarks/compute_ablation/{task}/{part}.tsv"
    wildcard_constraints:
        part=r"[a-z][A-Za-z0-9._-]*",
    conda:
        ablation_environment
    threads: 8
    params:
        settings=ablation_settings(),
        options=ablation_options,
    shell:
        "HF_HUB_OFFLINE=1 python workflow/scripts/compute_ablation.py --ratings $(dirname {input.ratings})"
        " --settings {params.settings} {params.options} --threads {threads}"
        " --out {output} --log {log}"


rule tabulate_bleu_neighbors_ablation:
    input:
        numbers=ablation_numbers,
        extra=ablation_extra,
        code=code(
            "tabulate_bleu_neighbors_ablation.py",
            *ablation_modules(ABLATION["kernels"]),
        ),
    output:
        csv="results/tables/bleu_neighbors_ablation.csv",
        md="results/tables/bleu_neighbors_ablation.md",
    log:
        "results/logs/tabulate_bleu_neighbors_ablation.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_ablation.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=ABLATION["tasks"],
        absent=ablation_absent,
        missing=ablation_missing,
        settings=ablation_settings(),
        draws=ABLATION["draws"],
        seed=ABLATION["seed"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_ablation.py --tasks {params.tasks}"
        " --numbers {input.numbers} --extra {input.extra}"
        " --absent {params.absent} --missing {params.missing} --settings {params.settings}"
        " --draws {params.draws} --seed {params.seed} --out {output.csv} --log {log}"


rule plot_bleu_neighbors_ablation:
    input:
        table="results/tables/bleu_neighbors_ablation.csv",
        code=code("plot_bleu_neighbors_ablation.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_ablation.svg",
            caption="../report/bleu_neighbors_ablation.rst",
            category="BLEU Neighbors",
            labels={
                "item": "beyond the paper",
                "content": "one change at a time, drawn",
            },
        ),
        others=multiext("results/figures/bleu_neighbors_ablation", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_ablation.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_ablation.tsv"
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/plot_bleu_neighbors_ablation.py {input.table}"
        " --out results/figures/bleu_neighbors_ablation --log {log}"


rule compute_pareto_sums:
    input:
        ratings="results/ratings/{task}/texts.csv",
        about="results/ratings/{task}/about.json",
        resources=pareto_resources,
        code=pareto_code,
    output:
        "results/pareto/{task}/{kernel}.npz",
    log:
        "results/logs/compute_pareto_sums/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_pareto_sums/{task}/{kernel}.tsv"
    wildcard_constraints:
        kernel=r"[a-z][A-Za-z0-9._-]*",
    conda:
        pareto_environment
    threads: 8
    params:
        settings=pareto_sums_settings,
        resources=pareto_resource_options,
    shell:
        "HF_HUB_OFFLINE=1 python workflow/scripts/compute_pareto_sums.py {wildcards.kernel}"
        " --ratings $(dirname {input.ratings}) --settings {params.settings} {params.resources}"
        " --threads {threads} --out {output} --log {log}"


rule tabulate_bleu_neighbors_pareto:
    input:
        numbers=pareto_numbers,
        code=code("tabulate_bleu_neighbors_pareto.py", *pareto_modules()),
    output:
        csv="results/tables/bleu_neighbors_pareto.csv",
        md="results/tables/bleu_neighbors_pareto.md",
        front="results/curves/bleu_neighbors_pareto_front.csv",
    log:
        "results/logs/tabulate_bleu_neighbors_pareto.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_pareto.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=PARETO["tasks"],
        models=as_json(pareto_models()),
        made=as_json(pareto_made()),
        settings=pareto_settings(),
        missing=pareto_missing,
        folds=PARETO["folds"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_pareto.py --tasks {params.tasks}"
        " --numbers {input.numbers} --models {params.models} --made {params.made}"
        " --settings {params.settings} --missing {params.missing} --folds {params.folds}"
        " --front {output.front} --out {output.csv} --log {log}"


rule plot_bleu_neighbors_pareto:
    input:
        table="results/tables/bleu_neighbors_pareto.csv",
        front="results/curves/bleu_neighbors_pareto_front.csv",
        code=code("plot_bleu_neighbors_pareto.py"),
    output:
        svg=report(
            "results/figures/bleu_neighbors_pareto.svg",
            caption="../report/bleu_neighbors_pareto.rst",
            category="BLEU Neighbors",
            labels={"item": "beyond the paper", "content": "thresholds, drawn"},
        ),
        others=multiext("results/figures/bleu_neighbors_pareto", ".pdf", ".png"),
    log:
        "results/logs/plot_bleu_neighbors_pareto.log",
    benchmark:
        "results/benchmarks/plot_bleu_neighbors_pareto.tsv"
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/plot_bleu_neighbors_pareto.py {input.table} {input.front}"
        " --out results/figures/bleu_neighbors_pareto --log {log}"
