# The few verbs of the project; CI calls the same ones. Each does its own set-up.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check format rules nightly benchmarks clean

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

help:  ## List the verbs.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## ?/  make \1\t/' | expand -t 22

setup: $(STAMP)  ## Make .venv with everything that tests and benchmarks import.

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Seekwatch needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[grpc,monitor]' --group dev
	touch $@

demo: setup  ## Watch an agent go wrong and the alert fire (ARGS="--seconds 60 --json FILE").
	$(BIN)/python -m benchmarks.demo $(ARGS)

test: setup  ## Run the tests (ARGS="-k name").
	$(BIN)/pytest $(ARGS)

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

clean:  ## Remove what the other verbs made.
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist
