# Stage: kernel. In: rated texts. Out: results/kernels/<dataset>/<kernel>/<block>of<blocks>.npy: the rows
# of a matrix in as many files as the data set's `blocks`, float32.

ENCODERS = "|".join(map(re.escape, WITH_ENCODERS))
PREDICTIONS = there(
    "results/neighbors/{dataset}/{kernel}.csv", dataset=TASKS, kernel=SETTINGS.kernels()
)


def kernel_mb(wildcards, input, attempt):
    """Memory: some for the program, and a matrix of four bytes a pair of texts."""
    return attempt * int(2000 + 1000 * os.path.getsize(input.ratings[0]) / 1e6)


def kernel_minutes(wildcards, input, attempt):
    """Time for the slowest kernel, METEOR, which grows with the square of the texts; a hundred
    times as much with an encoder on a processor."""
    pairs = (os.path.getsize(input.ratings[0]) / 1e6) ** 2
    return attempt * int(60 + (100 if has_encoder(wildcards.kernel) else 10) * pairs)


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
        kernel=rf"(?!{ENCODERS})[^/]+",
    conda:
        "../../envs/refless.yaml"
    threads: 1  # with more, it would wait for as many free cores, and kernels are many
    resources:
        mem_mb=kernel_mb,
        runtime=kernel_minutes,
    params:
        entry=lambda wildcards: entry(wildcards.kernel)._asdict(),
        options=lambda wildcards: PLAN.options(wildcards.kernel),
        code=lambda wildcards: code("compute_kernel.py", module(wildcards.kernel)),
    script:
        "../scripts/compute_kernel.py"


# A rule of its own, so that a profile can ask for a GPU here and nowhere else.
use rule compute_kernel as compute_encoder_kernel with:
    wildcard_constraints:
        kernel=rf"({ENCODERS})[^/]+",
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
