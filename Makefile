# The commands of the project; each works on a fresh Debian 12 with make and git alone. `make help` lists them.
DEVICE ?= cpu
PYTHON ?= .venv/bin/python
WHEEL ?=
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-gpu mutation bench bench-gpu wheel lint format clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

.venv/.setup: requirements.txt tools/setup
	@tools/setup

build: .venv/.setup
	@tools/nj

setup: build ## install what is missing, configure and build

demo: build ## compute on real photographs, checked against NumPy; DEVICE=cuda for the GPU
	@.venv/bin/python examples/demo.py --device $(DEVICE)

test: build ## every test: layout, C++, IR, Python, doctests; the last line is the count
	@.venv/bin/python tools/run_tests.py

test-gpu: ## the Python tests on the GPU from a wheel, where there is neither LLVM nor a build: WHEEL=path
	@tools/from_wheel "$(WHEEL)" test

mutation: build ## twenty faults in the lowerings, one at a time: does the suite catch each?
	@.venv/bin/python tests/mutation/run.py

bench: build ## the benchmarks on the CPU; figures go to benchmarks/results/
	@.venv/bin/python benchmarks/run.py --device cpu

bench-gpu: ## the benchmarks on the GPU, from a wheel where WHEEL=path is given
	@tools/from_wheel "$(WHEEL)" bench

wheel: .venv/.setup ## dist/epitaxy-*.whl; PYTHON=python3.12 makes the stable-ABI one
	@tools/wheel "$(PYTHON)"

lint: .venv/.setup ## ruff, mypy --strict, clang-format
	@.venv/bin/python tools/lint.py

format: .venv/.setup ## let the formatters decide
	@.venv/bin/python tools/lint.py --fix

clean: ## remove what was built (not .venv)
	rm -rf build build-* dist python/epitaxy/*.so
