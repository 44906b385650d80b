# refless: how good is this generated text, when there is no reference to compare it with?
#
# The table of contents. file -> ratings -> kernel -> prediction -> cell -> figure -> report; one
# file of rules a stage, and the named targets in collect.smk. Start with `make`, or with
#   snakemake --cores 8                           the full reproduction
#   snakemake --cores 1 fetch                     every download, nothing else
#   snakemake --cores 2 bleu_neighbors_figure2    one item
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/inputs_cross.smk"
include: "workflow/rules/inputs_ablation.smk"
include: "workflow/rules/inputs_delta_bleu.smk"
include: "workflow/rules/inputs_rnn_qe.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/ratings.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/sums.smk"
include: "workflow/rules/neighbors.smk"
include: "workflow/rules/essays.smk"
include: "workflow/rules/cross_task.smk"
include: "workflow/rules/section53.smk"
include: "workflow/rules/huse.smk"
include: "workflow/rules/ablation.smk"
include: "workflow/rules/delta_bleu.smk"
include: "workflow/rules/rnn_qe.smk"
include: "workflow/rules/rnn_qe_train.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/agreement.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/ship.smk"


# Here and not in collect.smk, since Snakemake takes its default target from this file alone.
rule all:
    input:
        EVERYTHING,


onsuccess:
    if not NESTED:
        print(what_was_built())
