# `make` lists the targets. Everything is installed into .venv; nothing else of the machine is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help setup quick test lint types clean

help:
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || \
	  { echo "Python 3.11, 3.12 or 3.13 is needed (found: $$($(PYTHON) --version 2>&1)); name one with: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(STAMP) ## install the project and its tools into .venv

quick: $(STAMP) ## lint, types and the tests that need no JVM
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/pytest -q

test: $(STAMP) ## all tests
	@$(BIN)/pytest -m '' 

lint: $(STAMP) ## ruff
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(STAMP) ## mypy --strict
	@$(BIN)/mypy

clean: ## remove what make made
	@rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
