# Stage: ratings. In: verified raw files. Out: results/ratings/<task>, the tidy tables.


rule normalize_ratings:
    input:
        raw=raw_files,
        verified=verified_files,
        code=loader_code,
    output:
        texts="results/ratings/{task}/texts.csv",
        ratings="results/ratings/{task}/ratings.csv",
        about="results/ratings/{task}/about.json",
        malformed="results/ratings/{task}/malformed.txt",
    log:
        "results/logs/normalize_ratings/{task}.log",
    benchmark:
        "results/benchmarks/normalize_ratings/{task}.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        files=loader_files,
        options=loader_options,
        malformed=config["malformed_rows"],
    shell:
        "python workflow/scripts/normalize_ratings.py {wildcards.task} {params.files}"
        " --options {params.options} --malformed {params.malformed}"
        " --out results/ratings/{wildcards.task} --log {log}"
