# `make up` and `make test` are all a newcomer needs; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help setup venv fuzz sweep measure bench docs up down env test test-quick lint format clean clean-cache lock

PYTHON ?=
export EMULATOR_PORT
TOOLS := @PYTHON="$(PYTHON)" sh tools/python -m tools
RUN := .venv/bin/python -m
PYTEST := $(RUN) pytest -n auto --maxprocesses 4 --dist worksteal

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## provide .venv, the Pulumi engine, BuildKit and Node (others do this by themselves)
	$(TOOLS) setup

venv: ## provide .venv only
	$(TOOLS) venv

up: setup ## deploy the stack `local` on this machine
	@$(RUN) tools up

down: venv ## destroy the stack `local` and stop what `up` started
	@$(RUN) tools down

env: setup ## print shell settings for running pulumi by hand (see docs/set-up.md)
	@$(RUN) tools env

test: setup ## run all tests
	$(PYTEST)

test-quick: venv ## run the tests that need neither engine, wrangler nor workerd
	$(PYTEST) -m "not engine and not wrangler and not workerd"

sweep: setup ## fail every request of every run in every way, on the real engine; writes docs/faults.md
	$(RUN) tests.provider.engine_sweep

lint: venv ## check style and types
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy

format: venv ## rewrite the code in the one style
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

lock: venv ## resolve requirements-dev.txt anew into requirements.lock
	$(RUN) uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements-dev.txt -o requirements.lock

fuzz: venv ## send 100,000 generated requests to the emulator
	$(RUN) tests.emulator.fuzz --requests 100000

measure: setup ## measure the emulator, a preview, the check and the policy pack, and print tables
	$(RUN) tests.emulator.measure
	$(RUN) tests.emulator.measure_runtime
	$(RUN) tests.measure_preview
	$(RUN) tests.engine.redeploys
	$(RUN) tests.check.measure
	$(RUN) tests.policy.measure_pack

bench: setup ## compare pulumi with wrangler on the emulator, and write docs/performance.md's tables
	$(RUN) tests.bench

docs: venv ## bring the generated parts of the documentation up to date
	$(RUN) tests.generated_docs

clean: ## remove .venv, .local and what was built (run `make down` first)
	$(TOOLS) clean

clean-cache: ## remove the tools that all checkouts share
	$(TOOLS) clean-cache
