# Everything a fresh machine needs: `make run` starts Bascule, `make test` checks it. `make help` lists the rest.
# Only POSIX sh and GNU make 3.81 are assumed; all paths are relative, so the checkout may live anywhere.

ARGS ?=
AGENT ?= claude-code
BENCH ?= relay
KILLS ?= 100
# Many tests wait for another process or for a clock: twice as many workers as there are cores.
JOBS ?= $(shell cores=`getconf _NPROCESSORS_ONLN` && echo $$((2 * cores)) || echo 2)
UV ?= uv

VENV := .venv
PY := $(VENV)/bin/python
COMPILE = pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate

# A user's own PYTHONPATH or `pip install --user` setting must not leak into the project's environment.
unexport PYTHONPATH PYTHONHOME
# Without bytecode on disk, every worker and every program that a test starts compiles all it imports again.
unexport PYTHONDONTWRITEBYTECODE
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help run test lint ruff format types imports page screens bench split chaos machines terminals conformance lock clean FORCE

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.run ## Start Bascule (ARGS="--port 4000")
	@$(VENV)/bin/bascule $(ARGS)

test: $(VENV)/.dev ## Run the tests (ARGS="-k keeper")
	@$(PY) web/bundle.py
	@$(PY) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

lint: ruff format types imports page ## Check style, types and the import rule

ruff: $(VENV)/.dev
	@$(VENV)/bin/ruff check --quiet .

format: $(VENV)/.dev
	@$(VENV)/bin/ruff format --quiet --check . || { echo 'Not formatted. Mend it with: $(VENV)/bin/ruff format .' >&2; exit 1; }

types: $(VENV)/.dev
	@$(PY) -m pyright

imports: $(VENV)/.dev
	@$(VENV)/bin/lint-imports --no-cache --no-logo

page: $(VENV)/.dev
	@$(PY) web/check.py

screens: $(VENV)/.dev ## Take the pictures of every screen again (needs Chromium)
	@$(PY) -m tests.web.screens.make_screens $(ARGS)

bench: $(VENV)/.dev ## Measure (BENCH=marks: every mark of docs/benchmarks.md)
	@$(PY) web/bundle.py
	@PYTHONPATH=. $(PY) bench/$(BENCH).py $(ARGS)

# Hub and daemon in two processes with a folder each, the daemon's hidden from the hub: what shares an object or a file
# fails here.
split: $(VENV)/.dev ## Run the suites that need a server with the hub in a process of its own
	@$(PY) web/bundle.py
	@BASCULE_TEST_MODE=split $(PY) -m pytest -n $(JOBS) --dist worksteal \
		tests/hub tests/system tests/terminal tests/acp tests/web tests/machines/test_split_mode.py $(ARGS)

chaos: $(VENV)/.dev ## Kill the server, a hub and a machine KILLS=100 times while sessions stream
	@SCHEDULES=10000 CHAOS_KILLS=$(KILLS) $(PY) -m pytest -n 0 --timeout 7200 \
		tests/chaos tests/link/test_simulator.py $(ARGS)

machines: $(VENV)/.dev ## Test hubs and machines at full scale: power cuts, blackholes, dead networks, older versions
	@BASCULE_TEST_SCALE=full $(PY) -m pytest -n 0 --timeout 3600 tests/machines $(ARGS)

terminals: $(VENV)/.dev ## Launch into every terminal that Debian has, on a screen without a monitor (installs them if it may)
	@sh .ci/desktop all
	@BASCULE_TEST_TERMINALS=all $(PY) -m pytest -n 2 tests/launch/test_real_terminals.py $(ARGS)

conformance: $(VENV)/.dev ## Drive a real agent through its protocol (AGENT=claude-code)
	@$(PY) -m tests.conformance $(AGENT) $(ARGS)

lock: $(VENV)/.made ## Write the lock files again from pyproject.toml (ARGS=--upgrade for newer versions)
	@uv=$$(command -v $(UV)) || { $(PY) -m pip install -qq uv && uv=$(VENV)/bin/uv; } || exit 1; \
	"$$uv" $(COMPILE) $(ARGS) pyproject.toml --group build -o requirements/run.txt && \
	"$$uv" $(COMPILE) $(ARGS) pyproject.toml --all-extras --group build --group dev -c requirements/run.txt -o requirements/dev.txt && \
	"$$uv" $(COMPILE) $(ARGS) --no-deps --group oracle -o requirements/oracle.txt

clean: ## Remove the environment and the caches
	@rm -rf $(VENV) .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Scripts in an environment hold its absolute path: one that was moved, or whose Python is gone, is made again.
ifneq ($(shell test -x $(PY) && test "`cat $(VENV)/.made 2>/dev/null`" = "`pwd -P`" && echo yes),yes)
$(VENV)/.made: FORCE
endif

$(VENV)/.made:
	@sh .ci/venv $(VENV)
	@pwd -P > $@

# The lock lists every package, so pip has nothing to resolve (--no-deps) and nothing to trust (--require-hashes).
$(VENV)/.run: $(VENV)/.made requirements/run.txt pyproject.toml web/package-lock.json web/vendor.py web/bundle.py
	@echo 'Installing what Bascule needs ...' >&2
	@$(PY) -m pip install -qq --no-deps --require-hashes -r requirements/run.txt
	@$(PY) -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

# After .run, never beside it: two pips in one environment would trip over each other under `make -j`.
$(VENV)/.dev: $(VENV)/.run requirements/dev.txt requirements/oracle.txt web/check.py
	@echo 'Installing what the tests need ...' >&2
	@$(PY) -m pip install -qq --no-deps --require-hashes -r requirements/dev.txt
	@# There is no wheel of it. The locked setuptools builds it, not the newest that pip would fetch for that.
	@$(PY) -m pip install -qq --no-deps --require-hashes --no-build-isolation --use-pep517 -r requirements/oracle.txt
	@$(PY) web/check.py --fetch
	@sh .ci/browser
	@sh .ci/desktop
	@sh .ci/postgres
	@sh .ci/nginx $(VENV)/nginx
	@touch $@
