# Stage: report. In: every table and figure. Out: results/report.html, results/run.
REPORT_TABLES = [
    name for names in PAPERS.values() for name in names if catalogue()[name].tabulated_by
]
REPORT_CLAIMS = read_claims()
REPORT_CLAIMED = list(dict.fromkeys(claim["table"] for claim in REPORT_CLAIMS))
REPORT_PARTS = [f"report/{name}" for name in ("report.html", "style.css", "table.js", "names.yaml")]
REPORT_WHOLE = [
    "reproducibility",
    "reproducibility_cells",
    "claims",
]  # what papers are summed up from


# Published numbers beside ours, over the tables of all papers.
use rule table_template as reproducibility with:
    input:
        [f"results/tables/{name}.json" for name in REPORT_TABLES],
        tables=[f"results/tables/{name}.csv" for name in REPORT_TABLES],
    output:
        table("reproducibility"),
        table("reproducibility_cells"),
    log:
        "results/logs/reproducibility.log",
    params:
        arguments={"papers": {name: paper_cells(name) for name in REPORT_TABLES}},
        datasets=NAMES,
        missing=[],
        code=code_of_table("reproducibility", "reproducibility_cells"),


use rule figure_template as reproducibility_cells with:
    input:
        tables="results/tables/reproducibility_cells.csv",
    output:
        figure("reproducibility_cells"),
    log:
        "results/logs/reproducibility_cells.log",
    params:
        arguments={},
        code=code_of_figure("reproducibility_cells"),


# Whether the claims of the papers, and of the findings, hold.
use rule table_template as claims with:
    input:
        [f"results/tables/{name}.json" for name in REPORT_CLAIMED],
        tables=[f"results/tables/{name}.csv" for name in REPORT_CLAIMED],
    output:
        table("claims"),
    log:
        "results/logs/claims.log",
    params:
        arguments={"claims": REPORT_CLAIMS, "names": {PRINTED[name]: name for name in PRINTED}},
        datasets=NAMES,
        missing=[],
        code=code_of_table("claims"),


# What of each paper was the same here, and what came out.
use rule table_template as reproducibility_papers with:
    input:
        [f"results/tables/{name}.json" for name in REPORT_WHOLE],
        tables=[f"results/tables/{name}.csv" for name in REPORT_WHOLE],
        properties=repo_path("resources/published/properties.yaml"),
    output:
        table("reproducibility_papers"),
    log:
        "results/logs/reproducibility_papers.log",
    params:
        arguments={},
        datasets=NAMES,
        missing=[],
        code=code_of_table("reproducibility_papers"),


rule report:
    input:
        texts=available("results/ratings/{dataset}/texts.csv", dataset=list(SETTINGS.data)),
        shown=item_files(*catalogue()),
        readme=repo_path("README.md"),
        findings=repo_path("docs/findings.md"),
        numbers=repo_path("resources/numbers.yaml"),
    output:
        page="results/report.html",
        provenance="results/run/provenance.json",
    log:
        "results/logs/report.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings=SETTINGS.model_dump(mode="json"),
        digest=PLAN.digest_of_findings(),
        code=code("make_report.py", *REPORT_PARTS),
    script:
        "../scripts/make_report.py"


# More targets: a paper's items; and `make`, which is all without network, by another name.
rule bleu_neighbors:
    input:
        item_files(*PAPERS["bleu_neighbors"]),


rule delta_bleu:
    input:
        item_files(*PAPERS["delta_bleu"]),


rule rnn_qe:
    input:
        item_files(*PAPERS["rnn_qe"]),


rule quickstart:
    input:
        "results/report.html",
