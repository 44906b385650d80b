# The named targets: one for each published item, one for each paper, and the whole.
# Stage: none. In: the files of all stages. Out: names to ask for.
TABLE3_FILES = table_files(
    ["bleu_neighbors_table3", "bleu_neighbors_table3_sensitivity"]
) + ["results/tables/bleu_neighbors_table3_williams.csv"]
AGREEMENT_FILES = table_files(["bleu_neighbors_agreement"]) + [
    "results/tables/bleu_neighbors_agreement_cells.csv"
]
# Beyond the paper: what it left for later, and thresholds tuned and honest.
BEYOND = ["bleu_neighbors_ablation", "bleu_neighbors_pareto"]
BLEU_NEIGHBORS_TABLES = [
    "bleu_neighbors_table1",
    "bleu_neighbors_table2",
    "bleu_neighbors_section53",
    "bleu_neighbors_huse",
    "bleu_neighbors_essays",
    *BEYOND,
]
BLEU_NEIGHBORS_FIGURES = [
    "bleu_neighbors_figure2",
    "bleu_neighbors_figure3",
    "bleu_neighbors_figure4",
    "bleu_neighbors_essays",
    *BEYOND,
]
DELTA_BLEU_TABLE2_FILES = [
    *table_files(["delta_bleu_table2"]),
    "results/tables/delta_bleu_table2_tests.csv",
]
DELTA_BLEU_FILES = [
    *DELTA_BLEU_TABLE2_FILES,
    *figure_files(["delta_bleu_figure2"]),
    *table_files(["delta_bleu_predictor"]),
]
RNN_QE_TABLES = [f"rnn_qe_table{number}" for number in range(1, 6)] + [
    "rnn_qe_training"
]
RNN_QE_FILES = [
    *table_files(RNN_QE_TABLES),
    *(f"results/tables/rnn_qe_table{number}_williams.csv" for number in (3, 4, 5)),
    *figure_files(["rnn_qe_data_size"]),
]


BLEU_NEIGHBORS_FILES = [
    *table_files(BLEU_NEIGHBORS_TABLES),
    *TABLE3_FILES,
    *AGREEMENT_FILES,
    *figure_files(BLEU_NEIGHBORS_FIGURES),
]


# Every table with a page of its own in the report, and every figure.
REPORTED_TABLES = [f"results/tables/{table}.csv" for table in CATALOGUE]
REPORTED_FIGURES = figure_files(
    [*BLEU_NEIGHBORS_FIGURES, "delta_bleu_figure2", "rnn_qe_data_size"]
)
EVERYTHING = [
    *BLEU_NEIGHBORS_FILES,
    *DELTA_BLEU_FILES,
    *RNN_QE_FILES,
    "results/report.html",
]


# The same items without network: shipped numbers where the raw data is not at hand.
rule quickstart:
    input:
        EVERYTHING,


# Every download, and nothing else: for the login node, before compute nodes without network.
rule fetch:
    input:
        fetchable_files,


# Every data set that is there, as the tidy tables.
rule ratings:
    input:
        all_ratings,


rule kernels:
    input:
        all_kernels,


rule report:
    input:
        "results/report.html",


rule bleu_neighbors:
    input:
        BLEU_NEIGHBORS_FILES,


rule bleu_neighbors_table1:
    input:
        table_files(["bleu_neighbors_table1"]),


rule bleu_neighbors_table2:
    input:
        table_files(["bleu_neighbors_table2"]),


rule bleu_neighbors_section53:
    input:
        table_files(["bleu_neighbors_section53"]),


rule bleu_neighbors_huse:
    input:
        table_files(["bleu_neighbors_huse"]),


# Every published cell of tables 1 to 3, counted once.
rule bleu_neighbors_agreement:
    input:
        AGREEMENT_FILES,


rule bleu_neighbors_table3:
    input:
        TABLE3_FILES,


# Beyond the paper: every set of essays as the test set.
rule bleu_neighbors_essays:
    input:
        table_files(["bleu_neighbors_essays"]),
        figure_files(["bleu_neighbors_essays"]),


rule bleu_neighbors_ablation:
    input:
        table_files(["bleu_neighbors_ablation"]),
        figure_files(["bleu_neighbors_ablation"]),


rule bleu_neighbors_pareto:
    input:
        table_files(["bleu_neighbors_pareto"]),
        figure_files(["bleu_neighbors_pareto"]),


rule bleu_neighbors_figure2:
    input:
        figure_files(["bleu_neighbors_figure2"]),


rule bleu_neighbors_figure3:
    input:
        figure_files(["bleu_neighbors_figure3"]),


rule bleu_neighbors_figure4:
    input:
        figure_files(["bleu_neighbors_figure4"]),


rule delta_bleu:
    input:
        DELTA_BLEU_FILES,


rule delta_bleu_table2:
    input:
        DELTA_BLEU_TABLE2_FILES,


rule delta_bleu_figure2:
    input:
        figure_files(["delta_bleu_figure2"]),


# Beyond the paper: ΔBLEU as an estimate of quality.
rule delta_bleu_predictor:
    input:
        table_files(["delta_bleu_predictor"]),


rule rnn_qe:
    input:
        RNN_QE_FILES,


rule rnn_qe_table1:
    input:
        table_files(["rnn_qe_table1"]),


rule rnn_qe_table2:
    input:
        table_files(["rnn_qe_table2"]),


rule rnn_qe_table3:
    input:
        table_files(["rnn_qe_table3"]),


rule rnn_qe_table4:
    input:
        table_files(["rnn_qe_table4"]),


rule rnn_qe_table5:
    input:
        table_files(["rnn_qe_table5"]),


# How the models were trained: schedules side by side, time.
rule rnn_qe_training:
    input:
        table_files(["rnn_qe_training"]),


# Beyond the paper: how many rated outputs it takes.
rule rnn_qe_data_size:
    input:
        figure_files(["rnn_qe_data_size"]),


# What the report shows; asked for by the run of Snakemake inside the report's job.
rule reported:
    input:
        [f"results/tables/{table}.html" for table in CATALOGUE],
        REPORTED_FIGURES,
        "results/run/provenance.html",
        "results/run/resources.svg",
