# Stage: report. In: every table and figure. Out: results/report.html, and what the run came from
# (results/run).
from refless.experiments.reproducibility.claims import read_claims

OF_PAPERS = [name for names in PAPERS.values() for name in names if catalogue()[name].table]


# Published numbers beside ours, over the tables of all papers.
rule reproducibility:
    input:
        tables=[f"results/tables/{name}.csv" for name in OF_PAPERS],
        records=[f"results/tables/{name}.json" for name in OF_PAPERS],
    output:
        table("reproducibility"),
        table("reproducibility_cells"),
    log:
        "results/logs/reproducibility.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("tabulate_reproducibility.py"),
    script:
        "../scripts/tabulate_reproducibility.py"


rule reproducibility_cells:
    input:
        "results/tables/reproducibility_cells.csv",
    output:
        figure("reproducibility_cells"),
    log:
        "results/logs/reproducibility_cells.log",
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


rule claims:
    input:
        tables=[f"results/tables/{name}.csv" for name in CLAIMED],
        records=[f"results/tables/{name}.json" for name in CLAIMED],
    output:
        table("claims"),
    log:
        "results/logs/claims.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        claims=CLAIMS,
        names={look["published"]: task for task, look in LOOKS.items() if look["published"]},
        code=code("tabulate_claims.py"),
    script:
        "../scripts/tabulate_claims.py"


# What the report is filled into.
FORMS = [
    path
    for path in Path(LIBRARY, "refless/report").iterdir()
    if path.suffix in (".html", ".css", ".js")
]


rule make_report:
    input:
        texts=there("results/ratings/{task}/texts.csv", task=list(SETTINGS.data)),
        shown=[path for name in catalogue() for path in item_files(name)],
        readme=beside("README.md"),
        numbers=beside("resources/numbers.yaml"),
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
        code=code("make_report.py", *FORMS),
    script:
        "../scripts/make_report.py"


rule report:
    input:
        "results/report.html",


# A rule that makes an item has its name; the others, made together with one, are targets.
MADE = {rule.name for rule in workflow.rules}  # prefixed, where this is a module
for NAME in [name for name in catalogue() if workflow.modifier.modify_rulename(name) not in MADE]:

    rule:
        name:
            NAME
        input:
            item_files(NAME),


# And one for each paper.
for PAPER, NAMES in PAPERS.items():

    rule:
        name:
            PAPER
        input:
            [path for name in NAMES for path in item_files(name)],


# By another name: `make` is this without network.
rule quickstart:
    input:
        "results/report.html",
