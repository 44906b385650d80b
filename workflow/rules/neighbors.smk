# Stage: prediction. In: ratings and kernels, computed or shipped. Out: results/neighbors (an
# estimate and a number of neighbors for each text) and results/curves (sweeps over both).


rule predict_neighbors:
    input:
        ratings=task_ratings,
        kernels=task_kernels,
        code=prediction_code,
    output:
        predictions="results/neighbors/{task}.csv",
        about="results/neighbors/{task}.json",
    log:
        "results/logs/predict_neighbors/{task}.log",
    benchmark:
        "results/benchmarks/predict_neighbors/{task}.tsv"
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        directory=task_ratings_directory,
        taus=as_json(kernel_taus()),
    shell:
        "python workflow/scripts/predict_neighbors.py --kernels {input.kernels}"
        " --ratings {params.directory} --taus {params.taus}"
        " --out {output.predictions} --log {log}"


rule compute_threshold_curves:
    input:
        kernel=task_kernel,
        ratings=task_ratings,
        code=threshold_code,
    output:
        "results/curves/{task}/{kernel}.thresholds.csv",
    log:
        "results/logs/compute_threshold_curves/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_threshold_curves/{task}/{kernel}.tsv"
    wildcard_constraints:
        kernel=r"[a-z][A-Za-z0-9._-]*",
    conda:
        "../../envs/refless.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        directory=task_ratings_directory,
        tau=kernel_tau,
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
        a_range=NEIGHBORS["thresholds"]["a"],
        b_step=NEIGHBORS["thresholds"]["b_step"],
    shell:
        "python workflow/scripts/compute_threshold_curves.py --kernel {input.kernel}"
        " --ratings {params.directory} --tau {params.tau} --a {params.a} --b {params.b}"
        " --a-range {params.a_range} --b-step {params.b_step} --out {output} --log {log}"


rule compute_data_size_curve:
    input:
        ratings=task_ratings,
        numbers=data_size_numbers,
        code=data_size_code,
    output:
        csv="results/curves/{task}/{kernel}.data_size.csv",
        json="results/curves/{task}/{kernel}.data_size.json",
    log:
        "results/logs/compute_data_size_curve/{task}/{kernel}.log",
    benchmark:
        "results/benchmarks/compute_data_size_curve/{task}/{kernel}.tsv"
    wildcard_constraints:
        kernel=r"[a-z][A-Za-z0-9._-]*",
    conda:
        "../../envs/refless.yaml"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        directory=task_ratings_directory,
        numbers=data_size_option,
        points=data_size_points,
        tau=kernel_tau,
        a=NEIGHBORS["min_neighbors"],
        b=NEIGHBORS["max_share"],
        size=NEIGHBORS["data_size"],
    shell:
        "python workflow/scripts/compute_data_size_curve.py {params.numbers}"
        " --ratings {params.directory} --tau {params.tau} --a {params.a} --b {params.b}"
        " {params.points} --subsets {params.size[subsets]} --seed {params.size[seed]}"
        " --threads {threads} --out {output.csv} --log {log}"
