# Stage: report. In: every table and figure. Out: results/report.html, results/run.
OF_PAPERS = [name for names in PAPERS.values() for name in names if catalogue()[name].table]
CLAIMS = read_claims(ROOT / "resources/published/claims.yaml")
CLAIMED = list(dict.fromkeys(claim["table"] for claim in CLAIMS))


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
        code=code("tabulate_reproducibility.py", shows=["reproducibility", "reproducibility_cells"]),
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
        names={style["published"]: dataset for dataset, style in STYLES.items() if style["published"]},
        code=code("tabulate_claims.py"),
    script:
        "../scripts/tabulate_claims.py"


rule make_report:
    input:
        texts=available("results/ratings/{dataset}/texts.csv", dataset=list(SETTINGS.data)),
        shown=item_files(*catalogue()),
        readme=repo_path("README.md"),
        numbers=repo_path("resources/numbers.yaml"),
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
        digest=PLAN.digest_of_findings(),
        code=code("make_report.py", "report/report.html", "report/style.css", "report/table.js"),
    script:
        "../scripts/make_report.py"


rule report:
    input:
        "results/report.html",


# More targets: a paper's items, and each item that no rule is named after.
MADE = {rule.name for rule in workflow.rules}  # prefixed, where this is a module
UNMADE = [name for name in catalogue() if workflow.modifier.modify_rulename(name) not in MADE]
for NAME, ITEMS in {**{name: [name] for name in UNMADE}, **PAPERS}.items():

    rule:
        name:
            NAME
        input:
            item_files(*ITEMS),


# By another name: `make` is this without network.
rule quickstart:
    input:
        "results/report.html",
