# The few verbs of the project; CI calls the same ones. Each does its own set-up.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-lowest check format nightly constraints clean

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python
# Three processes on any machine: two cores are half idle with two, since tests wait for services,
# and each process may start a Kafka of its own. A file of tests is one process's: what its tests
# share, they start once. In the order of the folders, so that the long ones do not begin last.
WORKERS ?= 3
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
WHAT := --editable '.[grpc,monitor,judges]' --group dev

help:  ## List the verbs.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## ?/  make \1\t/' | expand -t 22

setup: $(STAMP)  ## Make .venv with everything that tests and benchmarks import.

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Seekwatch needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	@echo 'Setting up .venv (half a minute the first time)'
	@test -x $(BIN)/python -a -x $(BIN)/pip || $(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo 'Debian and Ubuntu keep venv apart: apt-get install python3-venv' >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@$(INSTALL) --constraint constraints.txt $(WHAT)
	@touch $@

demo: setup  ## Watch an agent go wrong and the alert fire (ARGS="--seconds 60 --json FILE").
	@$(BIN)/python -m demo $(ARGS)

test: setup  ## Run the tests (ARGS="-k name"; WORKERS=0 for one process, as --pdb needs).
	$(BIN)/pytest $(PARALLEL) $(ARGS)

test-lowest: setup  ## Run the SDK's tests on the lowest OpenTelemetry that is supported.
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	@$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --constraint constraints-lowest.txt $(WHAT)
	.venv-lowest/bin/pytest $(PARALLEL) tests/sdk $(ARGS)

check: setup  ## Lint, types, import layers, rule files.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m rules.generate --check

format: setup  ## Format the code.
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

nightly: setup  ## What is longer than CI allows, and the benchmarks; results go into docs/results/.
	$(BIN)/python -m benchmarks.nightly $(ARGS)

constraints: setup  ## Renew constraints.txt: the newest versions that pyproject.toml allows.
	$(INSTALL) --upgrade $(WHAT)
	{ sed -n '/^#/p' constraints.txt; $(BIN)/uv pip freeze --quiet --exclude-editable --python $(BIN)/python \
	  | grep -vE '^(pip|setuptools)=='; } > constraints.new
	mv constraints.new constraints.txt

clean:  ## Remove what the other verbs made.
	rm -rf .venv .venv-lowest .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist
