# Stage: report. In: every table and figure. Out: results/report.html, what the run came from and
# what it cost (results/run).


# What a page is made of, besides code.
PAGE_FILES = [
    f"report/{name}" for name in ("base.html", "parts.html", "report.html", "style.css", "table.js")
]


# What was recorded, not measured anew: a report shows the same on any machine.
rule tabulate_benchmarks:
    input:
        [f"resources/benchmarks/{name}.json" for name in ("kernels", "delta_bleu", "rnn_qe")],
    output:
        table("benchmark_peers"),
        table("benchmark_growth"),
    log:
        "results/logs/tabulate_benchmarks.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        code=code("tabulate_benchmarks.py"),
    script:
        "../scripts/tabulate_benchmarks.py"


# Time, memory and origin go into the report; records of Snakemake's benchmarks are no inputs, since
# a rule that did not run this time leaves the last ones.
rule make_report:
    input:
        texts=there("results/ratings/{task}/texts.csv", task=list(SETTINGS.data)),
        tables=[path for name in tables() for path in table(name)],
        figures=[path for name in figures() for path in figure(name)],
    output:
        page="results/report.html",
        provenance="results/run/provenance.json",
        resources="results/run/resources.csv",
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings=SETTINGS.model_dump(mode="json"),
        numbers=NUMBERS,
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
