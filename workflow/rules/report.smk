# Stage: report. In: every table and figure. Out: results/report.html, results/run.
OF_PAPERS = [name for names in PAPERS.values() for name in names if catalogue()[name].tabulated_by]
CLAIMS = read_claims()
CLAIMED = list(dict.fromkeys(claim["table"] for claim in CLAIMS))
WHOLE = ["reproducibility", "reproducibility_cells", "claims"]  # what papers are summed up from
PAGE_PARTS = [f"report/{name}" for name in ("report.html", "style.css", "table.js", "names.yaml")]


# Published numbers beside ours, over the tables of all papers.
use rule bleu_neighbors_table3 as reproducibility with:
    input:
        [f"results/tables/{name}.json" for name in OF_PAPERS],
        tables=[f"results/tables/{name}.csv" for name in OF_PAPERS],
    output:
        table("reproducibility"),
        table("reproducibility_cells"),
    log:
        "results/logs/reproducibility.log",
    params:
        arguments={"papers": {name: paper_cells(name) for name in OF_PAPERS}},
        datasets=NAMES,
        missing=[],
        code=code_of_table("reproducibility", "reproducibility_cells"),


use rule delta_bleu_figure2 as reproducibility_cells with:
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
use rule bleu_neighbors_table3 as claims with:
    input:
        [f"results/tables/{name}.json" for name in CLAIMED],
        tables=[f"results/tables/{name}.csv" for name in CLAIMED],
    output:
        table("claims"),
    log:
        "results/logs/claims.log",
    params:
        arguments={"claims": CLAIMS, "names": {PRINTED[name]: name for name in PRINTED}},
        datasets=NAMES,
        missing=[],
        code=code_of_table("claims"),


# What of each paper was the same here, and what came out.
use rule bleu_neighbors_table3 as reproducibility_papers with:
    input:
        [f"results/tables/{name}.json" for name in WHOLE],
        tables=[f"results/tables/{name}.csv" for name in WHOLE],
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
        code=code("make_report.py", *PAGE_PARTS),
    script:
        "../scripts/make_report.py"


# More targets: a paper's items; and `make`, which is all without network, by another name.
PAGE = {"quickstart": ["results/report.html"]}
for NAME, FILES in {**{paper: item_files(*PAPERS[paper]) for paper in PAPERS}, **PAGE}.items():

    rule:
        name:
            NAME
        input:
            FILES,
