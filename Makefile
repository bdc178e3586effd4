# make demo    the embedded table to a release       make lint    ruff and mypy
# make test    every test                            make bench   speed against named baselines
PYTHON ?= python3
BIN := .venv/bin
# The package itself is linked, not copied, so editing src/ needs no new set-up.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint bench clean

demo: .venv/runtime
	$(BIN)/pkanon demo

test: .venv/dev
	$(BIN)/python -m pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python benchmarks/speed.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python requirements/runtime.txt pyproject.toml
	$(INSTALL) -r requirements/runtime.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	$(INSTALL) -r requirements/dev.txt
	touch $@

clean:
	rm -rf .venv build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis pkanon-demo*
