# The two commands: `make run` and `make test`. `make help` lists all.

PYTHON ?= python3
VENV := .venv
WBLAB := $(VENV)/bin/wblab
STAMP := $(VENV)/.installed
SERIES := $(shell sed -n 's/^default = "\(.*\)"/\1/p' linux-uml/kernels.toml)
DEVELOPED := $(VENV)/.developed
PIP := $(VENV)/bin/pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
# What takes long says when it begins and how long it took, also where nobody sees a bar.
STEP := $(PYTHON) -m wblab.lab.progress
# Jupyter asks for it, so that nobody is root by accident.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# Tests of one file share what they made, and so run in one process. The option is one word: pytest takes a file that exists
# for a path of tests as long as it does not know the option before it.
PYTEST = $(VENV)/bin/pytest -n auto --dist loadfile --no-loadscope-reorder --left-out=$(LEFT_OUT)

# What was not tested, and why: the parts of `make test` add to it.
LEFT_OUT := .pytest_cache/left-out

.DEFAULT_GOAL := help
.PHONY: help run first test developed stock unit uml soak golden expected figures results knobs wisdom atlas outside findings pictures lint docs bench artifact notebooks kernel dist lock ends setup packages doctor clean

help: ## Show this help
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

run: first ## Set up, build the kernel, run the base experiment and draw its timeline
	@run=$$($(WBLAB) run) && \
	$(WBLAB) timeline "$$run" && \
	$(WBLAB) why --pauses "$$run"
	@$(WBLAB) kernel info $(SERIES) > /dev/null 2>&1 || \
	echo "This kernel has ext2, ext3 and ext4. One with XFS, btrfs, F2FS and FAT, and with the figures of the docs to the bit: make kernel"

# What the first picture needs, which takes less time to compile.
first: setup
	@$(WBLAB) kernel info > /dev/null 2>&1 || $(WBLAB) kernel build $(SERIES)+lean || $(WBLAB) kernel build

test: forget lint docs unit uml ## Set up, check and test everything; boots real kernels
	@echo; if [ -s $(LEFT_OUT) ]; then echo "Not tested here, and why:"; cat $(LEFT_OUT); \
	else echo "Nothing was left out."; fi; echo "Longer versions of some tests: make soak"

forget:
	@mkdir -p $(dir $(LEFT_OUT)) && rm -f $(LEFT_OUT)

pictures: developed kernel ## Draw the pictures of the docs of their runs (docs/pictures.toml)
	@$(VENV)/bin/python docs/pictures.py

outside: developed kernel ## Run what experiments/measured/outside lists on stock kernels, and write its page
	@$(VENV)/bin/python docs/results.py --outside

# The kernels that they need: wblab kernel build NAME, as the first call says.
findings: developed kernel ## Make the runs of all findings anew (an hour), and write their pages
	@for name in $$($(WBLAB) finding list --json | $(VENV)/bin/python -c 'import json, sys; [print(x["name"]) for x in json.load(sys.stdin)]'); do \
	    $(WBLAB) study "$$name" --update || exit; \
	done && $(VENV)/bin/python docs/results.py

lint: developed ## Check style, types and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: developed ## Build the documentation, docs/_build/index.html
	@rm -rf docs/_build && $(VENV)/bin/python docs/build.py

# They often wait for a process or a clock: three at a time keep two processors busy.
unit: developed ## Run the tests that boot nothing
	$(PYTEST) -n $$(($$(nproc) * 3 / 2)) -m "not soak" tests/unit

# Where it cannot be had, the tests that run it say that they were left out.
stock: developed ## Fetch a distribution's kernel, which some tests run in QEMU
	@$(WBLAB) kernel build --stock 7.2 > /dev/null || true

uml: developed kernel stock ## Run the tests that boot kernels
	$(PYTEST) -m "not soak" tests/uml

soak: developed kernel ## Run the long versions of tests: thousands of hostile inputs, kills, replays
	$(PYTEST) -m soak tests/unit tests/uml

golden: kernel ## Note what the base run gives here; others are compared with it
	@$(WBLAB) repeat golden --update

expected: kernel ## Note what the standard presets give here, on each series that is built
	@$(WBLAB) repeat golden --series all --update

figures: developed kernel ## Make the docs' figures anew, and write them into the pages
	@$(VENV)/bin/python docs/figures.py

