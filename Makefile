# `make up` and `make test` are all a newcomer needs; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help setup venv fuzz wrangler import sweep orphans soak large ephemeral hostile measure bench docs up down env test test-quick lint format clean clean-cache lock bump tenants sdk plugin pull-requests

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

test-quick: venv ## run the tests that need neither engine, wrangler, workerd nor containers
	$(PYTEST) -m "not engine and not wrangler and not workerd and not containers"

sweep: setup ## fail every request of every run in every way, on the real engine; writes docs/faults.md
	$(RUN) bench.faults.engine

lint: venv ## check style and types
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy

format: venv ## rewrite the code in the one style
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

lock: venv ## resolve requirements-dev.txt, the plugin's packages and the wheels of the base image anew
	$(RUN) uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements-dev.txt -o requirements.lock
	$(RUN) uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -c requirements.lock requirements.txt -o plugin/requirements.txt
	$(RUN) uv pip compile --python-version 3.11 --python-platform x86_64-manylinux_2_28 --only-binary :all: --generate-hashes --no-header --no-annotate emulator/base_image/wheels.in -o emulator/base_image/wheels.txt

bump: venv ## list what is pinned and where, or pin another version: make bump NAME=sdk VERSION=1.2.3
	@$(RUN) tools bump $(NAME) $(VERSION)

fuzz: venv ## send 100,000 generated requests to the emulator
	$(RUN) bench.fuzz.emulator --requests 100000

wrangler: setup ## run more than 100 commands of the real wrangler against the emulator
	$(RUN) bench.wrangler.commands

import: setup ## deploy 14 projects with the real wrangler, take each over with Pulumi, and print what became of it
	$(RUN) bench.wrangler.trial

orphans: setup ## kill 100 runs of the engine at random, and compare what `sandbox-stack orphans` finds and deletes with what there is
	$(RUN) bench.orphans

pull-requests: setup ## make 50 stacks of pull requests, end 45 in all ways, and print what one sweep leaves
	$(RUN) bench.pull_requests

soak: setup ## start and destroy 200 sandboxes and run 1,000 commands, and print what was lost, left and grown
	$(RUN) bench.sandboxes.soak

large: setup ## move 1 GiB through a sandbox each way, and print how much memory that took
	$(RUN) bench.sandboxes.large

ephemeral: setup ## make 500 one-shot runs under random limits, departures and kills, and print what was left behind
	$(RUN) bench.sandboxes.ephemeral

hostile: setup ## have sandboxes give the Worker 20,000 hostile answers, and print what came of it
	$(RUN) bench.fuzz.hostile

tenants: setup ## deploy 100 stacks, one per tenant, side by side, two of them failing, and print time and memory
	$(RUN) bench.deployments.tenants

measure: setup ## measure the emulator, sandboxes, a preview, the check and the policy pack, and print tables
	$(RUN) bench.emulator.api
	$(RUN) bench.emulator.runtime
	$(RUN) bench.sandboxes.measure
	$(RUN) bench.deployments.preview
	$(RUN) bench.deployments.redeploys
	$(RUN) bench.rules.check
	$(RUN) bench.rules.pack

bench: setup ## compare pulumi with wrangler on the emulator, and write docs/performance.md's tables
	$(RUN) bench.deployments

docs: venv ## bring the generated parts of the documentation up to date
	$(RUN) docs.generators

sdk: venv ## make the SDKs for TypeScript and Go anew from the plugin's schema
	$(TOOLS) sdk

plugin: venv ## make the archives that `pulumi plugin install` takes the plugin from, in dist/plugin
	@$(RUN) tools plugin

clean: ## remove .venv, .local and what was built (run `make down` first)
	$(TOOLS) clean

clean-cache: ## remove the tools that all checkouts share
	$(TOOLS) clean-cache
