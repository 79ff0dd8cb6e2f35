# Two commands do everything on a fresh machine: `make demo` and `make test`. Both set up by themselves.
# The Python that .venv is made from: that of the system, where it will do. Distributions optimize theirs with profiles,
# version managers do not, and the tests take a sixth longer.
PYTHONS ?= /usr/bin/python3 python3
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(or $(shell for each in $(PYTHONS); do $$each -c '$(FITS)' 2> /dev/null && echo $$each && break; done),python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP = DIST_EXTRA_CONFIG=$(CURDIR)/.ci/wheels.cfg $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL = $(PIP) install --no-compile
WHEELS := build/wheels
CONFORM := $(BIN)/conform
DEMO := build/demo
SITE := build/site
BENCHES := judge_throughput explorer published_specs
# The version of a wheel names its commit: pip keeps what is installed if only the content differs.
COMMIT = $(shell git describe --always --abbrev=8 --exclude='*' --dirty=.dirty 2>/dev/null)
BUILD = $(if $(COMMIT),.dev$(shell git rev-list --count HEAD)+g$(COMMIT))
# How many tests run at once, and the paths that `make test` and `make slow` are confined to.
WORKERS ?= 2
ONLY ?=
# The tests start many processes that import the same modules: their bytecode is kept, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test slow check docs generate bench dist clean need-python need-java all-but-spark pyspark-alone

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) ## create .venv and install the project with its development tools

$(STAMP): pyproject.toml | need-python
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip # pip 23, which comes with Python 3.11, takes half as long again
	$(MAKE) --no-print-directory -j 2 all-but-spark pyspark-alone
	$(INSTALL) 'charter-conform[spark]'
	rm -rf $(WHEELS)
	@touch $@

# PySpark comes as a source archive of 400 MB, which is built and unpacked while everything else is installed.
all-but-spark:
	$(INSTALL) --editable '.[smt,tla,lsp,dev]'

pyspark-alone:
	rm -rf $(WHEELS) # an interrupted setup may have left one of another version
	$(PIP) wheel --no-deps --wheel-dir $(WHEELS) "$$(sed -n 's/^optional-dependencies.spark = \["\([^"]*\)".*/\1/p' pyproject.toml)"
	$(INSTALL) --no-deps $(WHEELS)/pyspark-*.whl

# Exit code 1 is a finding, and a demo is there to show findings. Everything else stops it.
demo: need-java setup ## judge four releases of Apache Kafka, compare them, leave a report in build/demo
	rm -rf $(DEMO)
	$(CONFORM) run --target kafka-controller --releases 4.0.2,4.1.1,4.2.1,4.3.1 --out $(DEMO) || [ $$? -eq 1 ]
	$(CONFORM) report $(DEMO) --out $(DEMO)/report
	$(CONFORM) compare $(DEMO) || [ $$? -eq 1 ]
	@echo 'Open $(DEMO)/report/index.html in a browser.'

test: need-java setup ## run every test but the slow ones; with ONLY=PATH those of a file or folder
	$(BIN)/python -m pytest $(or $(ONLY),-n $(WORKERS) --dist loadgroup)

slow: need-java setup ## run the slow tests, or with ONLY=PATH some: larger instances, every release
	$(BIN)/python -m pytest -m slow $(ONLY)

check: setup ## what a reviewer would run first: style, types, imports, charters, generated files
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(CONFORM) check spec/kafka
	set -e; for charter in spec/examples/*.charter; do $(CONFORM) check $$charter; done
	$(CONFORM) generate --check

docs: $(VENV)/.docs ## build the documentation site in build/site; a dead link is an error
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto -c docs/site . $(SITE)
	$(CONFORM) generate --backend handbook spec/kafka --out $(SITE)/handbook > /dev/null
	$(BIN)/python -m tests.support.links $(SITE)
	@echo 'Open $(SITE)/index.html in a browser.'

$(VENV)/.docs: $(STAMP)
	$(INSTALL) --editable '.[docs]'
	@touch $@

generate: setup ## write generated/ anew from spec/
	$(CONFORM) generate

bench: need-java setup ## measure, and print ratios
	set -e; for bench in $(BENCHES); do $(BIN)/python -m tests.benchmarks.$$bench; done

dist: need-python ## build the wheel into build/dist
	rm -rf build/dist build/dist-env
	$(PYTHON) -m venv build/dist-env
	CHARTER_BUILD=$(BUILD) $(PIP:$(BIN)/%=build/dist-env/bin/%) wheel --no-deps --wheel-dir build/dist .
	rm -rf build/dist-env

clean: ## remove what commands left behind, but neither .venv nor the cache of downloads
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis spark-warehouse
	find compiler conformance generated tests -name __pycache__ -type d -prune -exec rm -rf {} +

need-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'Python 3.11 or newer is needed: install it, or name it with make PYTHON=python3.11.' >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	{ echo 'The Python modules venv and ensurepip are needed: install the package python3-venv.' >&2; exit 2; }

need-java:
	@javac -version >/dev/null 2>&1 || \
	{ echo 'A JDK of version 17 or newer is needed: install it (openjdk-17-jdk-headless) and put javac on the path.' >&2; exit 2; }
	@[ "$$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')" -ge 17 ] || \
	{ echo 'The JDK on the path is older than 17: put a newer one first.' >&2; exit 2; }
	@mvn -v >/dev/null 2>&1 || \
	{ echo 'Maven is needed to fetch Kafka: install it (maven) and put mvn on the path.' >&2; exit 2; }
