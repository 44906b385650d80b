# The input and parameter functions of RNN quality estimation. Stage: none. In: wildcards. Out:
# paths and arguments.
RNN_QE = config["rnn_qe"]
RNN_QE_TASKS = ("nem", "bagel", "sfrest", "sfhot")


def rnn_qe_texts(wildcards):
    """The rated outputs and their human references, from raw data: texts are never shipped."""
    return [f"results/ratings/{task}/texts.csv" for task in RNN_QE_TASKS]
