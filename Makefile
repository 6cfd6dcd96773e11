# `make demo` shows it working, `make test` proves it; both make .venv and install what they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
FUZZ_S ?= 300
SEEDS ?= 10000
FIRST ?= 1000
# Tests are spread over this many processes; 0 runs them in one, for a debugger.
WORKERS ?= 2

.PHONY: demo test browser-test deployment-test soak bench fuzz audit coverage format lint types imports check apex-tools apex-check apex-format apex-test apex-mutation apex-gate-test clean
.DEFAULT_GOAL := demo

$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("lead-router needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (needs a package index) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.run
	@echo "installing what tests and checks need into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.operations: pyproject.toml $(VENV)/.run
	@echo "installing what the console needs into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[operations]'
	@touch $@

# With ARGS=--console it goes on with the console open, which needs an extra.
demo: $(VENV)/.run $(if $(findstring --console,$(ARGS)),$(VENV)/.operations)
	@$(BIN)/lead-router demo $(ARGS)

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) $(ARGS)

# The console in headless Chromium; screenshots in build/screenshots. Skipped, in sight, where Chromium or Playwright is missing;
# BROWSER_CHECK=require: that fails, and root has Debian's Chromium installed, as with CI=true.
browser-test: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]' || true
	@PYTHONPATH=tests $(BIN)/python -m browser.install
	@$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

# The image's steps done in a folder and run from there, and deploy/ judged by tools that are not ours. What is missing, a package
# index or a tool, is skipped in sight.
deployment-test: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[deployment]' || true
	@$(BIN)/python -m pytest -m deployment tests/deployment $(ARGS)

# Histories by seed beyond those of `make test`, on all cores; a night's worth. Each red one names the command that shows it.
soak: $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m simulation --seeds $(SEEDS) --first $(FIRST) $(ARGS)

# What is not installed for a baseline leaves out its rows, in words.
bench: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' || true
	@PYTHONPATH=tests $(BIN)/python -m benchmarks $(ARGS)

fuzz: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@mkdir -p .fuzz
	@$(BIN)/python tests/fuzz/criteria.py -max_total_time=$(FUZZ_S) -timeout=10 -len_control=0 -max_len=512 -artifact_prefix=.fuzz/ $(ARGS) .fuzz

# Known vulnerabilities of what is installed, red for a finding; "audit skipped: …" where nobody could be asked.
audit: $(VENV)/.dev
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[audit]'; \
	then PYTHONPATH=tests $(BIN)/python -m audit; else echo "audit skipped: pip-audit cannot be installed"; fi

coverage: $(VENV)/.dev
	@$(BIN)/python -m pytest --cov --cov-report=term $(ARGS)

format: $(VENV)/.dev
	@$(BIN)/ruff format $(ARGS)

lint: $(VENV)/.dev
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check

types: $(VENV)/.dev
	@$(BIN)/mypy

imports: $(VENV)/.dev
	@$(BIN)/lint-imports --no-cache

check: test lint types imports

# Apex and metadata; what needs node or java is skipped, in sight, where these are missing. APEX_CHECK=require: that fails.
apex-tools: $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m apex.install

apex-check: $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m apex $(ARGS)

apex-format: $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m apex.reformat $(ARGS)

# The Apex tests on the simulated org, begun where its parser is; exit code 3 is its word for "no parser here". Then, without
# ARGS, what pytest skips without the parser.
apex-test: apex-tools
	@cd tests/apex && $(abspath $(BIN))/python -m org_simulator.apex test $(CURDIR)/salesforce_metadata --minimum 90 $(ARGS) \
	  || { code=$$?; test $$code -eq 3 && test "$$APEX_CHECK" != require; }
	@$(if $(ARGS),:,$(BIN)/python -m pytest -m apex --numprocesses $(WORKERS))

# Single wrong edits of the shipped Apex, and which of them its tests find; ARGS="--all", "--seed N", "--sample N".
apex-mutation: apex-tools
	@PYTHONPATH=tests $(BIN)/python -m mutation $(ARGS) || { code=$$?; test $$code -eq 3 && test "$$APEX_CHECK" != require; }

# Every step of apex-check, seen green and red.
apex-gate-test: $(VENV)/.dev
	@$(BIN)/python -m pytest -m gate tests/contract/test_apex_gate.py $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
