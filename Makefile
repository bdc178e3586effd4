# make test installs R, PostgreSQL, Chromium and Java by apt, with sudo, where they are missing.
# make demo    the embedded table to a release       make lint    ruff and mypy
# make test    every test                            make bench   speed and error against named baselines
# make peers   estimates beside those of others      make central errors beside a trusted curator's
# make synthetic   errors beside a trusted curator's synthetic data
# make modelled    what modelled rows are good for; needs DATA=folder
# make oldest  tests with the oldest versions that pyproject.toml allows
# make wheel-test   the wheel, installed without extras; make test does it too
# make docs    the pages as a site, in site/
PYTHON ?= python3
BIN := .venv/bin
# The package itself is linked, not copied, so editing src/ needs no new set-up.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint docs bench peers central clean r services java synthetic modelled

demo: .venv/runtime
	$(BIN)/pkanon demo

# Compiled files are kept, whatever the environment says: tests start Python a hundred times.
test: .venv/dev r services java
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto
	@$(MAKE) --no-print-directory wheel-test

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Reference tables first, from the code, with every extra it describes; then the site. It loads nothing from anywhere: open site/index.html.
docs: .venv-docs/ready .venv/dev
	$(BIN)/python docs/reference/generate.py
	rm -rf site
	PYTHONPATH=src .venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -d .venv-docs/doctrees docs site
	@echo "Open site/index.html."

# Every table of speed, written into docs/results. Tables larger than memory only up to 10^7 rows, and only printed;
# SCALE="--largest 8 --csv 300000000 --write" goes on to 10^8 and writes; it takes 60 GB and more than an hour.
bench: .venv/dev .venv-peers/ready java services
	$(BIN)/python benchmarks/speed.py --write
	$(BIN)/python benchmarks/whole.py --write
	PYTHONPATH=src .venv-peers/bin/python benchmarks/peer_speed.py --write
	$(BIN)/python benchmarks/estimates.py --write
	$(BIN)/python benchmarks/spark.py speed --rows 3000000 --write
	$(BIN)/python benchmarks/spark.py cluster --rows 3000000 --write
	$(BIN)/python benchmarks/databases.py --write
	folder=$$(mktemp -d) && { $(BIN)/python benchmarks/scale.py "$$folder" $(SCALE); status=$$?; rm -rf "$$folder"; exit $$status; }

# Other libraries have needs of their own and live in an environment of their own.
.venv-peers/ready: requirements/peers.txt requirements/runtime.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/peers.txt
	touch $@

peers: .venv-peers/ready
	PYTHONPATH=src .venv-peers/bin/python benchmarks/peers.py

central:
	$(PYTHON) -m venv .venv-central
	.venv-central/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/central.txt
	PYTHONPATH=src .venv-central/bin/python benchmarks/central.py

# The synthesisers want old versions of much, and Python 3.11: pkanon stays in .venv and hands them tables. DATA=folder adds
# real tables, ARGUMENTS="--write" puts the results into the pages.
synthetic: .venv/dev
	$(OLDEST_PYTHON) -m venv .venv-synthetic
	.venv-synthetic/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/synthetic.txt
	$(BIN)/python benchmarks/synthetic.py --python .venv-synthetic/bin/python $(if $(DATA),--data $(DATA)) $(ARGUMENTS)

modelled:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/peers.txt
	PYTHONPATH=src .venv-peers/bin/python benchmarks/modelled.py --data $(DATA) $(ARGUMENTS)

.venv-docs/ready: requirements/docs.txt requirements/runtime.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python requirements/runtime.txt pyproject.toml
	$(INSTALL) -r requirements/runtime.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	$(INSTALL) -r requirements/dev.txt
	touch $@

.PHONY: wheel-test oldest

