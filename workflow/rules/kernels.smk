# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>.npz, matrix and signature.


rule compute_kernel:
    input:
        texts="results/ratings/{task}/texts.csv",
        about="results/ratings/{task}/about.json",
        wordnet=wordnet_files,
        code=kernel_code,
    output:
        "results/kernels/{task}/{kernel}.npz",
    log:
        "results/logs/compute_kernel/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_kernel/{task}/{kernel}.tsv"
    wildcard_constraints:
        kernel=r"[a-z][A-Za-z0-9._-]*",
    conda:
        "../../envs/refless.yaml"
    threads: 2
    params:
        wordnet=wordnet_option,
    shell:
        "python workflow/scripts/compute_kernel.py {wildcards.kernel}"
        " --ratings results/ratings/{wildcards.task} {params.wordnet} --threads {threads}"
        " --out {output} --log {log}"


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
