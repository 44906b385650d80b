# The named targets: one for each published item, one for each paper, and the whole.
# Stage: none. In: the files of all stages. Out: names to ask for.
TABLE3_FILES = table_files(
    ["bleu_neighbors_table3", "bleu_neighbors_table3_sensitivity"]
) + ["results/tables/bleu_neighbors_table3_williams.csv"]
BLEU_NEIGHBORS_TABLES = ["bleu_neighbors_table1", "bleu_neighbors_essays"]
BLEU_NEIGHBORS_FIGURES = [
    "bleu_neighbors_figure2",
    "bleu_neighbors_figure3",
    "bleu_neighbors_figure4",
    "bleu_neighbors_essays",
]
RNN_QE_TABLES = [f"rnn_qe_table{number}" for number in range(1, 6)]
RNN_QE_FILES = [
    *table_files(RNN_QE_TABLES),
    *(f"results/tables/rnn_qe_table{number}_williams.csv" for number in (3, 4, 5)),
    *figure_files(["rnn_qe_data_size"]),
]


EVERYTHING = [
    *table_files(BLEU_NEIGHBORS_TABLES),
    *TABLE3_FILES,
    *figure_files(BLEU_NEIGHBORS_FIGURES),
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
        [
            f"results/verified/{path}.json"
            for path, source in SOURCES.items()
            if source.access == "url" or PLACES.at_hand(source)
        ],


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
        table_files(BLEU_NEIGHBORS_TABLES),
        TABLE3_FILES,
        figure_files(BLEU_NEIGHBORS_FIGURES),


rule bleu_neighbors_table1:
    input:
        table_files(["bleu_neighbors_table1"]),


rule bleu_neighbors_table3:
    input:
        TABLE3_FILES,


# Beyond the paper: every set of essays as the test set.
rule bleu_neighbors_essays:
    input:
        table_files(["bleu_neighbors_essays"]),
        figure_files(["bleu_neighbors_essays"]),


rule bleu_neighbors_figure2:
    input:
        figure_files(["bleu_neighbors_figure2"]),


rule bleu_neighbors_figure3:
    input:
        figure_files(["bleu_neighbors_figure3"]),


rule bleu_neighbors_figure4:
    input:
        figure_files(["bleu_neighbors_figure4"]),


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


# Beyond the paper: how many rated outputs it takes.
rule rnn_qe_data_size:
    input:
        figure_files(["rnn_qe_data_size"]),


# What the report shows; asked for by the run of Snakemake inside the report's job.
rule reported:
    input:
        table_files(BLEU_NEIGHBORS_TABLES),
        TABLE3_FILES,
        figure_files(BLEU_NEIGHBORS_FIGURES),
        RNN_QE_FILES,
