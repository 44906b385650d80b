# Stage: report. In: every table and figure. Out: results/report.html, Snakemake's own report.


rule make_report:
    input:
        rules.reported.input,
        captions=sorted(str(path) for path in Path("workflow/report").glob("*.rst")),
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
        " > {log} 2>&1"
