# Stage: report. In: every table and figure. Out: the tables as pages, what the run came from and
# what it cost (results/run), and results/report.html, Snakemake's own report.

for TABLE in CATALOGUE:

    rule:
        name:
            f"render_{TABLE}"
        input:
            table=f"results/tables/{TABLE}.csv",
            caption=f"workflow/report/{table_caption(TABLE)}",
            code=code("render_table.py"),
        output:
            report(
                f"results/tables/{TABLE}.html",
                caption=f"../report/{table_caption(TABLE)}",
                category=CATALOGUE[TABLE]["category"],
                labels=table_labels(TABLE),
            ),
        log:
            f"results/logs/render_table/{TABLE}.log",
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            title=table_title(TABLE),
        shell:
            "python workflow/scripts/render_table.py {input.table} --title {params.title:q}"
            " --caption {input.caption} --out {output} --log {log}"


# What was recorded, not measured anew: a report shows the same on any machine.
rule tabulate_benchmarks:
    input:
        records=[
            f"resources/benchmarks/{name}.json"
            for name in ("kernels", "delta_bleu", "rnn_qe")
        ],
        code=code("tabulate_benchmarks.py"),
    output:
        peers="results/tables/benchmark_peers.csv",
        growth="results/tables/benchmark_growth.csv",
    log:
        "results/logs/tabulate_benchmarks.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/tabulate_benchmarks.py {input.records} --peers {output.peers}"
        " --growth {output.growth} --log {log}"


rule record_provenance:
    input:
        tables=REPORTED_TABLES,
        code=code("record_provenance.py"),
    output:
        "results/run/provenance.json",
    log:
        "results/logs/record_provenance.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        settings=as_json(config),
        numbers=numbers_in_use,
        command=run_again,
    shell:
        "python workflow/scripts/record_provenance.py {input.tables} --verified results/verified"
        " --settings {params.settings} --numbers {params.numbers} --command {params.command:q}"
        " --out {output} --log {log}"


rule render_provenance:
    input:
        record="results/run/provenance.json",
        code=code("render_provenance.py"),
    output:
        report(
            "results/run/provenance.html",
            caption="../report/provenance.rst",
            category="Time, memory, origin",
            labels={"item": "provenance", "content": "data, code, settings, machine"},
        ),
    log:
        "results/logs/render_provenance.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/render_provenance.py {input.record} --out {output} --log {log}"


# Benchmark files are no inputs: a rule that did not run this time leaves the last ones.
rule measure_resources:
    input:
        REPORTED_TABLES,
        REPORTED_FIGURES,
        code=code("measure_resources.py"),
    output:
        csv="results/run/resources.csv",
        svg=report(
            "results/run/resources.svg",
            caption="../report/resources.rst",
            category="Time, memory, origin",
            labels={"item": "cost", "content": "time and memory of each rule"},
        ),
        others=multiext("results/run/resources", ".pdf", ".png"),
    log:
        "results/logs/measure_resources.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "python workflow/scripts/measure_resources.py results/benchmarks --out {output.csv}"
        " --log {log}"


rule make_report:
    input:
        rules.reported.input,
        captions=sorted(str(path) for path in Path("workflow/report").glob("*")),
    output:
        "results/report.html",
    log:
        "results/logs/make_report.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    # Snakemake writes the report from its own records, so it runs once more inside this job, on
    # the finished items. It must not wait for the lock that the outer run holds.
    shell:
        "REFLESS_NESTED=1 snakemake reported --nolock --cores 1 --report {output}"
        " --report-stylesheet workflow/report/style.css > {log} 2>&1"
