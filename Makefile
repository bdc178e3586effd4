# make demo    the embedded table to a release       make lint    ruff and mypy
# make test    every test                            make bench   speed and error against named baselines
# make peers   estimates beside those of others      make central errors beside a trusted curator's
PYTHON ?= python3
BIN := .venv/bin
# The package itself is linked, not copied, so editing src/ needs no new set-up.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint bench peers central clean r

demo: .venv/runtime
	$(BIN)/pkanon demo

test: .venv/dev r
	$(BIN)/python -m pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/estimates.py

# Other libraries have needs of their own and live in an environment of their own.
peers:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/peers.txt
	PYTHONPATH=src .venv-peers/bin/python benchmarks/peers.py

central:
	$(PYTHON) -m venv .venv-central
	.venv-central/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/central.txt
	PYTHONPATH=src .venv-central/bin/python benchmarks/central.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python requirements/runtime.txt pyproject.toml
	$(INSTALL) -r requirements/runtime.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	$(INSTALL) -r requirements/dev.txt
	touch $@

# Pages for readers without Python have scripts in R, and tests run them. R lives outside .venv, so it is looked for every time.
R_PACKAGES := r-base-core r-cran-jsonlite
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
r:
	@Rscript --vanilla -e 'library(jsonlite)' >/dev/null 2>&1 || { command -v apt-get >/dev/null && { \
		echo "Installing R for the tests of the pages ..."; $(AS_ROOT) apt-get -qq update >/dev/null; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(R_PACKAGES) >/dev/null; }; } || \
		{ echo "R is missing: install R and its package jsonlite (Debian, Ubuntu: $(R_PACKAGES)), then run make again."; exit 1; }

clean:
	rm -rf .venv .venv-peers .venv-central build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis pkanon-demo*
