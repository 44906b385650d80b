# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>.npz: the matrix, or, of a
# data set that is `streamed`, the numbers and sums of neighbors at the kernel's tau; signed.


# Over how many jobs a kernel is scattered is a matter of the machine: `set-scatter` in a profile.
scattergather:
    kernel=1,


SHARDS = gather.kernel("{scatteritem}")


def shard_files(wildcards):
    """The shards of a kernel; none where one job computes it whole."""
    shards = "results/shards/{task}/{kernel}/{{scatteritem}}.npz".format(**wildcards)
    return gather.kernel(shards) if len(SHARDS) > 1 else []


def kernel_parameters(wildcards):
    """What decides a kernel file, besides texts."""
    kernel = wildcards.kernel
    streamed = SETTINGS.data[wildcards.task].streamed
    return {
        "options": kernel_options(kernel)[kernel],
        "own_encoder": PLAN.own_encoder(kernel),
        "tau": SETTINGS.taus()[kernel] if streamed else None,
        "code": code("compute_kernel.py", module(kernel)),
    }


# What makes a kernel file must not hang on how many jobs it was spread over: else the same
# directory, run elsewhere, would compute it again. So one rule makes it, with shards or without,
# and the profiles tell Snakemake not to compare sets of inputs.
rule compute_kernel:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        resources=lambda wildcards: resource_files(wildcards.kernel),
        shards=shard_files,
    output:
        "results/kernels/{task}/{kernel}.npz",
    log:
        "results/logs/compute_kernel/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_kernel/{task}/{kernel}.tsv"
    conda:
        lambda wildcards: environment(wildcards.kernel)
    # a job of several threads would wait until as many cores are free at once, and a whole run has
    # more kernels than cores; for one of a large data set: --set-threads compute_kernel=8
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        decided_by=kernel_parameters,
    script:
        "../scripts/compute_kernel.py"


rule compute_shard:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        resources=lambda wildcards: resource_files(wildcards.kernel),
    output:
        temporary("results/shards/{task}/{kernel}/{scatteritem}.npz"),
    log:
        "results/logs/compute_shard/{task}/{kernel}/{scatteritem}.log",
    benchmark:
        "results/benchmarks/compute_shard/{task}/{kernel}/{scatteritem}.tsv"
    conda:
        lambda wildcards: environment(wildcards.kernel)
    threads: 8
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        decided_by=kernel_parameters,
    script:
        "../scripts/compute_kernel.py"


rule kernels:
    input:
        there(
            "results/kernels/{task}/{kernel}.npz",
            task=TASKS,
            kernel=SETTINGS.kernels(),
        ),
