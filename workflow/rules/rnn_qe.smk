# RNN quality estimation (Dušek et al. 2017). Stage: prediction, cell, table, figure. In: ratings of
# the rated outputs and their human references. Out: results/rnn_qe, the paper's tables and a figure.

RNN_QE = SETTINGS.rnn_qe
# the rated data set, if any takes part
RATED = [t for t in SETTINGS.tasks("rnn_qe") if SETTINGS.experiment(t, "rnn_qe").role == "rated"]
REFERENCES = [task for task in SETTINGS.tasks("rnn_qe") if task not in RATED]
QE_OUTPUTS = there("results/rnn_qe/outputs.csv")
QE_SETTINGS = {
    "data": {
        "seed": RNN_QE.seed,
        **{
            name: getattr(SETTINGS.experiment(task, "rnn_qe"), name)
            for task in RATED
            for name in ("domain", "system")
        },
    },
}


rule score_rnn_qe_outputs:
    input:
        ratings(*RATED, *REFERENCES),
    output:
        outputs="results/rnn_qe/outputs.csv",
        curve="results/rnn_qe/curve.csv",
    log:
        "results/logs/score_rnn_qe_outputs.log",
    benchmark:
        "results/benchmarks/score_rnn_qe_outputs.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        rated=RATED,
        references=REFERENCES,
        settings=QE_SETTINGS,
        code=code("score_rnn_qe_outputs.py", module("bleu.char")),
    script:
        "../scripts/score_rnn_qe_outputs.py"


# Its tables are made of the same files, and some of each other: all of them are one start of Python.
QE_TABLES = [name for name in PAPERS["rnn_qe"] if catalogue()[name].table]
QE_PREDICTIONS = "results/rnn_qe/predictions/{name}.csv.gz"


rule tabulate_rnn_qe:
    input:
        ratings=ratings(*RATED, *REFERENCES),
        outputs=QE_OUTPUTS,
        predictions=there(QE_PREDICTIONS, name=SETTINGS.trainings()),
        published=[beside(f"resources/published/rnn_qe_table{k}.csv") for k in (1, 2, 3, 4, 5)],
    output:
        *(path for name in QE_TABLES for path in table(name)),
    log:
        "results/logs/tabulate_rnn_qe.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*RATED, *REFERENCES),
        tasks=[*RATED, *REFERENCES],
        datasets=REFERENCES,
        data=QE_SETTINGS["data"],
        bootstrap=BOOTSTRAP,
        seeds={name: qe.seeds_of(name, RNN_QE.seeds) for name in SETTINGS.trainings()},
        missing=missing("results/rnn_qe/outputs.csv"),
        untrained=missing(QE_PREDICTIONS, name=SETTINGS.trainings()),
        code=[code("tabulate_rnn_qe.py", shows=name) for name in QE_TABLES],
    script:
        "../scripts/tabulate_rnn_qe.py"


rule rnn_qe_data_size:
    input:
        ratings=ratings(*RATED, *REFERENCES),
        outputs=QE_OUTPUTS,
        curve=there("results/rnn_qe/curve.csv"),
        predictions=there(QE_PREDICTIONS, name=qe.names(qe.CURVE, qe.CURVE_SIZES)),
        table="results/tables/rnn_qe_table3.csv",
        record="results/tables/rnn_qe_table3.json",
    output:
        figure("rnn_qe_data_size"),
    log:
        "results/logs/rnn_qe_data_size.log",
    benchmark:
        "results/benchmarks/rnn_qe_data_size.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        folders=folders(*RATED, *REFERENCES),
        tasks=[*RATED, *REFERENCES],
        settings=QE_SETTINGS,
        missing=missing("results/rnn_qe/curve.csv"),
        code=code("plot_rnn_qe_data_size.py"),
    script:
        "../scripts/plot_rnn_qe_data_size.py"


# ---- training (make torch) -----------------------------------------------------------------------


rule prepare_rnn_qe_data:
    input:
        ratings(*RATED, *REFERENCES),
    output:
        directory("results/rnn_qe/data/{name}"),
    log:
        "results/logs/prepare_rnn_qe_data/{name}.log",
    benchmark:
        "results/benchmarks/prepare_rnn_qe_data/{name}.tsv"
    wildcard_constraints:
        name="[^/]+",
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        rated=RATED,
        references=REFERENCES,
        data=QE_SETTINGS["data"],
        code=code("prepare_rnn_qe_data.py"),
    script:
        "../scripts/prepare_rnn_qe_data.py"


# Hours of work, so it lies where no shipped file is put over it. A job that was killed goes on from
# results/rnn_qe/checkpoints when it is run again. `paper_setup1` is set-up 1 by the paper's schedule,
# which keeps its checkpoints, for further seeds.
rule train_rnn_qe:
    input:
        lambda wildcards: f"results/rnn_qe/data/{qe.data_name(wildcards.name)}",
    output:
        predictions="resources/trained/rnn_qe/predictions/{name}.csv.gz",
        models=directory("results/rnn_qe/models/{name}"),
    log:
        "results/logs/train_rnn_qe/{name}.log",
    benchmark:
        "results/benchmarks/train_rnn_qe/{name}.tsv"
    wildcard_constraints:
        name="[^/]+",
    conda:
        "../../envs/torch.yaml"
    # Models are trained five together, each five on one core.
    threads: lambda wildcards: min(8, -(-qe.training_of(wildcards.name, 1)["models"] // 5))
    resources:
        gpu=0 if RNN_QE.device == "cpu" else 1,
        mem_mb=6000,
        runtime=2880,
    params:
        training=lambda wildcards: qe.training_of(wildcards.name, RNN_QE.seeds),
        device=RNN_QE.device,
        code=code("train_rnn_qe.py"),
    script:
        "../scripts/train_rnn_qe.py"


# With `rnn_qe.train: run`. Otherwise what was trained is taken as shipped numbers are: as an input,
# it would be trained again as soon as anything before it is newer.
rule take_trained:
    input:
        "resources/trained/rnn_qe/predictions/{name}.csv.gz",
    output:
        "results/rnn_qe/predictions/{name}.csv.gz",
    log:
        "results/logs/take_trained/{name}.log",
    benchmark:
        "results/benchmarks/take_trained/{name}.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    shell:
        "cp {input:q} {output:q} 2> {log:q}"


# By name alone: the model that `refless qe` has by default, and its card, are part of the library.
rule train_qe_model:
    input:
        ratings(*RATED),
    output:
        model="workflow/refless/models/rnn_qe/shipped.npz",
        card="docs/qe_model.md",
    log:
        "results/logs/train_qe_model.log",
    benchmark:
        "results/benchmarks/train_qe_model.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        rated=RATED,
        code=code("train_qe_model.py"),
    script:
        "../scripts/train_qe_model.py"
