# Two commands: `make demo` shows the product, `make test` proves it. Each does its own set-up. What lands passes `make test-all`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
SERVE := $(VENV)/.serve
DOCS := $(VENV)/.docs
SUPPLY := .supply
TOOLS := $(SUPPLY)/.ready
LOWEST := .lowest

.PHONY: demo console test test-all style types suite browser lint soak bench bench-error bench-large bench-attacks bench-service \
  bench-charges bench-ledger bench-periods bench-engines bench-before lab docs lock sbom advisories test-lowest clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# What was locked is what is installed, with hashes; LOCKS= takes the newest that pyproject.toml allows instead.
LOCKS ?= $(patsubst %/dev.txt,%,$(wildcard locks/dev.txt))
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --build-constraint $(LOCKS)/build.txt --requirement $(LOCKS)

$(READY): pyproject.toml $(wildcard locks/*.txt)
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Discreet needs Python 3.11 or newer, got " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(if $(LOCKS),--requirement $(LOCKS)/build.txt,--upgrade pip)
	$(if $(LOCKS),$(LOCKED)/base.txt)
	$(PIP) $(if $(LOCKS),--no-deps --no-build-isolation) --editable .
	@touch $@

$(DEV): $(READY)
	$(if $(LOCKS),$(LOCKED)/dev.txt,$(PIP) --group dev)
	@touch $@

demo: $(READY)  ## a short guided tour in the terminal
	@$(BIN)/discreet demo

$(SERVE): $(READY)
	$(if $(LOCKS),$(LOCKED)/serve.txt,$(PIP) --editable '.[serve]')
	@touch $@

console: $(SERVE)  ## the same hospital served to an owner and two analysts, in a browser
	@$(BIN)/discreet serve --demo

lint: style types  ## ruff, mypy --strict, import-linter

style: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

browser:  # for the tests of the page of surveys: Debian's, where this may install it
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null || \
	  echo "No chromium, and it could not be installed: tests in a browser are skipped, and fail where CI is set." >&2

test: export PYTHONDONTWRITEBYTECODE :=  # tests start hundreds of processes, and none should compile the sources again
test: style browser  ## style, types and every test, in ten minutes; of cases that show the same again, some
	@$(MAKE) --no-print-directory --jobs=2 types suite

test-all: export THOROUGH := 1
test-all: test  ## the same with all cases of every test, in about half an hour: what must pass before a change lands

suite: $(DEV)
	$(BIN)/pytest -n auto --dist loadgroup

soak: $(DEV) $(DOCS)  ## the long checks: faults at every write, kills, full disks, audits; SOAK="--only full-disk --scale 0.1"
	$(BIN)/python -m tests.soak $(SOAK)

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

bench-ledger: $(DEV)  ## opening and verifying ledgers of up to a million records, in a file and on a server (minutes)
	$(BIN)/python -m bench.ledger
	$(BIN)/python -m bench.ledger 100000 server

bench-periods: $(READY)  ## appending, closing, opening and asking tables that grow by periods (minutes)
	$(BIN)/python -m bench.periods

bench-engines: $(DEV)  ## questions on rows in PostgreSQL and in Spark, beside the plain query there (10 million rows)
	-$(BIN)/python -m bench.engines postgres
	-$(BIN)/python -m bench.engines postgres-indexed
	-$(BIN)/python -m bench.engines spark

bench-before: $(READY)  ## grouped COUNT, SUM, AVG of this tree beside an earlier revision, in turns; BEFORE=revision
	$(BIN)/python -m bench.before "$(BEFORE)"

bench-large: $(READY)  ## time and memory of 100 million rows
	$(BIN)/python -m bench large

lab: $(READY)  ## every attack against every defence, on two tables: writes docs/explanation/scoreboard.md (minutes)
	$(BIN)/python -m tools.lab_page

$(TOOLS): pyproject.toml $(wildcard locks/supply.txt)
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(LOCKS),--requirement $(LOCKS)/supply.txt,--upgrade pip)
	$(if $(LOCKS),,$(SUPPLY)/bin/python -m pip install --quiet --group supply)
	@touch $@

# No index and no path of the machine that locks may get into the files: pip takes them from wherever it is set to look.
LOCK := UV_CUSTOM_COMPILE_COMMAND="make lock" $(SUPPLY)/bin/uv pip compile --no-config --quiet --upgrade --universal \
  --generate-hashes --no-annotate --python-version 3.11

lock: $(TOOLS)  ## lock the newest versions that pyproject.toml allows, with hashes, for Python 3.11 and newer
	$(LOCK) pyproject.toml --all-extras --group dev --output-file locks/dev.txt >/dev/null
	$(LOCK) pyproject.toml --constraints locks/dev.txt --output-file locks/base.txt >/dev/null
	$(LOCK) pyproject.toml --extra serve --extra postgres --constraints locks/dev.txt --output-file locks/serve.txt >/dev/null
	$(LOCK) --group docs --constraints locks/dev.txt --output-file locks/docs.txt >/dev/null
	$(LOCK) --group build --group supply --output-file locks/supply.txt >/dev/null
	$(LOCK) --group build --constraints locks/supply.txt --output-file locks/build.txt >/dev/null

sbom: $(TOOLS)  ## what an image of the service consists of, with licences: build/sbom.cdx.json (CycloneDX)
	rm -rf build/image && $(PYTHON) -m venv --without-pip build/image
	$(SUPPLY)/bin/python -m pip --python build/image install --quiet --build-constraint locks/build.txt --requirement locks/serve.txt
	$(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --validate --output-format JSON --output-file build/sbom.cdx.json build/image
	rm -rf build/image

advisories: $(TOOLS)  ## look up what is known to be wrong with the locked versions (asks a service on the network)
	$(SUPPLY)/bin/pip-audit --disable-pip --require-hashes $(foreach name,dev docs supply,--requirement locks/$(name).txt)

# At least one test of every dependency. Old versions warn of what they no longer do; here that is no failure.
LOWEST_TESTS ?= tests/exact tests/catalog tests/accounting tests/noise/test_laplace.py tests/query/test_answers.py \
  $(addprefix tests/curator/test_,answer.py curator.py ledger.py) tests/cli/test_cli.py tests/interpretation/test_views.py \
  $(addprefix tests/engines/test_,duckdb.py postgres.py spark_tables.py) tests/client/test_remote_curator.py \
  $(addprefix tests/service/test_,asking.py metrics.py settings.py uploads.py) tests/console/test_ask.py tests/survey/test_server.py

test-lowest: $(TOOLS)  ## the lowest versions that pyproject.toml allows, in an environment of their own
	$(SUPPLY)/bin/uv venv --no-config --quiet --clear --python $(PYTHON) $(LOWEST)
	$(SUPPLY)/bin/uv pip install --no-config --quiet --python $(LOWEST) --resolution lowest-direct --all-extras --group dev --requirement pyproject.toml
	$(SUPPLY)/bin/uv pip install --no-config --quiet --python $(LOWEST) --no-deps --editable .
	$(LOWEST)/bin/pytest -n auto --dist loadgroup -W default $(LOWEST_TESTS)

$(DOCS): $(DEV)
	$(if $(LOCKS),$(LOCKED)/docs.txt,$(PIP) --group docs)
	@touch $@

docs: $(DOCS)  ## write docs/reference from the code, and build the site with search: open site/index.html
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # --quiet would hide warnings from --strict, too

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(SUPPLY) $(LOWEST) .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site
