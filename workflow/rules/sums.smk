# Stage: kernel. In: texts and ratings of a task that is too large for kernel matrices
# (`bleu_neighbors.streamed`). Out: results/sums/<task>/<kernel>.npz, for each text the number and
# the sum of its neighbors at the model's tau, signed.

# Over as many jobs as kernels (`set-scatter: kernel=8`): shards are candidates, whose rows are put
# one after the other.
for FAMILY, VARIANTS in kernel_families().items():

    rule:
        name:
            f"sum_{FAMILY}_neighbors"
        input:
            texts="results/ratings/{task}/texts.csv",
            ratings="results/ratings/{task}/ratings.csv",
            about="results/ratings/{task}/about.json",
            wordnet=wordnet_files(FAMILY),
            code=code("sum_neighbors.py", f"kernels/{FAMILY}"),
        output:
            kernel_outputs(FAMILY, "results/sums/{task}")
            if SHARDS == 1
            else temporary(
                kernel_outputs(FAMILY, "results/shards/sums/{task}/{scatteritem}")
            ),
        log:
            f"results/logs/sum_neighbors/{{task}}/{FAMILY}.log"
            if SHARDS == 1
            else f"results/logs/sum_neighbors/{{task}}/{FAMILY}.{{scatteritem}}.log",
        benchmark:
            (
                f"results/benchmarks/sum_neighbors/{{task}}/{FAMILY}.tsv"
                if SHARDS == 1
                else f"results/benchmarks/sum_neighbors/{{task}}/{FAMILY}.{{scatteritem}}.tsv"
            )
        conda:
            "../../envs/refless.yaml"
        threads: 8
        params:
            kernels=VARIANTS,
            taus=as_json(family_taus(FAMILY)),
            wordnet=wordnet_option(FAMILY),
            shard="" if SHARDS == 1 else "--shard {scatteritem}",
            out=first_directory,
        shell:
            "python workflow/scripts/sum_neighbors.py {params.kernels} --taus {params.taus}"
            " --ratings results/ratings/{wildcards.task} {params.wordnet} {params.shard}"
            " --threads {threads} --out {params.out} --log {log}"

    if SHARDS > 1:

        rule:
            name:
                f"gather_{FAMILY}_sums"
            input:
                shards=shard_inputs(FAMILY, "sums"),
                code=code("gather_kernels.py"),
            output:
                kernel_outputs(FAMILY, "results/sums/{task}"),
            log:
                f"results/logs/gather_sums/{{task}}/{FAMILY}.log",
            conda:
                "../../envs/refless.yaml"
            params:
                kernels=VARIANTS,
                directories=shard_directories,
                out=first_directory,
            shell:
                "python workflow/scripts/gather_kernels.py {params.kernels}"
                " --shards {params.directories} --out {params.out} --log {log}"
