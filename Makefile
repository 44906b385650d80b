# Sets everything up and runs the quickstart: `make`. Tests: `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: quickstart all test test-all test-slurm torch slurm lint format lock ship docs benchmark clean help
.DEFAULT_GOAL := quickstart

quickstart: $(VENV)/core.done ## tables, figures and report from what is at hand, without network
	$(BIN)/snakemake --cores $(CORES) --config numbers=auto -- quickstart

all: $(VENV)/core.done ## the full reproduction: fetches the raw data and computes everything
	$(BIN)/snakemake --cores $(CORES)

test: $(VENV)/dev.done ## the tests: everything fast, side by side, in any order
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadgroup

test-all: $(VENV)/dev.done ## the slow ones as well: killed runs, real data (REFLESS_MIRROR), browser, torch, Slurm
	$(BIN)/python -m pytest -m "not slurm" -n auto --maxprocesses 4 --dist loadgroup
	@if command -v slurmctld > /dev/null && [ "$$(id -u)" = 0 ]; then $(MAKE) test-slurm; \
	else echo "Slurm's tests did not run: they want slurm-wlm and munge, and root"; fi

test-slurm: $(VENV)/dev.done $(VENV)/slurm.done ## jobs through a real Slurm (as root, on Debian)
	$(BIN)/python -m pytest -m slurm tests/slurm

slurm: $(VENV)/slurm.done ## install Snakemake's plugins for clusters (docs/cluster.md)

torch: $(VENV)/torch.done ## install torch and an encoder, for the kernels bertscore.*

lint: $(VENV)/dev.done ## linters, formatters and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: $(VENV)/dev.done ## put code and rules into their form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

ship: $(VENV)/core.done ## renew resources/shipped from results (needs the raw data)
	$(BIN)/snakemake --cores $(CORES) ship

docs: $(VENV)/core.done ## renew what is made: the README's tables, docs/settings.md
	$(BIN)/snakemake --cores $(CORES) --quiet all -- bleu_neighbors_table1 rnn_qe_table3
	$(BIN)/python docs/update_readme.py
	$(BIN)/python -m refless.settings > docs/settings.md

benchmark: $(VENV)/dev.done ## how fast kernels and ΔBLEU are here (BENCHMARK=--record: for the README)
	$(BIN)/python -m benchmarks.kernels $(BENCHMARK)
	$(BIN)/python -m benchmarks.delta_bleu $(BENCHMARK)

lock: ## renew the locks (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/core.in -o envs/lock/core.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/core.in envs/dev.in -c envs/lock/core.txt -o envs/lock/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/slurm.in -c envs/lock/core.txt -o envs/lock/slurm.txt
	uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate \
	  envs/torch.in -c envs/lock/core.txt | grep -vE '^(nvidia-|cuda-|triton=)' > envs/lock/torch.txt

clean: ## remove results; raw data and the environment stay
	rm -rf results .snakemake

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "refless needs Python 3.11 or later; say which: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.done: envs/lock/core.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing what refless needs into $(VENV) (a minute or two) ..."
	$(PIP) --require-hashes -r envs/lock/core.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/torch.done: envs/lock/torch.txt $(VENV)/core.done
	@echo "Installing what BERTScore needs (torch is large) ..."
	$(PIP) -r envs/lock/torch.txt
	@touch $@

$(VENV)/slurm.done: envs/lock/slurm.txt $(VENV)/core.done
	@echo "Installing Snakemake's plugins for clusters ..."
	$(PIP) --require-hashes -r envs/lock/slurm.txt
	@touch $@

$(VENV)/dev.done: envs/lock/dev.txt $(VENV)/core.done
	@echo "Installing what the tests need ..."
	$(PIP) --require-hashes -r envs/lock/dev.txt
	@touch $@
