# RNN quality estimation (Dušek et al. 2017). Stage: prediction, cell, table, figure. In: ratings of
# the rated outputs and their human references. Out: results/rnn_qe, the paper's tables and a figure.

RNN_QE = SETTINGS.rnn_qe
QE_TASKS = SETTINGS.tasks("rnn_qe")
# the rated data set, if any takes part
RATED = [task for task in QE_TASKS if SETTINGS.data[task].experiments.rnn_qe.role == "rated"]
REFERENCES = [dataset for dataset in QE_TASKS if dataset not in RATED]
QE_OUTPUTS = available("results/rnn_qe/outputs.csv")
QE_DATA = {"seed": RNN_QE.seed}
for TASK in RATED:
    QE_DATA |= SETTINGS.data[TASK].experiments.rnn_qe.model_dump(include={"domain", "system"})
QE_PREDICTIONS = "results/rnn_qe/predictions/{name}/{seed}.csv.gz"
QE_TRAININGS = {
    name: available(QE_PREDICTIONS, name=name, seed=of.seeds(RNN_QE.seeds))
    for name, of in qe.RUNS.items()
}
QE_TABLES = [name for name in PAPERS["rnn_qe"] if catalogue()[name].tabulated_by]
# of the tables of predictions: what is tested in them
QE_TESTS = dict(zip(QE_TABLES[2:], ("cross_validation", *qe.CROSS)))


rule score_rnn_qe_outputs:
    input:
        available(RATINGS, dataset=QE_TASKS),
    output:
        outputs="results/rnn_qe/outputs.csv",
        curve="results/rnn_qe/curve.csv",
        records=["results/rnn_qe/outputs.json", "results/rnn_qe/curve.json"],
    log:
        "results/logs/score_rnn_qe_outputs.log",
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        rated=RATED,
        references=REFERENCES,
        data=QE_DATA,
        code=code("score_rnn_qe_outputs.py", module("bleu.char")),
    script:
        "../scripts/score_rnn_qe_outputs.py"


# One job a set-up and seed, on one core: Snakemake is the checkpoint. Hours of work, so ratings that
# are merely newer are no reason to do it again; other raw files or code are.
rule train_rnn_qe:
    input:
        ancient(available(RATINGS, dataset=QE_TASKS)),
    output:
        QE_PREDICTIONS,
        "results/rnn_qe/predictions/{name}/{seed}.json",
    log:
        "results/logs/train_rnn_qe/{name}/{seed}.log",
    benchmark:
        "results/logs/train_rnn_qe/{name}/{seed}.tsv"
    conda:
        "../../envs/torch.yaml"
    resources:
        gpu=0 if RNN_QE.device == "cpu" else 1,
        mem_mb=3000,
        runtime=lambda wildcards: 30 + int(120 * qe.RUNS[wildcards.name].hours),
    params:
        rated=RATED,
        references=REFERENCES,
        data=QE_DATA,
        device=RNN_QE.device,
        raw={dataset: PLAN.sums(dataset) for dataset in QE_TASKS},
        code=code("train_rnn_qe.py", *map(reader, QE_TASKS)),
    script:
        "../scripts/train_rnn_qe.py"


# A table of predictions hangs on those of its own test, whose networks alone it trains.
for NAME in QE_TABLES:
    TESTED = {
        name: paths
        for name, paths in QE_TRAININGS.items()
        if NAME in QE_TESTS and qe.RUNS[name].evaluation.startswith(QE_TESTS[NAME])
    }
    UNTRAINED = missing(QE_PREDICTIONS, name=TESTED, seed=0)
    ARGUMENTS = {"experiment": QE_TESTS.get(NAME), "bootstrap": BOOTSTRAP}
    ARGUMENTS |= {"predictions": TESTED, "untrained": UNTRAINED}

    rule:
        name:
            NAME
        input:
            list(chain.from_iterable(TESTED.values())),
            outputs=QE_OUTPUTS,
            published=repo_path(f"resources/published/{NAME}.csv"),
        output:
            table(NAME),
        log:
            f"results/logs/{NAME}.log",
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            arguments=ARGUMENTS if NAME in QE_TESTS else {},
            missing=missing("results/rnn_qe/outputs.csv"),
            code=code_of_table(NAME),
        script:
            "../scripts/tabulate.py"


# Tables 3 to 5, drawn.
use rule delta_bleu_figure2 as rnn_qe_forest with:
    input:
        tables=[f"results/tables/{name}.csv" for name in QE_TESTS],
    output:
        figure("rnn_qe_forest"),
    log:
        "results/logs/rnn_qe_forest.log",
    params:
        arguments={},
        code=code_of_figure("rnn_qe_forest"),


# The curve ends with set-up 1 on all rated outputs.
CURVE = [name for name in QE_TRAININGS if name.startswith(qe.CURVE) or name == "setup1"]
QE_CURVE = {name: QE_TRAININGS[name] for name in CURVE}


use rule delta_bleu_figure2 as rnn_qe_data_size with:
    input:
        list(chain.from_iterable(QE_CURVE.values())),
        outputs=QE_OUTPUTS,
        curve=available("results/rnn_qe/curve.csv"),
        published=repo_path("resources/published/rnn_qe_table3.csv"),
    output:
        figure("rnn_qe_data_size"),
    log:
        "results/logs/rnn_qe_data_size.log",
    params:
        arguments={"predictions": QE_CURVE},
        code=code_of_figure("rnn_qe_data_size"),


# By name alone: the model that `refless qe` has by default is part of the library (docs/methods.md).
rule train_qe_model:
    input:
        available(RATINGS, dataset=RATED),
    output:
        repo_path("workflow/refless/models/rnn_qe/shipped.npz"),
    log:
        "results/logs/train_qe_model.log",
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("train_qe_model.py"),
    script:
        "../scripts/train_qe_model.py"
