# Six words for everything: run, test, check, bench, setup, fmt.
# ARGS is handed on: make run ARGS="--port 8081", make test ARGS="-k approvals".

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench fmt

BIN := .venv/bin
READY := .venv/.ready
WORKERS ?= auto
COVER ?=
COVERAGE := $(if $(COVER),--cov=core --cov-branch --cov-report=term:skip-covered --cov-fail-under=$(COVER))
TYPED := core adapters gateway $(wildcard tests/typing)

help:
	@echo "make run     start the bot on this machine, no token needed (ARGS=...)"
	@echo "make test    all tests; fetches Redis and Chromium when it may (ARGS=..., WORKERS=..., COVER=95)"
	@echo "make check   format, lint, types, imports"
	@echo "make bench   measure against the floor (ARGS=...)"
	@echo "make setup   the .venv from requirements.lock"
	@echo "make fmt     format and repair what can be repaired"

setup: $(READY)

$(READY): requirements.lock pyproject.toml scripts/installer.lock scripts/setup.sh
	@sh scripts/setup.sh
	@touch $@

run: setup
	@$(BIN)/interlock dev $(ARGS)

test: setup
	@sh scripts/bring_up.sh
	@$(BIN)/pytest -n $(WORKERS) $(COVERAGE) $(ARGS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports

bench: setup
	@$(BIN)/python -m benchmarks $(ARGS)

fmt: setup
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