# From a copy: build/ and *.egg-info remember files that were moved or that pyproject.toml does not name.
WHEEL = rm -rf .venv/wheel/dist .venv/wheel/copy && mkdir .venv/wheel/copy && cp -R pyproject.toml README.md LICENSE src .venv/wheel/copy && \
	rm -rf .venv/wheel/copy/src/*.egg-info && $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	--no-build-isolation --wheel-dir .venv/wheel/dist .venv/wheel/copy
INTO_WHEEL = $(BIN)/python -m pip --python .venv/wheel/bin/python install --quiet --disable-pip-version-check

wheel-test: .venv/wheel/ready
	@$(WHEEL)
	@$(INTO_WHEEL) --no-deps --force-reinstall .venv/wheel/dist/*.whl
	.venv/wheel/bin/python -I -W error tests/installed/smoke.py

.venv/wheel/ready: .venv/runtime requirements/runtime.txt pyproject.toml
	rm -rf .venv/wheel
	$(BIN)/python -m venv --without-pip .venv/wheel
	$(WHEEL)
	$(INTO_WHEEL) --constraint requirements/runtime.txt .venv/wheel/dist/*.whl
	touch $@

OLDEST_PYTHON := $(firstword $(foreach minor,11 12 13,$(shell command -v python3.$(minor))) $(PYTHON))
oldest: .venv/oldest/ready
	PYTHONDONTWRITEBYTECODE= PYTHONPATH=src .venv/oldest/bin/python -m pytest -n auto -m "not slow" \
		tests/unit tests/exact tests/property tests/cli tests/house

.venv/oldest/ready: requirements/oldest.txt
	rm -rf .venv/oldest
	$(OLDEST_PYTHON) -m venv .venv/oldest
	.venv/oldest/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/oldest.txt
	touch $@

# Pages for readers without Python have scripts in R, and tests run them. R lives outside .venv, so it is looked for every
# time. Where it is missing, apt-get installs it for the whole system, and that is said first.
R_PACKAGES := r-base-core r-cran-jsonlite
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
HAS_R := Rscript --vanilla -e 'library(jsonlite)' >/dev/null 2>&1
r:
	@$(HAS_R) && exit 0; \
	if command -v apt-get >/dev/null && { [ "$$(id -u)" = 0 ] || [ -n "$(AS_ROOT)" ]; }; then \
		echo "Tests run scripts in R, and R or its package jsonlite is missing. Installing them for the whole system:"; \
		echo "  $(strip $(AS_ROOT) apt-get update); $(strip $(AS_ROOT) apt-get install --no-install-recommends $(R_PACKAGES))"; \
		$(AS_ROOT) apt-get -qq update >/dev/null; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(R_PACKAGES) >/dev/null; \
		$(HAS_R) && exit 0; \
		echo "That failed."; \
	fi; \
	echo "Tests need R and its package jsonlite. Install them and run make again."; \
	echo "  Debian, Ubuntu: apt-get install $(R_PACKAGES), as root.  Elsewhere: R, and in R install.packages(\"jsonlite\")."; \
	exit 1

# Tests of surveys start a PostgreSQL server of their own and drive a real browser. Both are looked for every time, like R.
SERVICE_PACKAGES := postgresql chromium
JAVA_PACKAGES := openjdk-17-jre-headless
POSTGRES_PROGRAMS := /usr/lib/postgresql/*/bin
HAS_POSTGRES := { command -v initdb >/dev/null || for program in $(POSTGRES_PROGRAMS)/initdb; do [ -x "$$program" ] || false; done; }
HAS_BROWSER := { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
services:
	@$(HAS_POSTGRES) && $(HAS_BROWSER) && exit 0; \
	if command -v apt-get >/dev/null && { [ "$$(id -u)" = 0 ] || [ -n "$(AS_ROOT)" ]; }; then \
		echo "Tests of surveys need PostgreSQL and Chromium, and one of them is missing. Installing them for the whole system:"; \
		echo "  $(strip $(AS_ROOT) apt-get update); $(strip $(AS_ROOT) apt-get install --no-install-recommends $(SERVICE_PACKAGES))"; \
		$(AS_ROOT) apt-get -qq update >/dev/null; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(SERVICE_PACKAGES) >/dev/null; \
		$(HAS_POSTGRES) && $(HAS_BROWSER) && exit 0; \
		echo "That failed."; \
	fi; \
	echo "Tests need the programs of a PostgreSQL server and Chromium. Install them and run make again."; \
	echo "  Debian, Ubuntu: apt-get install $(SERVICE_PACKAGES), as root."; \
	exit 1

# Tests of the Spark engine run Spark, which runs on Java 17 or newer; looked for every time, like R.
HAS_JAVA := { java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9]|[1-9][0-9][0-9])'; }
java:
	@$(HAS_JAVA) && exit 0; \
	if command -v apt-get >/dev/null && { [ "$$(id -u)" = 0 ] || [ -n "$(AS_ROOT)" ]; }; then \
		echo "Tests run Spark, and Java 17 or newer is missing. Installing it for the whole system:"; \
		echo "  $(strip $(AS_ROOT) apt-get update); $(strip $(AS_ROOT) apt-get install --no-install-recommends $(JAVA_PACKAGES))"; \
		$(AS_ROOT) apt-get -qq update >/dev/null; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(JAVA_PACKAGES) >/dev/null; \
		$(HAS_JAVA) && exit 0; \
		echo "That failed."; \
	fi; \
	echo "Tests need Java 17 or newer. Install it and run make again."; \
	echo "  Debian, Ubuntu: apt-get install $(JAVA_PACKAGES), as root."; \
	exit 1

clean:
	rm -rf .venv .venv-peers .venv-central .venv-synthetic .venv-docs build dist site *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis pkanon-demo*
