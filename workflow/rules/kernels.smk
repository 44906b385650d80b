# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>.npz, matrix and signature.


# One rule a family of kernels, so that an edited module rebuilds its own kernels and no others.
for FAMILY, VARIANTS in kernel_families().items():

    rule:
        name:
            f"compute_{FAMILY}_kernels"
        input:
            texts="results/ratings/{task}/texts.csv",
            about="results/ratings/{task}/about.json",
            wordnet=wordnet_files(FAMILY),
            code=code("compute_kernels.py", f"kernels/{FAMILY}"),
        output:
            [f"results/kernels/{{task}}/{kernel}.npz" for kernel in VARIANTS],
        log:
            f"results/logs/compute_kernels/{{task}}/{FAMILY}.log",
        benchmark:
            f"results/benchmarks/compute_kernels/{{task}}/{FAMILY}.tsv"
        conda:
            "../../envs/refless.yaml"
        threads: 2
        params:
            kernels=VARIANTS,
            wordnet=wordnet_option(FAMILY),
        shell:
            "python workflow/scripts/compute_kernels.py {params.kernels}"
            " --ratings results/ratings/{wildcards.task} {params.wordnet} --threads {threads}"
            " --out results/kernels/{wildcards.task} --log {log}"


# For the maintainers: renew the numbers that come with refless. It has no output of its own, so it
# runs whenever it is asked for.
rule ship:
    input:
        shippable_files,
        code=code("ship.py"),
    log:
        "results/logs/ship.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        commands=ship_commands,
    shell:
        "( {params.commands} ) > {log} 2>&1"
