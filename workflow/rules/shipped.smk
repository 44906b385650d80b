# Stage: none. In: resources/shipped and what was trained here. Out: the same files in results, for
# runs that do not compute them. After this, nobody knows which it was, but for the `provenance`.
#
# One job a data set. The files taken are parameters, by sum, and no inputs: times in a fresh clone
# mean nothing. A rule without wildcards goes before one that computes the same file.
for GROUP, FILES in groups(SHIPPED[path] for path in PLAN.taken).items():

    rule:
        name:
            f"take_{GROUP}"
        output:
            [file.result for file in FILES],
        log:
            f"results/logs/take_shipped/{GROUP}.log",
        benchmark:
            f"results/benchmarks/take_shipped/{GROUP}.tsv"
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            sources=[file.source for file in FILES],
            sums=[file.sum for file in FILES],
            code=[file.code for file in FILES],
        script:
            "../scripts/take_shipped.py"


# For the maintainers: renew what comes with refless. It has no output of its own, so it runs
# whenever it is asked for.
rule ship:
    input:
        "results/report.html",
    log:
        "results/logs/ship.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        patterns=lambda wildcards: may_be_shipped(),
        out=beside("resources/shipped"),
    script:
        "../scripts/ship.py"
