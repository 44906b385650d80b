# Stage: kernel. In: texts and ratings of a task that is too large for kernel matrices
# (`bleu_neighbors.streamed`). Out: results/sums/<task>/<kernel>.npz, for each text the number and
# the sum of its neighbors at the model's tau, signed.

# Over as many jobs as kernels (`set-scatter: kernel=8`): shards are candidates, whose rows are put
# one after the other.
for FAMILY, VARIANTS in kernel_groups().items():

    rule:
        name:
            f"sum_{FAMILY}_neighbors"
        input:
            texts="results/ratings/{task}/texts.csv",
            ratings="results/ratings/{task}/ratings.csv",
            about="results/ratings/{task}/about.json",
            resources=kernel_resources(VARIANTS),
            code=code("sum_neighbors.py", kernel_module(VARIANTS)),
        output:
            kernel_outputs(VARIANTS, "results/sums/{task}")
            if SHARDS == 1
            else temporary(
                kernel_outputs(VARIANTS, "results/shards/sums/{task}/{scatteritem}")
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
            environment_of(VARIANTS[0])
        threads: 8
        params:
            kernels=VARIANTS,
            taus=as_json(taus_of(VARIANTS)),
            resources=resource_options(VARIANTS),
            shard="" if SHARDS == 1 else "--shard {scatteritem}",
            out=first_directory,
        shell:
            "HF_HUB_OFFLINE=1 python workflow/scripts/sum_neighbors.py {params.kernels} --taus {params.taus}"
            " --ratings results/ratings/{wildcards.task} {params.resources} {params.shard}"
            " --threads {threads} --out {params.out} --log {log}"

    if SHARDS > 1:

        rule:
            name:
                f"gather_{FAMILY}_sums"
            input:
                shards=shard_inputs(VARIANTS, "sums"),
                code=code("gather_kernels.py"),
            output:
                kernel_outputs(VARIANTS, "results/sums/{task}"),
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
