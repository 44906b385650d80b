# RNN quality estimation, training. Stage: prediction. In: instances of all folds of a set-up. Out:
# results/rnn_qe/predictions, and the first seed's models for `refless qe`. Needs torch (`make
# torch`). A job that was killed goes on from results/rnn_qe/checkpoints when it is run again.


rule train_rnn_qe:
    input:
        data=rnn_qe_data,
        code=code("train_rnn_qe.py"),
    output:
        csv="results/rnn_qe/predictions/{name}.csv",
        json="results/rnn_qe/predictions/{name}.json",
        models=directory("results/rnn_qe/models/{name}"),
    log:
        "results/logs/train_rnn_qe/{name}.log",
    benchmark:
        "results/benchmarks/train_rnn_qe/{name}.tsv"
    wildcard_constraints:
        name="[^/]+",
    conda:
        "../../envs/torch.yaml"
    threads: rnn_qe_stacks
    resources:
        gpu=rnn_qe_gpus,
        mem_mb=6000,
    params:
        schedule=rnn_qe_schedule,
        device=RNN_QE["training"]["device"],
        seeds=rnn_qe_seeds,
        architecture=rnn_qe_architecture(),
    shell:
        "python workflow/scripts/train_rnn_qe.py {input.data}"
        " --schedule {params.schedule} --seeds {params.seeds}"
        " --architecture {params.architecture} --device {params.device}"
        " --threads {threads} --checkpoints results/rnn_qe/checkpoints/{wildcards.name}"
        " --save-models {output.models} --out {output.csv}"
        " --log {log}"
