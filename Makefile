# Sets everything up and runs the quickstart: `make`. Tests: `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# What comes along is read, whatever mirror there is; raw files that were fetched before are used. No network is trained.
OFFLINE := --config network=False 'rnn_qe={"train": "never"}'
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# A minute or two, of which pip says nothing or far too much: a count of its packages, on a terminal
# in place, else a line for each 20.
define count_packages
@{ $(subst --quiet,--progress-bar off,$(PIP)) $(1) || touch $@.failed; } \
  | awk -v terminal="$$([ -t 1 ] && echo yes)" ' \
    /^Collecting/ { n++; if (terminal) printf "\r%d packages", n; else if (n % 20 == 0) print n " packages"; fflush() } \
    /^Installing collected/ { printf "%s%d packages: installing\n", terminal ? "\r" : "", n; fflush() }'; \
  ! rm $@.failed 2> /dev/null
endef

.DEFAULT_GOAL := quickstart

quickstart: $(VENV)/core.done ## tables, figures and report from what is at hand, without network
	REFLESS_MIRROR= $(BIN)/python -m snakemake --cores $(CORES) $(OFFLINE) -- all

all: $(VENV)/core.done ## the full reproduction: fetches the raw data and computes all but what needs torch
	$(BIN)/python -m snakemake --cores $(CORES)


test: $(VENV)/dev.done ## the tests: everything fast, side by side, in any order
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadgroup $(TESTS)

test-all: $(VENV)/dev.done ## the slow ones as well: killed runs, real data (REFLESS_MIRROR), browser, torch, Slurm
	$(BIN)/python -m pytest -m "not slurm" -n auto --maxprocesses 4 --dist loadgroup $(TESTS)
	$(MAKE) test-bounds
	@if $(BIN)/python tests/slurm/cluster.py; then $(MAKE) test-slurm; \
	else echo "Slurm's tests did not run"; fi

# numba keeps both kinds of code under the same names, so the cache is one of its own.
test-bounds: $(VENV)/dev.done ## the compiled code again, with each index checked
	rm -rf build/numba
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/numba $(BIN)/python -m pytest -m "not slow" \
	  -n auto --maxprocesses 4 tests/kernels/test_matrix.py tests/kernels/test_peers.py \
	  tests/models/test_delta_bleu.py tests/statistics

test-slurm: $(VENV)/dev.done $(VENV)/slurm.done ## jobs through a real Slurm (as root, on Debian)
	$(BIN)/python tests/slurm/cluster.py $(BIN)/python -m pytest -m slurm tests/slurm

files: $(VENV)/files.done ## install what reads Parquet, Feather and Excel files

slurm: $(VENV)/slurm.done ## install Snakemake's plugins for clusters (docs/cluster.md)

torch: $(VENV)/torch.done ## install torch and an encoder, for the kernels bertscore.*

lint: $(VENV)/dev.done ## linters, formatters and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(BIN)/python -m snakemake --lint

audit: $(VENV)/dev.done $(VENV)/audit.done ## licences, and known vulnerabilities (needs PyPI, or says that it did not run)
	$(BIN)/python envs/check.py licences
	$(VENV)-audit/bin/python envs/check.py vulnerabilities

format: $(VENV)/dev.done ## put code and rules into their form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m snakefmt Snakefile workflow/Snakefile workflow/rules

ship: $(VENV)/core.done ## renew resources/shipped from results (needs the raw data)
	$(BIN)/python -m snakemake --cores $(CORES) ship

docs: $(VENV)/docs.done ## docs/settings.md, the notebook, the picture of README, and the handbook (site/)
	$(BIN)/python -m snakemake --cores $(CORES) --quiet all $(OFFLINE) -- all
	cp results/figures/reproducibility_cells.png docs/images/agreement.png
	$(BIN)/python docs/run_notebook.py
	sed -E 's,\]\(docs/,](,g; s,\[([^]]*)\]\((C[A-Z]*\.[a-z]*|examples/[^)]*)\),\1,g' README.md > docs/index.md
	$(BIN)/python -m refless.settings > docs/settings.md
	$(BIN)/python -m refless.settings schema > workflow/schemas/config.schema.yaml
	$(BIN)/python -m refless.report.catalogue > codecheck.yml
	$(BIN)/mkdocs build --strict

