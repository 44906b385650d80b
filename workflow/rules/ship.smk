# Stage: none. In: every computed number that comes with refless. Out: resources/shipped.


# For the maintainers: renew the numbers that come with refless. It has no output of its own, so it
# runs whenever it is asked for.
rule ship:
    input:
        shippable_files,
        code=sorted(
            {*code("ship.py"), *code("ship_numbers.py"), *code("ship_arrays.py")}
        ),
    log:
        "results/logs/ship.log",
    localrule: True
    conda:
        "../../envs/refless.yaml"
    params:
        commands=ship_commands,
    shell:
        "( {params.commands} ) > {log} 2>&1"
