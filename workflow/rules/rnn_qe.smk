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
# The curve ends with set-up 1 on all rated outputs.
QE_CURVE = {
    name: paths
    for name, paths in QE_TRAININGS.items()
    if name.startswith(qe.CURVE) or name == "setup1"
}
# What is tested in each table: its predictions by name, whose networks alone it trains.
QE_TESTED = {
    experiment: {
        name: paths
        for name, paths in QE_TRAININGS.items()
        if qe.RUNS[name].evaluation.startswith(experiment)
    }
    for experiment in ("cross_validation", *qe.CROSS)
}
QE_ARGUMENTS = {
    experiment: {
        "experiment": experiment,
        "bootstrap": BOOTSTRAP,
        "predictions": predictions,
        "untrained": missing(QE_PREDICTIONS, name=predictions, seed=0),
    }
    for experiment, predictions in QE_TESTED.items()
}


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


use rule table_template as rnn_qe_table1 with:
    input:
        outputs=QE_OUTPUTS,
        published=repo_path("resources/published/rnn_qe_table1.csv"),
    output:
        table("rnn_qe_table1"),
    log:
        "results/logs/rnn_qe_table1.log",
    params:
        missing=missing("results/rnn_qe/outputs.csv"),
        code=code_of_table("rnn_qe_table1"),


use rule table_template as rnn_qe_table2 with:
    input:
        outputs=QE_OUTPUTS,
        published=repo_path("resources/published/rnn_qe_table2.csv"),
    output:
        table("rnn_qe_table2"),
    log:
        "results/logs/rnn_qe_table2.log",
    params:
        missing=missing("results/rnn_qe/outputs.csv"),
        code=code_of_table("rnn_qe_table2"),


use rule table_template as rnn_qe_table3 with:
    input:
        list(chain.from_iterable(QE_TESTED["cross_validation"].values())),
        outputs=QE_OUTPUTS,
        published=repo_path("resources/published/rnn_qe_table3.csv"),
    output:
        table("rnn_qe_table3"),
    log:
        "results/logs/rnn_qe_table3.log",
    params:
        arguments=QE_ARGUMENTS["cross_validation"],
        missing=missing("results/rnn_qe/outputs.csv"),
        code=code_of_table("rnn_qe_table3"),


use rule table_template as rnn_qe_table4 with:
    input:
        list(chain.from_iterable(QE_TESTED["cross_domain"].values())),
        outputs=QE_OUTPUTS,
        published=repo_path("resources/published/rnn_qe_table4.csv"),
    output:
        table("rnn_qe_table4"),
    log:
        "results/logs/rnn_qe_table4.log",
    params:
        arguments=QE_ARGUMENTS["cross_domain"],
        missing=missing("results/rnn_qe/outputs.csv"),
        code=code_of_table("rnn_qe_table4"),


use rule table_template as rnn_qe_table5 with:
    input:
        list(chain.from_iterable(QE_TESTED["cross_system"].values())),
        outputs=QE_OUTPUTS,
        published=repo_path("resources/published/rnn_qe_table5.csv"),
    output:
        table("rnn_qe_table5"),
    log:
        "results/logs/rnn_qe_table5.log",
    params:
        arguments=QE_ARGUMENTS["cross_system"],
        missing=missing("results/rnn_qe/outputs.csv"),
        code=code_of_table("rnn_qe_table5"),


# Tables 3 to 5, drawn.
use rule figure_template as rnn_qe_forest with:
    input:
        tables=[f"results/tables/rnn_qe_table{number}.csv" for number in (3, 4, 5)],
    output:
        figure("rnn_qe_forest"),
    log:
        "results/logs/rnn_qe_forest.log",
    params:
        arguments={},
        code=code_of_figure("rnn_qe_forest"),


use rule figure_template as rnn_qe_data_size with:
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
