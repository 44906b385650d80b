# HUSE itself. Stage: prediction, table. In: a HUSE batch item by item, or shipped numbers of it, and
# predictions. Out: results/huse (numbers without text), results/tables of HUSE.


rule collect_huse_items:
    input:
        texts="results/ratings/{task}/texts.csv",
        about="results/ratings/{task}/about.json",
        raw=raw_files,
        verified=verified_files,
        code=code("collect_huse_items.py", "sources/huse"),
    output:
        csv="results/huse/{task}/items.csv",
        json="results/huse/{task}/items.json",
    log:
        "results/logs/collect_huse_items/{task}.log",
    benchmark:
        "results/benchmarks/collect_huse_items/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        files=loader_files,
        options=loader_options,
        malformed=config["malformed_rows"],
    shell:
        "python workflow/scripts/collect_huse_items.py --ratings results/ratings/{wildcards.task}"
        " {params.files} --options {params.options} --malformed {params.malformed}"
        " --out {output.csv} --log {log}"


rule tabulate_bleu_neighbors_huse:
    input:
        numbers=huse_files,
        predictions=huse_predictions,
        abouts=huse_abouts,
        code=code("tabulate_bleu_neighbors_huse.py"),
    output:
        csv="results/tables/bleu_neighbors_huse.csv",
        md="results/tables/bleu_neighbors_huse.md",
    log:
        "results/logs/tabulate_bleu_neighbors_huse.log",
    benchmark:
        "results/benchmarks/tabulate_bleu_neighbors_huse.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        tasks=huse_tasks(),
        batches=huse_items,
        directories=huse_directories,
        absent=huse_absent,
        kernel=BLEU["kernels"][0],
        neighbors=NEIGHBORS["huse"]["neighbors"],
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_bleu_neighbors_huse.py --tasks {params.tasks}"
        " --items {params.batches} --predictions {input.predictions}"
        " --ratings {params.directories} --absent {params.absent}"
        " --kernel {params.kernel} --neighbors {params.neighbors}"
        " --a {params.a} --b {params.b}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"
