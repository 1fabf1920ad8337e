# `make` lists the targets. Everything is installed into .venv; of the machine itself only `make tools` touches
# anything: where it is root and chromium or PostgreSQL is missing, it installs Debian's packages.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Spark tests side by side, each of 3 GB; empty: one more than there are cores
SPARKS ?=
EFFORT ?= 10
STAMP := $(VENV)/.installed
# drawn by tests of the page; without a font there is nothing to see
BROWSER := chromium fonts-dejavu-core
# the outbox of tests; Debian's package starts a server of its own unless it is told not to
POSTGRES := postgresql
NO_CLUSTER := sed -ri 's/^\#?(create_main_cluster) .*/\1 = false/' /etc/postgresql-common/createcluster.conf
GET := apt-get -qq install -y --no-install-recommends
# where this is set, each of some hundred processes of the tests would compile every module anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup java tools jars quick test soak lint layout types demo demo-kafka demo-cluster trial trial-trades bench bench-peers jar clean

help:
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || \
	  { echo "Python 3.11, 3.12 or 3.13 is needed (found: $$($(PYTHON) --version 2>&1)); name one with: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@echo "installing into $(VENV) (some minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@echo "compiling the kernels for this processor, once: patterns beside text queries, decoding, windows and alerts (under a minute) ..."
	@$(BIN)/python -c 'from cep.operators.patterns.runtime.compiled import load; load()' & patterns=$$!; \
	  $(BIN)/python -c 'from percolator.matching.compiled import load; load(); from cep.decode.compiled import load; load(); from cep.decode.by_schema.compiled import load; load(); from cep.operators.windows.runtime.compiled import load; load(); from alerts.compiled import load; load()'; others=$$?; \
	  wait $$patterns && exit $$others
	@touch $@

setup: $(STAMP) tools jars ## install the project and its tools into .venv

java:
	@"$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | $(PYTHON) -c 'import re, sys; \
	  found = re.search(r"version \"(\d+)", sys.stdin.read()); sys.exit(not found or int(found[1]) < 17)' || \
	  { echo "Java 17 or newer is needed to run Spark; on Debian: apt-get install openjdk-17-jre-headless" >&2; exit 3; }

# promtool from Debian's package, which is unpacked and not installed: installing it would start a server;
# chromium needs a hundred others and is installed
tools:
	@command -v promtool >/dev/null || test -x build/tools/promtool || { \
	  mkdir -p build/tools/unpacked && cd build/tools/unpacked && \
	  { apt-get -qq download prometheus || { apt-get -qq update && apt-get -qq download prometheus; } } && dpkg -x prometheus_*.deb . && mv usr/bin/promtool .. && \
	  cd .. && rm -r unpacked; } >/dev/null 2>&1 || \
	  echo "promtool is missing, some tests of ops/ are skipped; on Debian: apt-get install prometheus" >&2
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && export DEBIAN_FRONTEND=noninteractive && \
	  { $(GET) $(BROWSER) || { apt-get -qq update && $(GET) $(BROWSER); }; }; } >/dev/null 2>&1 || \
	  echo "chromium is missing, tests of the page are skipped; on Debian: sudo apt-get install $(BROWSER)" >&2
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { test "$$(id -u)" = 0 && export DEBIAN_FRONTEND=noninteractive && \
	  { $(GET) postgresql-common || { apt-get -qq update && $(GET) postgresql-common; }; } && $(NO_CLUSTER) && $(GET) $(POSTGRES); } >/dev/null 2>&1 || \
	  echo "PostgreSQL is missing, tests of the outbox on it are skipped; on Debian: sudo apt-get install $(POSTGRES)" >&2

# what Spark needs to read Kafka and buckets, and a broker for tests and demos: each by a pom, checked by a list of digests
jars: $(STAMP)
	@$(BIN)/python -m cep.job.spark.jars examples/broker || \
	  echo "the jars of Kafka and S3 are missing: tests with them are skipped, and no job reads topics" >&2

quick: $(STAMP) ## lint, types and the tests that need no JVM
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && CEP_EFFORT=0.05 $(BIN)/pytest -q -n auto --dist worksteal

test: $(STAMP) java tools jars ## all tests, also those that need a JVM; generated ones with the same examples every time
	@$(BIN)/python tests/side_by_side.py $(SPARKS)

soak: $(STAMP) java ## before a release, some hours, goes on where it was stopped: new generated tests, ten times as many; make soak PART=programs
	@$(BIN)/python tests/soak_in_parts.py $(PART) --effort $(EFFORT)

lint: $(STAMP) ## ruff
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

layout: $(STAMP) ## give the rules of examples and pages their layout
	@$(BIN)/python tests/docs/lay_out_pages.py

types: $(STAMP) ## mypy --strict
	@$(BIN)/mypy

demo: $(STAMP) java ## 200,000 payments with a deploy half way; articles and a watchlist; trades out of order, beside pandas
	@trap : INT; export PYTHONPATH=examples; \
	  $(BIN)/python -m fraud.demo && $(BIN)/python -m media.demo && $(BIN)/python -m trading.demo

demo-kafka: $(STAMP) java jars ## payments from a topic, alerts to one, each once though the job is killed half way
	@PYTHONPATH=examples $(BIN)/python -m fraud.on_kafka

demo-cluster: $(STAMP) java tools jars ## payments from Kafka through a cluster of two workers into PostgreSQL; a worker is killed half way
	@PYTHONPATH=examples $(BIN)/python -m fraud.on_a_cluster

trial: $(STAMP) ## the demo's pack on payments of your own: make trial DATA=payments.csv.gz
	@test -n "$(DATA)" || { echo "name a file of labelled payments: make trial DATA=payments.csv.gz" >&2; exit 2; }
	@PYTHONPATH=examples $(BIN)/python -m fraud.trial "$(DATA)"

trial-trades: $(STAMP) java ## the trading pack on a recording of trades, beside pandas: make trial-trades DATA=trades.csv.gz
	@PYTHONPATH=examples $(BIN)/python -m trading.trial $(if $(DATA),"$(DATA)")

bench: $(STAMP) java ## every benchmark, as tables: about 15 minutes; make bench SIZE=small to see that they run
	@$(BIN)/python benchmarks/all.py $(if $(filter small,$(SIZE)),--small) $(if $(DATA),--data "$(DATA)")

bench-peers: $(STAMP) java ## beside Flink SQL, Esper, DuckDB and Lucene Monitor, in turns; needs Maven; SIZE=small, TURNS=5, DATA as above
	@cd benchmarks && "../$(BIN)/python" -m peers $(if $(filter small,$(SIZE)),--small) $(if $(TURNS),--turns $(TURNS)) $(if $(DATA),--data "$(abspath $(DATA))")

jar: $(STAMP) java ## the jar of cep/job/spark/local_files, after a change of its source
	@$(BIN)/python tests/job/local_files_jar.py

clean: ## remove what make made
	@rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis examples/*/work benchmarks/peers/java/*/target \
	  cep/job/spark/jars/*/jars examples/broker/jars
