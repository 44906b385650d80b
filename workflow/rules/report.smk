# Stage: report. In: every table and figure. Out: results/report.html, and what the run came from
# (results/run).


from refless.experiments.reproducibility.claims import read_claims

# What a page is made of, besides code.
PAGE_FILES = [
    f"report/{name}" for name in ("base.html", "parts.html", "report.html", "style.css", "table.js")
]


# Published numbers beside ours, over the tables of all papers.
rule tabulate_reproducibility:
    input:
        tables=[
            f"results/tables/{name}.csv"
            for names in papers().values()
            for name in names
            if catalogue()[name].table
        ],
        records=[
            f"results/tables/{name}.json"
            for names in papers().values()
            for name in names
            if catalogue()[name].table
        ],
    output:
        table("reproducibility"),
        table("reproducibility_cells"),
    log:
        "results/logs/tabulate_reproducibility.log",
    benchmark:
        "results/benchmarks/tabulate_reproducibility.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("tabulate_reproducibility.py"),
    script:
        "../scripts/tabulate_reproducibility.py"


rule plot_reproducibility_cells:
    input:
        "results/tables/reproducibility_cells.csv",
    output:
        figure("reproducibility_cells"),
    log:
        "results/logs/plot_reproducibility_cells.log",
    benchmark:
        "results/benchmarks/plot_reproducibility_cells.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("plot_reproducibility_cells.py"),
    script:
        "../scripts/plot_reproducibility_cells.py"


# Whether the claims of the papers, and of the findings, hold.
CLAIMS = read_claims(ROOT / "resources/published/claims.yaml")
CLAIMED = list(dict.fromkeys(claim["table"] for claim in CLAIMS))


rule tabulate_claims:
    input:
        tables=[f"results/tables/{name}.csv" for name in CLAIMED],
        records=[f"results/tables/{name}.json" for name in CLAIMED],
    output:
        table("claims"),
    log:
        "results/logs/tabulate_claims.log",
    benchmark:
        "results/benchmarks/tabulate_claims.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        claims=CLAIMS,
        names={look["published"]: task for task, look in LOOKS.items() if look["published"]},
        code=code("tabulate_claims.py"),
    script:
        "../scripts/tabulate_claims.py"


rule make_report:
    input:
        texts=there("results/ratings/{task}/texts.csv", task=list(SETTINGS.data)),
        tables=[path for name in tables() for path in table(name)],
        figures=[path for name in figures() for path in figure(name)],
    output:
        page="results/report.html",
        provenance="results/run/provenance.json",
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings=SETTINGS.model_dump(mode="json"),
        numbers=NUMBERS,
        told=lambda wildcards: told_now(),
        code=code("make_report.py", *PAGE_FILES),
    script:
        "../scripts/make_report.py"


rule report:
    input:
        "results/report.html",


# One target for each table and figure, with what is made together with it.
for NAME in catalogue():

    rule:
        name:
            NAME
        input:
            item_files(NAME),


# And one for each paper.
for PAPER, NAMES in papers().items():

    rule:
        name:
            PAPER
        input:
            [path for name in NAMES for path in item_files(name)],


# The same items without network: shipped numbers where the raw data is not at hand.
rule quickstart:
    input:
        "results/report.html",
