# Stage: fetch, ratings. In: a mirror, files placed by hand, or public URLs. Out: raw files under
# resources/data, and results/ratings/<task>, the tidy tables. Whoever reads a raw file verifies it.


# A command and no script: what is older than its script would be deleted and fetched again.
rule fetch_source:
    input:
        placed_by_hand,
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
        "python -m refless.data.fetch {log:q} {wildcards.path:q}"


rule normalize_ratings:
    input:
        unpack(lambda wildcards: raw_files(wildcards.task)),
    output:
        texts="results/ratings/{task}/texts.csv",
        ratings="results/ratings/{task}/ratings.csv",
    log:
        "results/logs/normalize_ratings/{task}.log",
    benchmark:
        "results/benchmarks/normalize_ratings/{task}.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        loader=lambda wildcards: SETTINGS.data[wildcards.task].loader,
        options=lambda wildcards: SETTINGS.data[wildcards.task].options,
        files=lambda wildcards: raw_files(wildcards.task),
        raw=lambda wildcards: raw_sums(wildcards.task),
        rated_for=lambda wildcards: SETTINGS.needs_ratings(wildcards.task),
        code=lambda wildcards: code(
            "normalize_ratings.py",
            f"data/sources/{SETTINGS.data[wildcards.task].loader}.py",
        ),
    script:
        "../scripts/normalize_ratings.py"


# Every download, and nothing else: for the login node, before compute nodes without network. It says
# what it could not get, and goes on.
rule fetch:
    log:
        "results/logs/fetch.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        names=fetchable(),
    shell:
        "python -m refless.data.fetch {log:q} --keep-going {params.names:q}"


# Every data set that is there, as the tidy tables.
rule ratings:
    input:
        ratings(*SETTINGS.data),
