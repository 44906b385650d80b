# Stage: kernel. In: rated texts. Out: results/kernels/<task>/<kernel>/<block>of<blocks>.npy: the rows
# of a matrix in as many files as the data set's `blocks`, float32.

PREDICTIONS = there("results/neighbors/{task}/{kernel}.csv", task=TASKS, kernel=SETTINGS.kernels())


rule compute_kernel:
    input:
        ratings=RATINGS,
        resources=lambda wildcards: PLAN.files(wildcards.kernel),
    output:
        multiext("results/kernels/{task}/{kernel}/{block}of{blocks}", ".npy", ".json"),
    log:
        "results/logs/compute_kernel/{task}/{kernel}/{block}of{blocks}.log",
    conda:
        lambda wildcards: (
            "../../envs/torch.yaml" if has_encoder(wildcards.kernel) else "../../envs/refless.yaml"
        )
    threads: 1  # with more, it would wait for as many free cores, and kernels are many
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        options=lambda wildcards: PLAN.options(wildcards.kernel),
        code=lambda wildcards: code("compute_kernel.py", module(wildcards.kernel)),
    script:
        "../scripts/compute_kernel.py"


rule kernels:
    input:
        [
            block
            for path in PREDICTIONS
            if path.startswith("results/")
            for block in matrix(Path(path).parent.name, Path(path).stem)
        ],
