# Stage: fetch, ratings. In: a mirror, files placed by hand, or public URLs. Out: raw files under
# resources/data, and results/ratings/<dataset>, the tidy tables. Whoever reads a raw file verifies it.


# A command and no script: what is older than its script would be deleted and fetched again.
rule fetch_source:
    output:
        "resources/data/{path}",
    log:
        "results/logs/fetch_source/{path}.log",
    wildcard_constraints:
        path="|".join(re.escape(path) for path in PLAN.sources),
    priority: 100
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python -m refless.fetch {wildcards.path:q} 2> {log:q}"


rule normalize_ratings:
    input:
        lambda wildcards: list(map(PLAN.raw_path, SETTINGS.data[wildcards.dataset].files.values())),
    output:
        texts="results/ratings/{dataset}/texts.csv",
        ratings="results/ratings/{dataset}/ratings.csv",
        records=["results/ratings/{dataset}/texts.json", "results/ratings/{dataset}/ratings.json"],
    log:
        "results/logs/normalize_ratings/{dataset}.log",
    priority: 100
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        entry=lambda wildcards: SETTINGS.data[wildcards.dataset].model_dump(
            include={"loader", "files", "options"}
        ),
        sums=lambda wildcards: PLAN.sums(wildcards.dataset),
        rated_for=lambda wildcards: SETTINGS.needs_ratings(wildcards.dataset),
        code=lambda wildcards: code("normalize_ratings.py", reader(wildcards.dataset)),
    script:
        "../scripts/normalize_ratings.py"


# Every download, and nothing else, for compute nodes without network. It says what it cannot get.
rule fetch:
    log:
        "results/logs/fetch.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        names=PLAN.downloads(),
    shell:
        "python -m refless.fetch --keep-going {params.names:q} 2> {log:q}"


# For maintainers: renew what comes with refless. Without output, it runs whenever it is asked for.
rule ship:
    input:
        "results/report.html",
    log:
        "results/logs/ship.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        digests=lambda wildcards: PLAN.shippable(),
        findings=PLAN.digest_of_findings(),
        workflow=repo_path("."),
    script:
        "../scripts/ship.py"
