# The workflow is workflow/Snakefile; this lets Snakemake start without -s where its users look first.
include: "workflow/Snakefile"


# What is included brings no default target.
workflow.default_target = "all"
