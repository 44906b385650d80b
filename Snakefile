# refless: how good is this generated text, when there is no reference to compare it with?
#
# The table of contents. file -> ratings -> kernel -> prediction -> cell -> figure -> report; one
# file of rules a paper, and one for what they share. Start with `make`, or with
#   snakemake --cores 8                           the full reproduction
#   snakemake --cores 1 fetch                     every download, nothing else
#   snakemake --cores 2 bleu_neighbors_figure2    one item
import snakemake
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")
# common.smk looks at the plan of jobs, which is no public interface and may change with a major version.
if int(snakemake.__version__.split(".")[0]) > 9:
    raise WorkflowError(
        f"refless was tried with Snakemake 9, and this is {snakemake.__version__}\n"
        "  What to do: pip install 'snakemake>=9,<10'"
    )


# Beside this file, wherever Snakemake was started.
configfile: f"{workflow.current_basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/bleu_neighbors.smk"
include: "workflow/rules/delta_bleu.smk"
include: "workflow/rules/rnn_qe.smk"
include: "workflow/rules/comparison.smk"
include: "workflow/rules/report.smk"


# Here and not in report.smk, since Snakemake takes its default target from this file alone.
rule all:
    input:
        "results/report.html",
