# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>.npz: the matrix, or, of a
# data set that is `streamed`, the numbers and sums of neighbors at the kernel's tau; signed.


# Over how many jobs a kernel is scattered is a matter of the machine: `set-scatter` in a profile.
scattergather:
    kernel=1,


SHARDS = gather.kernel("{scatteritem}")


# What makes a kernel file must not hang on how many jobs it was spread over: else the same
# directory, run elsewhere, would compute it again. So the shards are no inputs of it; a list of
# them is, which may be empty.
rule compute_kernel:
    input:
        ratings=[f"results/ratings/{{task}}/{name}.csv" for name in ("texts", "ratings")],
        resources=lambda wildcards: resource_files(wildcards.kernel),
        shards="results/shards/{task}/{kernel}.txt",
    output:
        "results/kernels/{task}/{kernel}.npz",
    log:
        "results/logs/compute_kernel/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_kernel/{task}/{kernel}.tsv"
    conda:
        lambda wildcards: environment(wildcards.kernel)
    threads: 8 if len(SHARDS) == 1 else 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        decided_by=kernel_parameters,
    script:
        "../scripts/compute_kernel.py"


rule list_shards:
    input:
        shard_files,
    output:
        temporary("results/shards/{task}/{kernel}.txt"),
    log:
        "results/logs/list_shards/{task}/{kernel}.log",
    wildcard_constraints:
        kernel=r"[a-z][A-Za-z0-9._-]*",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "for shard in {input}; do echo $shard; done > {output} 2> {log}"


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
