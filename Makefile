# The two commands: `make run` and `make test`. `make help` lists all.

PYTHON ?= python3
VENV := .venv
WBLAB := $(VENV)/bin/wblab
STAMP := $(VENV)/.installed
# Jupyter asks for it, so that nobody is root by accident.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# Tests of one file share what they made, and so run in one process.
SIDE_BY_SIDE := -n auto --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help run test unit uml lint bench notebooks kernel setup packages doctor clean

help: ## Show this help
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

run: kernel ## Set up, build the kernel, run the base experiment and draw its timeline
	@run=$$($(WBLAB) run) && \
	$(WBLAB) timeline "$$run" && \
	$(WBLAB) pauses "$$run"

test: lint unit uml ## Set up, check and test everything; boots real kernels

lint: setup ## Check style, types and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

unit: setup ## Run the tests that boot nothing
	$(VENV)/bin/pytest $(SIDE_BY_SIDE) -m "not uml and not bench"

uml: kernel ## Run the tests that boot kernels
	$(VENV)/bin/pytest $(SIDE_BY_SIDE) -m "uml and not bench"

bench: kernel ## Measure how long things take, and where the time goes
	$(VENV)/bin/pytest -m bench -s

notebooks: setup ## Open the notebooks in a browser (JupyterLab)
	@$(VENV)/bin/pip install --quiet --no-compile --disable-pip-version-check --editable '.[notebooks]'
	$(VENV)/bin/jupyter lab --notebook-dir analysis $(AS_ROOT)

kernel: setup ## Build the kernel (cached)
	@$(WBLAB) kernel build

doctor: setup ## Check this machine
	@$(WBLAB) doctor

setup: packages $(STAMP) ## Make .venv with the lab in it

packages:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "wblab: $(PYTHON) must be Python 3.11 or later: set PYTHON=python3.x" >&2; exit 2; }
	@$(PYTHON) -m wblab.host.packages

$(STAMP): pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean: ## Remove .venv and caches; results in exp/ and built kernels stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info
