# Two commands: `make demo` shows the product, `make test` proves it. Each does its own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
SERVE := $(VENV)/.serve

.PHONY: demo console test browser lint soak bench bench-error bench-large bench-attacks bench-service bench-charges bench-engines lab docs clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Discreet needs Python 3.11 or newer, got " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

demo: $(READY)  ## a short guided tour in the terminal
	@$(BIN)/discreet demo

$(SERVE): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve]'
	@touch $@

console: $(SERVE)  ## the same hospital served to an owner and two analysts, in a browser
	@$(BIN)/discreet serve --demo

lint: $(DEV)  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

browser:  # for the tests of the page of surveys: Debian's, where this may install it
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null || \
	  echo "No chromium, and it could not be installed: tests in a browser are skipped, and fail where CI is set." >&2

test: export PYTHONDONTWRITEBYTECODE :=  # tests start hundreds of processes, and none should compile the sources again
test: lint browser  ## every check there is
	$(BIN)/pytest -n auto

soak: $(DEV)  ## the long checks at full size: 10,000 requests, 200 kills, audits of a million answers
	$(BIN)/python -m tests.soak

bench: $(READY)  ## measure, and measure the peers in the same run; DATA=folder recodes the Adult table in it
	$(BIN)/python -m $(if $(DATA),bench.publishing "$(DATA)",bench)

bench-error: $(READY)  ## how far off the answers are, beside the peers', and which groups they show (an hour)
	$(BIN)/python -m bench error

bench-attacks: $(READY)  ## what reconstruction and tracing reach beside closed forms; PAGE=file draws the curves
	$(BIN)/python -m bench.attacks $(if $(PAGE),"$(PAGE)")

bench-service: $(DEV)  ## fifty analysts and a crash for five minutes, and the time from the start to the first page
	$(BIN)/python -m bench.service
	$(BIN)/python -m bench.cold_start

bench-charges: $(DEV)  ## durable charges a second from 32 askers, in a file and on a PostgreSQL server
	$(BIN)/python -m bench.charges

bench-engines: $(DEV)  ## questions on rows in PostgreSQL and in Spark, beside the plain query there (10 million rows)
	-$(BIN)/python -m bench.engines postgres
	-$(BIN)/python -m bench.engines postgres-indexed
	-$(BIN)/python -m bench.engines spark

bench-large: $(READY)  ## time and memory of 100 million rows
	$(BIN)/python -m bench large

lab: $(READY)  ## every attack against every defence, on two tables: writes docs/explanation/scoreboard.md (minutes)
	$(BIN)/python -m tools.lab_page

docs: $(DEV)  ## write docs/reference from the code
	$(BIN)/python -m tools.reference

clean:  ## remove what the other targets made
	rm -rf $(VENV) .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
