# RNN quality estimation. Stage: prediction (data), table, figure. In: the tidy tables of NEM and of
# its human references, or shipped numbers. Out: results/rnn_qe, tables and figures. Training is in
# rnn_qe_train.smk.


rule prepare_rnn_qe_data:
    input:
        ratings=rnn_qe_texts,
        code=code("prepare_rnn_qe_data.py"),
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
    params:
        data=RNN_QE["data"],
        subsets=RNN_QE["curve"]["subsets"],
    shell:
        "python workflow/scripts/prepare_rnn_qe_data.py --ratings results/ratings"
        " --name {wildcards.name} --seed {params.data[seed]}"
        " --synthesise {params.data[synthesise]} --subsets {params.subsets} --out {output}"
        " --log {log}"


rule score_rnn_qe_outputs:
    input:
        ratings=rnn_qe_texts,
        about="results/ratings/nem/about.json",
        wordnet=rnn_qe_wordnet,
        code=code(
            "score_rnn_qe_outputs.py",
            "kernels/bleu",
            "kernels/rouge_l",
            "kernels/meteor",
        ),
    output:
        outputs=multiext("results/rnn_qe/outputs", ".csv", ".json"),
        curve=multiext("results/rnn_qe/curve", ".csv", ".json"),
    log:
        "results/logs/score_rnn_qe_outputs.log",
    benchmark:
        "results/benchmarks/score_rnn_qe_outputs.tsv"
    conda:
        "../../envs/refless.yaml"
    threads: 2
    params:
        settings=rnn_qe_settings("data", "neighbors", "curve"),
        wordnet=rnn_qe_wordnet_option,
    shell:
        "python workflow/scripts/score_rnn_qe_outputs.py --ratings results/ratings"
        " --settings {params.settings} {params.wordnet} --threads {threads} --out results/rnn_qe"
        " --log {log}"


rule tabulate_rnn_qe_table1:
    input:
        outputs=rnn_qe_outputs,
        published="resources/published/rnn_qe_table1.csv",
        code=code("tabulate_rnn_qe_counts.py"),
    output:
        csv="results/tables/rnn_qe_table1.csv",
        md="results/tables/rnn_qe_table1.md",
    log:
        "results/logs/tabulate_rnn_qe_table1.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_table1.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        settings=rnn_qe_settings("data", "neighbors"),
    shell:
        "python workflow/scripts/tabulate_rnn_qe_counts.py 1 {params.numbers}"
        " --settings {params.settings} --published {input.published} --out {output.csv}"
        " --log {log}"


rule tabulate_rnn_qe_table2:
    input:
        outputs=rnn_qe_outputs,
        published="resources/published/rnn_qe_table2.csv",
        code=code("tabulate_rnn_qe_counts.py"),
    output:
        csv="results/tables/rnn_qe_table2.csv",
        md="results/tables/rnn_qe_table2.md",
    log:
        "results/logs/tabulate_rnn_qe_table2.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_table2.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        settings=rnn_qe_settings("data", "neighbors"),
    shell:
        "python workflow/scripts/tabulate_rnn_qe_counts.py 2 {params.numbers}"
        " --settings {params.settings} --published {input.published} --out {output.csv}"
        " --log {log}"


rule tabulate_rnn_qe_table3:
    input:
        outputs=rnn_qe_outputs,
        predictions=rnn_qe_table3_inputs,
        published="resources/published/rnn_qe_table3.csv",
        code=code("tabulate_rnn_qe.py"),
    output:
        csv="results/tables/rnn_qe_table3.csv",
        md="results/tables/rnn_qe_table3.md",
        williams="results/tables/rnn_qe_table3_williams.csv",
    log:
        "results/logs/tabulate_rnn_qe_table3.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_table3.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        predictions=rnn_qe_table3_options,
        sums=rnn_qe_table3_sums,
        missing=rnn_qe_missing_kernels,
        settings=rnn_qe_settings("data", "neighbors"),
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_rnn_qe.py cross_validation {params.numbers}"
        " {params.predictions} --settings {params.settings} --missing {params.missing}"
        " --published {input.published}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"