benchmark: $(VENV)/dev.done ## how fast kernels, ΔBLEU and, after `make torch`, training are here
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.delta_bleu
	$(BIN)/python -m benchmarks.neighbors
	@! $(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/python -m benchmarks.rnn_qe

lock: ## renew the locks (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/core.in -o envs/lock/core.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/core.in envs/dev.in -c envs/lock/core.txt -o envs/lock/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/docs.in -c envs/lock/core.txt -o envs/lock/docs.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/files.in -c envs/lock/core.txt -o envs/lock/files.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/slurm.in -c envs/lock/core.txt -o envs/lock/slurm.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/qe.in envs/torch.in -c envs/lock/core.txt -o envs/lock/torch-wheel.txt
	awk '/^[a-z]/ {wheel = /^(torch|triton|nvidia-.*|cuda-.*)==/} !wheel' \
	  envs/lock/torch-wheel.txt > envs/lock/torch.txt
	awk '/^[a-z]/ {wheel = /^(torch|triton|nvidia-.*|cuda-.*)==/} wheel' \
	  envs/lock/torch-wheel.txt > envs/lock/torch-wheel.tmp
	mv envs/lock/torch-wheel.tmp envs/lock/torch-wheel.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate envs/audit.in -o envs/lock/audit.txt

# What was trained stays, and so does what it was trained on and what Snakemake knows of both.
clean: ## remove results; raw data, ratings, trained networks' predictions stay
	@find results .snakemake ! -path 'results/rnn_qe/predictions*' ! -path 'results/ratings*' \
	  ! -path '.snakemake/metadata*' -delete 2> /dev/null || true

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(VENV)/bin/python:
	@case "$$PWD" in *'$$'*) echo "make cannot install refless in $$PWD: setuptools takes what follows" \
	  "a dollar sign for a variable. docs/reproduce.md has the commands without make."; exit 1;; esac
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "refless needs Python 3.11 or later; say which: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.done: envs/lock/core.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing what refless needs into $(VENV) (a minute or two) ..."
	$(call count_packages,--require-hashes -r envs/lock/core.txt)
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# The locks are whole, so pip need not look for dependencies; a wheel of torch that is given may have
# others than the index's.
$(VENV)/torch.done: envs/lock/torch.txt envs/lock/torch-wheel.txt $(VENV)/core.done
	@echo "Installing what BERTScore needs (torch is large) ..."
	$(call count_packages,--no-deps --require-hashes -r envs/lock/torch.txt)
	$(PIP) $(if $(TORCH),$(TORCH),--no-deps --require-hashes -r envs/lock/torch-wheel.txt)
	$(BIN)/python -m refless.fetch --keep-going models/roberta-large
	@touch $@

$(VENV)/files.done: envs/lock/files.txt $(VENV)/core.done
	@echo "Installing what reads Parquet, Feather and Excel files ..."
	$(PIP) --require-hashes -r envs/lock/files.txt
	@touch $@

$(VENV)/slurm.done: envs/lock/slurm.txt $(VENV)/core.done
	@echo "Installing Snakemake's plugins for clusters ..."
	$(call count_packages,--require-hashes -r envs/lock/slurm.txt)
	@touch $@

# Apart, for what it needs would stand among what is looked at.
$(VENV)/audit.done: envs/lock/audit.txt | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip --disable-pip-version-check install --quiet \
	  --require-hashes -r envs/lock/audit.txt
	@touch $@

$(VENV)/dev.done: envs/lock/dev.txt $(VENV)/core.done
	@echo "Installing what the tests need ..."
	$(call count_packages,--require-hashes -r envs/lock/dev.txt)
	@touch $@

$(VENV)/docs.done: envs/lock/docs.txt $(VENV)/core.done
	@echo "Installing what builds the handbook ..."
	$(call count_packages,--require-hashes -r envs/lock/docs.txt)
	@touch $@
