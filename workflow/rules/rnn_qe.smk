# RNN quality estimation (Dušek et al. 2017). Stage: prediction, cell, table, figure. In: ratings of
# the rated outputs and their human references. Out: results/rnn_qe, the paper's tables and a figure.

RNN_QE = SETTINGS.rnn_qe
# the rated data set, if any takes part
RATED = [t for t in SETTINGS.tasks("rnn_qe") if SETTINGS.experiment(t, "rnn_qe").role == "rated"]
REFERENCES = [task for task in SETTINGS.tasks("rnn_qe") if task not in RATED]
QE_OUTPUTS = there("results/rnn_qe/outputs.csv")
QE_KERNELS = {name: NEIGHBORS.models[name].kernels[0] for name in RNN_QE.neighbors.models}
# What is shipped was made with all kernels.
QE_LACKING = PLAN.lacking(QE_KERNELS.values()) if PLAN.computed(QE_OUTPUTS) else []
QE_SETTINGS = {
    "data": {
        **RNN_QE.data.model_dump(),
        **{
            name: getattr(SETTINGS.experiment(task, "rnn_qe"), name)
            for task in RATED
            for name in ("domain", "system")
        },
    },
    "neighbors": {
        "kernels": {
            name: [kernel, SETTINGS.taus()[kernel]]
            for name, kernel in QE_KERNELS.items()
            if kernel not in [lacking["of"]["kernel"] for lacking in QE_LACKING]
        },
        "min_neighbors": NEIGHBORS.min_neighbors,
        "max_share": NEIGHBORS.max_share,
        "taus": RNN_QE.neighbors.taus,
        "dev_min_neighbors": RNN_QE.neighbors.min_neighbors,
    },
    "curve": RNN_QE.curve.model_dump(),
}
QE_AT_HAND = [kernel for kernel, _ in QE_SETTINGS["neighbors"]["kernels"].values()]


# The folder's name is a wildcard so that a rule that takes shipped numbers goes before this one.
rule score_rnn_qe_outputs:
    input:
        ratings(*RATED, *REFERENCES),
        resource_files(*QE_AT_HAND),
    output:
        outputs="results/{paper}/outputs.csv",
        curve="results/{paper}/curve.csv",
    log:
        "results/logs/score_rnn_qe_outputs/{paper}.log",
    benchmark:
        "results/benchmarks/score_rnn_qe_outputs/{paper}.tsv"
    wildcard_constraints:
        paper="rnn_qe",
    conda:
        "../../envs/refless.yaml"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        rated=RATED,
        references=REFERENCES,
        settings=QE_SETTINGS,
        options=kernel_options(*QE_AT_HAND),
        code=code("score_rnn_qe_outputs.py", *map(module, QE_AT_HAND)),
    script:
        "../scripts/score_rnn_qe_outputs.py"


# Tables 1 and 2, which count, and how the models were trained: three tables are one start of Python.
rule tabulate_rnn_qe_outputs:
    input:
        outputs=QE_OUTPUTS,
        predictions=trained(*qe.EXPERIMENTS, *qe.READINGS),
        published=[f"resources/published/rnn_qe_table{number}.csv" for number in (1, 2)],
    output:
        table("rnn_qe_table1"),
        table("rnn_qe_table2"),
        table("rnn_qe_training"),
    log:
        "results/logs/tabulate_rnn_qe_outputs.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_outputs.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        datasets=REFERENCES,
        settings=QE_SETTINGS,
        names=training_names(*qe.EXPERIMENTS),
        missing=missing("results/rnn_qe/outputs.csv"),
        untrained=untrained(*qe.EXPERIMENTS),
        code=[
            code("tabulate_rnn_qe_outputs.py", shows=name)
            for name in ("rnn_qe_table1", "rnn_qe_table2", "rnn_qe_training")
        ],
    script:
        "../scripts/tabulate_rnn_qe_outputs.py"


# Tables 3, 4 and 5 are one kind of table, and take a core each for ten seconds.
for NUMBER, EXPERIMENT in enumerate(("cross_validation", *qe.CROSS), start=3):

    rule:
        name:
            f"tabulate_rnn_qe_table{NUMBER}"
        input:
            outputs=QE_OUTPUTS,
            predictions=trained(EXPERIMENT, *(qe.READINGS if NUMBER == 3 else ())),
            published=f"resources/published/rnn_qe_table{NUMBER}.csv",
        output:
            table(f"rnn_qe_table{NUMBER}"),
            table(f"rnn_qe_table{NUMBER}_williams"),
        log:
            f"results/logs/tabulate_rnn_qe_table{NUMBER}.log",
        benchmark:
            f"results/benchmarks/tabulate_rnn_qe_table{NUMBER}.tsv"
        localrule: True
        conda:
            "../../envs/refless.yaml"
        params:
            experiment=EXPERIMENT,
            settings=QE_SETTINGS,
            kernels=QE_KERNELS,
            bootstrap=BOOTSTRAP,
            missing=[
                *missing("results/rnn_qe/outputs.csv"),
                *untrained(EXPERIMENT),
                *QE_LACKING,
            ],
            code=code("tabulate_rnn_qe.py", shows=f"rnn_qe_table{NUMBER}"),
        script:
            "../scripts/tabulate_rnn_qe.py"


rule plot_rnn_qe_data_size:
    input:
        outputs=QE_OUTPUTS,
        curve=there("results/rnn_qe/curve.csv"),
        predictions=trained(qe.CURVE),
        table="results/tables/rnn_qe_table3.csv",
        record="results/tables/rnn_qe_table3.json",
    output:
        figure("rnn_qe_data_size"),
    log:
        "results/logs/plot_rnn_qe_data_size.log",
    benchmark:
        "results/benchmarks/plot_rnn_qe_data_size.tsv"
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
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
        subsets=RNN_QE.curve.subsets,
        code=code("prepare_rnn_qe_data.py"),
    script:
        "../scripts/prepare_rnn_qe_data.py"


# Hours of work, so it lies where no shipped file is put over it. A job that was killed goes on from
# results/rnn_qe/checkpoints when it is run again. `paper_setup1` is set-up 1 by another schedule.
rule train_rnn_qe:
    input:
        lambda wildcards: f"results/rnn_qe/data/{wildcards.name.removeprefix('paper_')}",
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
    threads: lambda wildcards: min(8, -(-training(wildcards.name)["models"] // 5))
    resources:
        gpu=0 if RNN_QE.training.device == "cpu" else 1,
        mem_mb=6000,
        runtime=2880,
    params:
        schedule=lambda wildcards: {"name": training(wildcards.name)["schedule"]},
        seeds=lambda wildcards: training(wildcards.name)["seeds"],
        architecture={"precision": RNN_QE.training.precision},
        device=RNN_QE.training.device,
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
        "cp {input} {output} 2> {log}"
