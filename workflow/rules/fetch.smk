# Stage: fetch. In: a mirror, a folder of files placed by hand, or public URLs. Out: raw files under
# resources/data, each with a note in results/verified that its sum is right. Encoders likewise.


# No code among the inputs: an edited script is no reason to fetch again what is verified.
rule fetch_source:
    output:
        "resources/data/{path}",
    log:
        "results/logs/fetch_source/{path}.log",
    benchmark:
        "results/benchmarks/fetch_source/{path}.tsv"
    wildcard_constraints:
        path="|".join(re.escape(path) for path in SOURCES),
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/fetch_source.py {wildcards.path} --log {log}"


# A step of its own, so that a file that was put there by hand is checked as well.
rule verify_source:
    input:
        raw="resources/data/{path}",
        by_hand=placed_by_hand,
        sources="resources/sources.csv",
        members="resources/sources_members.csv",
        code=code("verify_source.py"),
    output:
        "results/verified/{path}.json",
    log:
        "results/logs/verify_source/{path}.log",
    benchmark:
        "results/benchmarks/verify_source/{path}.tsv"
    wildcard_constraints:
        path="|".join(re.escape(path) for path in SOURCES),
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/verify_source.py {wildcards.path}"
        " --by-hand {input.by_hand} --out {output} --log {log}"


# A model's folder, whole, and the sums of its files as they were when it was fetched.
rule fetch_encoder:
    output:
        "resources/data/models/{model}/sums.json",
    log:
        "results/logs/fetch_encoder/{model}.log",
    benchmark:
        "results/benchmarks/fetch_encoder/{model}.tsv"
    wildcard_constraints:
        model=r"[\w.-]+",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/fetch_encoder.py {wildcards.model} --log {log}"


rule verify_encoder:
    input:
        sums="resources/data/models/{model}/sums.json",
        code=code("verify_encoder.py"),
    output:
        "results/verified/models/{model}.json",
    log:
        "results/logs/verify_encoder/{model}.log",
    benchmark:
        "results/benchmarks/verify_encoder/{model}.tsv"
    wildcard_constraints:
        model=r"[\w.-]+",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/verify_encoder.py {wildcards.model} --out {output} --log {log}"