rule tabulate_rnn_qe_table4:
    input:
        outputs=rnn_qe_outputs,
        predictions=rnn_qe_table4_inputs,
        published="resources/published/rnn_qe_table4.csv",
        code=code("tabulate_rnn_qe.py"),
    output:
        csv="results/tables/rnn_qe_table4.csv",
        md="results/tables/rnn_qe_table4.md",
        williams="results/tables/rnn_qe_table4_williams.csv",
    log:
        "results/logs/tabulate_rnn_qe_table4.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_table4.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        predictions=rnn_qe_table4_options,
        sums=rnn_qe_table4_sums,
        missing=rnn_qe_missing_kernels,
        settings=rnn_qe_settings("data", "neighbors"),
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_rnn_qe.py cross_domain {params.numbers}"
        " {params.predictions} --settings {params.settings} --missing {params.missing}"
        " --published {input.published}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"


rule tabulate_rnn_qe_table5:
    input:
        outputs=rnn_qe_outputs,
        predictions=rnn_qe_table5_inputs,
        published="resources/published/rnn_qe_table5.csv",
        code=code("tabulate_rnn_qe.py"),
    output:
        csv="results/tables/rnn_qe_table5.csv",
        md="results/tables/rnn_qe_table5.md",
        williams="results/tables/rnn_qe_table5_williams.csv",
    log:
        "results/logs/tabulate_rnn_qe_table5.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_table5.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        predictions=rnn_qe_table5_options,
        sums=rnn_qe_table5_sums,
        missing=rnn_qe_missing_kernels,
        settings=rnn_qe_settings("data", "neighbors"),
        bootstrap=NEIGHBORS["bootstrap"],
    shell:
        "python workflow/scripts/tabulate_rnn_qe.py cross_system {params.numbers}"
        " {params.predictions} --settings {params.settings} --missing {params.missing}"
        " --published {input.published}"
        " --draws {params.bootstrap[draws]} --seed {params.bootstrap[seed]}"
        " --out {output.csv} --log {log}"


rule tabulate_rnn_qe_training:
    input:
        outputs=rnn_qe_outputs,
        predictions=rnn_qe_training_inputs,
        code=code("tabulate_rnn_qe_training.py"),
    output:
        csv="results/tables/rnn_qe_training.csv",
        md="results/tables/rnn_qe_training.md",
    log:
        "results/logs/tabulate_rnn_qe_training.log",
    benchmark:
        "results/benchmarks/tabulate_rnn_qe_training.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_outputs_option,
        predictions=rnn_qe_training_options,
        sums=rnn_qe_training_sums,
        names=rnn_qe_training_names,
        settings=rnn_qe_settings("data", "neighbors"),
    shell:
        "python workflow/scripts/tabulate_rnn_qe_training.py {params.numbers} {params.predictions}"
        " --names {params.names} --settings {params.settings} --out {output.csv} --log {log}"


rule plot_rnn_qe_data_size:
    input:
        curve=rnn_qe_curve,
        outputs=rnn_qe_outputs,
        predictions=rnn_qe_curve_inputs,
        table="results/tables/rnn_qe_table3.csv",
        code=code("plot_rnn_qe_data_size.py"),
    output:
        svg=report(
            "results/figures/rnn_qe_data_size.svg",
            caption="../report/rnn_qe_data_size.rst",
            category="RNN-QE",
            labels={"item": "beyond the paper", "content": "fewer rated outputs"},
        ),
        others=multiext("results/figures/rnn_qe_data_size", ".pdf", ".png"),
    log:
        "results/logs/plot_rnn_qe_data_size.log",
    benchmark:
        "results/benchmarks/plot_rnn_qe_data_size.tsv"
    conda:
        "../../envs/refless.yaml"
    params:
        numbers=rnn_qe_curve_option,
        outputs=rnn_qe_outputs_option,
        predictions=rnn_qe_curve_options,
        sums=rnn_qe_curve_sums,
        settings=rnn_qe_settings("data", "neighbors"),
    shell:
        "python workflow/scripts/plot_rnn_qe_data_size.py {params.numbers} {params.outputs}"
        " {params.predictions} --settings {params.settings} --table {input.table}"
        " --out results/figures/rnn_qe_data_size --log {log}"
