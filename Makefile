# Needs nothing but make and Python 3.11 or newer. `make` alone lists the commands.
SHELL := /bin/sh
.DEFAULT_GOAL := help

PYTHON ?= python3
UV ?= uv
VENV ?= .venv
# More than there are cores: many tests wait for processes.
WORKERS ?= 4
# Where it is set, every process that a test starts would compile the whole project once more.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CHECKED := src tests scripts model training $(wildcard bench evaluation proof)
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --upgrade

.PHONY: help serve test check types gates bench peers eval eval-languages eval-learning \
	eval-reader eval-poisoning readthrough calibrate proof test-long docs site screenshots \
	fixture release audit pins clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: $(VENV)/serve.stamp  ## set up and run the server (STANDFAST_PORT=... to change the port)
	$(BIN)/standfast serve

test: check  ## set up, then format, lint, types, layers and all tests
	$(BIN)/python -m pytest --cache-clear -n $(WORKERS) || $(BIN)/python scripts/try_again.py $$?

check: $(VENV)/dev.stamp  ## the quick gates alone: format, lint, types, layers
	@$(MAKE) --no-print-directory -j2 types gates $(VENV)/compiled.stamp

types:
	$(BIN)/mypy

gates:
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.gates

# The types take one core. On the other one what was installed is compiled, which pip does alone.
$(VENV)/compiled.stamp: $(VENV)/dev.stamp
	@$(BIN)/python -m compileall -q $(VENV)/lib >/dev/null || true
	@touch $@

bench: $(VENV)/bench.stamp  ## measure speed and size beside bare baselines (BENCH=--quick: a minute)
	$(BIN)/python -m bench $(BENCH)

peers: $(VENV)/dev.stamp  ## measure beside mem0, Chroma and others (PEERS=--quick: small)
	$(BIN)/python -m bench.peers $(PEERS)

eval: $(VENV)/dev.stamp  ## measure how well memories are found (DATA=folder; EVAL=options)
	@test -n "$(DATA)" || { echo "say where the data is: make eval DATA=folder" >&2; exit 2; }
	$(BIN)/python -m evaluation.precision
	$(BIN)/python -m evaluation.forms
	$(BIN)/python -m evaluation "$(DATA)" $(EVAL)

eval-learning: $(VENV)/dev.stamp  ## measure how well beliefs are learned and changed (EVAL=options)
	$(BIN)/python -m evaluation.learning $(EVAL)

eval-reader: $(VENV)/dev.stamp  ## measure how well messages are read (EVAL=files of labelled messages)
	$(BIN)/python -m evaluation.reading $(EVAL)

readthrough: $(VENV)/dev.stamp  ## print what is remembered of conversations, to be read (EVAL=files)
	$(BIN)/python -m evaluation.readthrough $(EVAL)

eval-languages: $(VENV)/dev.stamp  ## measure search in twelve languages beside English (EVAL=options)
	$(BIN)/python -m evaluation.languages $(EVAL)

calibrate: $(VENV)/dev.stamp  ## measure what the cosines of the model in the box say (DATA=folder of LoCoMo)
	$(BIN)/python -m evaluation.calibrate $(DATA)

proof: $(VENV)/dev.stamp  ## try every promise at length, go on where it stopped (PROOF=minutes, FAMILY=name)
	$(BIN)/python -m proof $(if $(PROOF),--minutes $(PROOF)) $(if $(FAMILY),--family $(FAMILY))

eval-poisoning: $(VENV)/dev.stamp  ## measure what becomes of 500 attempts to poison a memory
	$(BIN)/python -m evaluation.poisoning.measure

test-long: $(VENV)/dev.stamp  ## all tests, the slow ones included and at full length
	STANDFAST_PROOF=1 $(BIN)/python -m pytest -n $(WORKERS)

docs: $(VENV)/dev.stamp  ## write the generated pages (the table of requirements: build/requirements.md)
	$(BIN)/python scripts/requirements_table.py
	$(BIN)/python scripts/http_table.py

site: $(VENV)/dev.stamp  ## build the documentation as a site that needs no network: build/site
	$(BIN)/python scripts/build_site.py

screenshots: $(VENV)/dev.stamp  ## take the pictures of the console in docs anew (needs Chromium)
	$(BIN)/python scripts/screenshots.py

fixture: $(VENV)/dev.stamp  ## write the store file that later versions must be able to open
	$(BIN)/python scripts/make_schema_fixture.py

release: $(VENV)/dev.stamp  ## build sdist, wheel, SBOM and checksums into dist, and try them
	$(BIN)/python scripts/release.py

audit:  ## ask for known vulnerabilities of everything pinned (needs uv and a network)
	for pins in serve dev; do $(UV) tool run pip-audit==2.10.1 --strict --disable-pip --require-hashes \
		-r requirements/$$pins.txt || exit 1; done

pins:  ## choose versions anew and write requirements/*.txt (needs uv)
	@command -v $(UV) >/dev/null || { echo "make pins needs uv: install it, or say make pins UV=<path>" >&2; exit 1; }
	$(COMPILE) --extra server --extra local --extra llm --extra postgres \
		--extra redis --extra surreal --extra encrypt --extra oidc --extra slack --extra dev -o requirements/dev.txt \
		pyproject.toml requirements/build.in
	$(COMPILE) --extra server --extra local --extra postgres -c requirements/dev.txt -o requirements/serve.txt \
		pyproject.toml requirements/build.in
	$(COMPILE) --extra bench --extra server -c requirements/dev.txt -o requirements/bench.txt \
		pyproject.toml requirements/build.in
	$(COMPILE) --no-deps -o requirements/proof.txt requirements/proof.in
	for peer in bench/peers/*.in tests/adapters/foreign/*.in; do $(COMPILE) -o "$${peer%.in}.txt" "$$peer" || exit 1; done

clean:  ## remove the virtual environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find src tests scripts bench evaluation -name __pycache__ -type d -exec rm -rf {} +

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "standfast needs Python 3.11 or newer, and $(PYTHON) is" \
			"$$($(PYTHON) --version 2>/dev/null || echo missing);" \
			"say which one to use: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/%.stamp: requirements/%.txt pyproject.toml | $(VENV)/python.stamp
	@echo "installing what $< pins: a minute or two"
	@# The pins are complete: nothing to resolve.
	$(PIP) install --quiet --no-deps --require-hashes $(if $(filter dev,$*),--no-compile) -r $<
	$(PIP) install --quiet --no-deps --no-build-isolation -e . -e ./model
	@touch $@
