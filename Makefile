# make film    the R44 film, in out/
# make test    all tests
# make check   style, types and import rules
# make bench   how fast it is, measured against manim, ffmpeg and numpy; takes some minutes
# make clean   away with all that was installed and cached; films stay
#
# Each installs first what it needs and is not there: system libraries, and for the tests the programs that open
# exports, through the system's package manager; everything Python into .venv, in the exact versions of .ci/constraints.txt.

PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
PIP := PYTHONWARNINGS=ignore $(BIN)/python -m pip --quiet --disable-pip-version-check install \
    --constraint .ci/constraints.txt

.PHONY: film test check bench clean FORCE
.DELETE_ON_ERROR:
.NOTPARALLEL:

film: .venv/film build/linked
	@$(BIN)/addnorm render

test: .venv/dev build/linked
	@.ci/viewers
	@$(BIN)/pytest

check: .venv/dev build/linked
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: .venv/dev build/linked
	@.ci/viewers
	@$(BIN)/python tests/benchmarks/bench.py

clean:
	rm -rf .venv build *.egg-info .*_cache .hypothesis out/.addnorm
	find mathcore scenes assets tests -name __pycache__ -prune -exec rm -rf {} +

.venv/pyvenv.cfg: .ci/constraints.txt
	@test -n "$(PYTHON)" || { echo "addnorm needs Python 3.11 or later, with venv." >&2; exit 1; }
	@.ci/system-libraries $(PYTHON)
	@$(PYTHON) -m venv .venv
	@$(PIP) --upgrade pip setuptools
	@touch $@

.venv/dev: EXTRA = [dev]
.venv/film .venv/dev: pyproject.toml .venv/pyvenv.cfg
	@echo "Installing the Python packages that addnorm needs into .venv; the first time this takes a minute or two"
	@$(PIP) --only-deps '.$(EXTRA)'
	@touch $@

# addnorm itself is linked file by file into build/, where Python and the type checker find it under its name: edits
# show at once, and a file that comes or goes is linked anew by the next make.
build/linked: pyproject.toml build/files .venv/pyvenv.cfg
	@$(PIP) --no-deps --no-build-isolation --config-settings editable_mode=strict --editable .
	@touch $@

build/files: FORCE
	@mkdir -p build
	@find mathcore scenes assets -name __pycache__ -prune -o -type f -print | LC_ALL=C sort > $@.now
	@cmp -s $@.now $@ && rm $@.now || mv $@.now $@
