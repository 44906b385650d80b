# What the rules of tables and figures have in common: they say `use rule table_template as ... with`
# their inputs, outputs, log and parameters. Nobody asks for these two. Stage: none.


rule table_template:
    log:
        "results/logs/table_template.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    script:
        "../scripts/tabulate.py"


rule figure_template:
    log:
        "results/logs/figure_template.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    script:
        "../scripts/plot.py"
