# RNN quality estimation. Stage: prediction (data), table, figure. In: the tidy tables of NEM and of
# its human references, or shipped numbers. Out: results/rnn_qe, tables and figures. Training is in
# rnn_qe_train.smk.


rule prepare_rnn_qe_data:
    input:
        ratings=rnn_qe_texts,
        code=code("prepare_rnn_qe_data.py"),
    output:
        expand("results/rnn_qe/data/{{name}}/fold{fold}.csv", fold=range(5)),
    log:
        "results/logs/prepare_rnn_qe_data/{name}.log",
    wildcard_constraints:
        name=r"setup[1-6]",
    conda:
        "../../envs/refless.yaml"
    params:
        data=RNN_QE["data"],
    shell:
        "python workflow/scripts/prepare_rnn_qe_data.py --ratings results/ratings"
        " --name {wildcards.name} --seed {params.data[seed]}"
        " --synthesise {params.data[synthesise]} --out results/rnn_qe/data/{wildcards.name}"
        " --log {log}"


# Tables 4 and 5: one split, no folds.
rule prepare_rnn_qe_cross_data:
    input:
        ratings=rnn_qe_texts,
        code=code("prepare_rnn_qe_data.py"),
    output:
        "results/rnn_qe/data/{name}/fold0.csv",
    log:
        "results/logs/prepare_rnn_qe_data/{name}.log",
    wildcard_constraints:
        name=r"cross_(domain|system)_[1-3]_setup[1-6]",
    conda:
        "../../envs/refless.yaml"
    params:
        data=RNN_QE["data"],
    shell:
        "python workflow/scripts/prepare_rnn_qe_data.py --ratings results/ratings"
        " --name {wildcards.name} --seed {params.data[seed]}"
        " --synthesise {params.data[synthesise]} --out results/rnn_qe/data/{wildcards.name}"
        " --log {log}"