results: developed kernel ## Check all claims anew, and write the page of their results
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
	for work in thesis li chadd stephens chopper; do \
	    $(WBLAB) study "$$work" -o "$$directory/$$work" || exit; \
	done && $(VENV)/bin/python docs/results.py "$$directory"/*

knobs: developed kernel ## Make the runs of the page to play with anew (some ten minutes), and keep what it shows
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
	$(WBLAB) study knobs --keep traces --exp "$$directory/exp" && \
	$(WBLAB) pack --site "$$directory/site" --runs none --explore "$$directory"/exp/*_knobs && \
	cp "$$directory/site/explore.json" experiments/measured/knobs.json

wisdom: developed kernel ## Try all recommendations anew (half an hour), and write the page of their results
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
	$(WBLAB) study folk-wisdom --exp "$$directory" && $(VENV)/bin/python docs/results.py "$$directory"/*

# Each call makes what exp/atlas-page lacks. A part: `wblab study -o exp/atlas-page --kernel 6.1 --filesystem ext4 --source li`.
atlas: developed kernel ## Make what the atlas of all kernels lacks (hours), and write its page
	@for filesystem in ext4 ext2 xfs; do \
	    $(WBLAB) study atlas -o exp/atlas-page --filesystem "$$filesystem" || exit; \
	done && $(VENV)/bin/python docs/results.py exp/atlas-page

bench: developed kernel ## Measure what things take; each beside what was measured before (exp/bench.jsonl)
	@$(VENV)/bin/pytest -m bench -q -s --timeout=1800

artifact: developed kernel ## Check the lab's main claims (half an hour on two cores); exp/artifact.log says what holds
	@$(VENV)/bin/python docs/artifact.py

notebooks: setup ## Open the notebooks in a browser (JupyterLab)
	@$(STEP) "what notebooks need" $(PIP) --editable '.[notebooks]'
	@mkdir -p exp/notebooks && cp -u -b analysis/*.ipynb exp/notebooks/  # saving one there changes no file of the lab
	@cp -u analysis/*.py exp/notebooks/
	$(VENV)/bin/jupyter lab --notebook-dir exp/notebooks $(AS_ROOT)

kernel: setup ## Build the kernel (cached)
	@$(WBLAB) kernel build

lock: developed ## Choose the newest Python packages in the ranges of pyproject.toml, in constraints.txt
	@$(VENV)/bin/python tests/support/versions.py lock

ends: developed ## Run the tests that use Python packages on the lowest and on the newest versions of each range
	@$(VENV)/bin/python tests/support/versions.py ends

# The same checkout and kernel give the same bytes. Another kernel: make dist KERNEL=6.12
dist: setup ## Build two wheels into dist/: the lab, and its kernel
	@$(WBLAB) kernel build $(KERNEL)
	@$(STEP) "what builds wheels" $(PIP) hatchling
	@rm -rf dist
	@$(STEP) "the lab's wheel" $(VENV)/bin/python -m hatchling build --target wheel
	@$(STEP) "the kernel's wheel" env -C misc/kernel-wheel WBLAB_KERNEL=$(KERNEL) \
	    $(CURDIR)/$(VENV)/bin/python -m hatchling build --target wheel --directory $(CURDIR)/dist

doctor: setup ## Check this machine
	@$(WBLAB) doctor

# What only tests need is installed for them only.
test unit uml soak: PACKAGES := --tests

setup: packages $(STAMP) ## Make .venv with the lab's core in it: run, draw, explain

developed: setup $(DEVELOPED)

packages:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "wblab: $(PYTHON) must be Python 3.11 or later: set PYTHON=python3.x" >&2; exit 2; }
	@$(PYTHON) -m wblab.lab.packages $(PACKAGES)

# Where PYTHONDONTWRITEBYTECODE is set, as in many containers, each command would compile what it imports: a fifth of a run.
# It only saves time, so a file that does not compile is left; some packages hold such.
COMPILE = $(VENV)/bin/python -m compileall -q -j 0 -x '/pip/|/tests?/' $(VENV)/lib wblab misc/tracecmd

$(STAMP): pyproject.toml constraints.txt
	@$(STEP) "virtual environment $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(STEP) "the lab and its Python packages" $(PIP) --editable .
	@$(STEP) "their byte code" $(COMPILE) || true
	@touch $@

$(DEVELOPED): $(STAMP) pyproject.toml constraints.txt
	@$(STEP) "what tests and all verbs need" $(PIP) --editable '.[dev]'
	@$(STEP) "their byte code" $(COMPILE) || true
	@touch $@

clean: ## Remove .venv and caches; results in exp/ and built kernels stay
	rm -rf $(VENV) dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info
