# make film    the R44 film, in out/
# make test    all tests
# make check   style, types and import rules
# make clean   away with all that was installed and cached; films stay
#
# Each installs first what it needs and is not there: system libraries through the system's package manager,
# everything Python into .venv, in the exact versions of .ci/constraints.txt.

PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
PIP := PYTHONWARNINGS=ignore $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: film test check clean FORCE
.NOTPARALLEL:
.DELETE_ON_ERROR:

film: build/film
	@$(BIN)/addnorm render

test: build/dev
	@$(BIN)/pytest

check: build/dev
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

clean:
	rm -rf .venv build *.egg-info .*_cache .hypothesis out/.addnorm
	find mathcore scenes assets tests -name __pycache__ -prune -exec rm -rf {} +

# The packages are linked file by file into build/, where Python and the type checker find them under the name
# addnorm: edits show at once, and a file that comes or goes is linked anew by the next make.
build/film build/dev: pyproject.toml build/files .venv/pyvenv.cfg
	@echo "Installing addnorm and the Python packages it needs into .venv; the first time this takes a minute or two"
	@$(PIP) install --no-build-isolation --constraint .ci/constraints.txt \
	    --config-settings editable_mode=strict --editable '.$(EXTRA)'
	@touch $@

build/dev: EXTRA = [dev]

build/files: FORCE
	@mkdir -p build
	@find mathcore scenes assets -name __pycache__ -prune -o -type f -print | LC_ALL=C sort > $@.now
	@cmp -s $@.now $@ && rm $@.now || mv $@.now $@

.venv/pyvenv.cfg: .ci/constraints.txt
	@test -n "$(PYTHON)" || { echo "addnorm needs Python 3.11 or later with venv." >&2; exit 1; }
	@.ci/system-libraries $(PYTHON)
	@$(PYTHON) -m venv .venv
	@$(PIP) install --constraint .ci/constraints.txt --upgrade pip setuptools
	@touch $@
