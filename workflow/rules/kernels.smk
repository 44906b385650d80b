# Stage: kernel. In: rated texts. Out: results/kernels/<dataset>/<kernel>/<block>of<blocks>.npy: the rows
# of a matrix in as many files as the data set's `blocks`, float32.

# kernels with an encoder, which torch computes
KERNELS_WITH_ENCODERS = "|".join(
    re.escape(name.removesuffix("*")) for name in kernel_names() if "torch" in entry(name).packages
)
PREDICTIONS = available(PREDICTED, dataset=TASKS, kernel=SETTINGS.kernels())


rule compute_kernel:
    input:
        ratings=RATINGS,
        resources=lambda wildcards: PLAN.files(wildcards.kernel),
    output:
        multiext("results/kernels/{dataset}/{kernel}/{block}of{blocks}", ".npy", ".json"),
    log:
        "results/logs/compute_kernel/{dataset}/{kernel}/{block}of{blocks}.log",
    benchmark:
        "results/logs/compute_kernel/{dataset}/{kernel}/{block}of{blocks}.tsv"
    wildcard_constraints:
        kernel=rf"(?!{KERNELS_WITH_ENCODERS})[^/]+",
    conda:
        "../../envs/refless.yaml"
    threads: 1  # with more, it would wait for as many free cores, and kernels are many
    resources:
        mem_mb=kernel_mb,
        runtime=kernel_minutes,
    params:
        options=lambda wildcards: PLAN.options(wildcards.kernel),
        code=lambda wildcards: code("compute_kernel.py", module(wildcards.kernel)),
    script:
        "../scripts/compute_kernel.py"


# A rule of its own, so that a profile can ask for a GPU here and nowhere else.
use rule compute_kernel as compute_encoder_kernel with:
    wildcard_constraints:
        kernel=rf"({KERNELS_WITH_ENCODERS})[^/]+",
    conda:
        "../../envs/torch.yaml"


rule kernels:
    input:
        [
            block
            for path in PREDICTIONS
            if path.startswith("results/")
            for block in matrix(Path(path).parent.name, Path(path).stem)
        ],
