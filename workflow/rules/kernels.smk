# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>.npz, matrix and signature.


# Over how many jobs a kernel is scattered is a matter of the machine: `set-scatter` in a profile.
scattergather:
    kernel=1,


SHARDS = len(gather.kernel("{scatteritem}"))

# Rules a family of kernels, so that an edited module rebuilds its own kernels and no others. The
# hub's client is told to stay off the network: what is needed was fetched.
for FAMILY, VARIANTS in kernel_groups().items():

    rule:
        name:
            f"compute_{FAMILY}_kernels"
        input:
            texts="results/ratings/{task}/texts.csv",
            about="results/ratings/{task}/about.json",
            resources=kernel_resources(VARIANTS),
            code=code("compute_kernels.py", kernel_module(VARIANTS)),
        output:
            kernel_outputs(VARIANTS, "results/kernels/{task}")
            if SHARDS == 1
            else temporary(
                kernel_outputs(VARIANTS, "results/shards/kernels/{task}/{scatteritem}")
            ),
        log:
            f"results/logs/compute_kernels/{{task}}/{FAMILY}.log"
            if SHARDS == 1
            else f"results/logs/compute_kernels/{{task}}/{FAMILY}.{{scatteritem}}.log",
        benchmark:
            (
                f"results/benchmarks/compute_kernels/{{task}}/{FAMILY}.tsv"
                if SHARDS == 1
                else f"results/benchmarks/compute_kernels/{{task}}/{FAMILY}.{{scatteritem}}.tsv"
            )
        conda:
            environment_of(VARIANTS[0])
        threads: 8
        resources:
            mem_mb=4000,
            runtime=60,
        params:
            kernels=VARIANTS,
            resources=resource_options(VARIANTS),
            shard="" if SHARDS == 1 else "--shard {scatteritem}",
            out=first_directory,
        shell:
            "HF_HUB_OFFLINE=1 python workflow/scripts/compute_kernels.py {params.kernels}"
            " --ratings results/ratings/{wildcards.task} {params.resources} {params.shard}"
            " --threads {threads} --out {params.out} --log {log}"

    if SHARDS > 1:

        rule:
            name:
                f"gather_{FAMILY}_kernels"
            input:
                shards=shard_inputs(VARIANTS, "kernels"),
                code=code("gather_kernels.py"),
            output:
                kernel_outputs(VARIANTS, "results/kernels/{task}"),
            log:
                f"results/logs/gather_kernels/{{task}}/{FAMILY}.log",
            conda:
                "../../envs/refless.yaml"
            resources:
                mem_mb=4000,
                runtime=10,
            params:
                kernels=VARIANTS,
                directories=shard_directories,
                out=first_directory,
            shell:
                "python workflow/scripts/gather_kernels.py {params.kernels}"
                " --shards {params.directories} --out {params.out} --log {log}"
