# Targets run in the active environment; `make check` is what CI runs on each supported JAX.
PYTHON ?= python

help:  ## Show the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

lint:  ## ruff: style and imports.
	$(PYTHON) -m ruff check .

# runtime/ and tools/ are subpackages of mpmd only once installed: mypy gets a tree of links.
types:  ## mypy.
	@rm -rf build/types && mkdir -p build/types/mpmd
	@ln -s $(CURDIR)/mpmd/* $(CURDIR)/runtime $(CURDIR)/tools build/types/mpmd/
	cd build/types && $(PYTHON) -m mypy --config-file $(CURDIR)/pyproject.toml -p mpmd

unit:  ## Unit and end-to-end tests.
	$(PYTHON) -m pytest tests/unit

lit:  ## FileCheck tests of the passes and of mpmd-opt.
	$(PYTHON) -c 'import lit.main; lit.main.main()' -q tests/lit

docs:  ## Regenerate docs/passes.md from the passes.
	$(PYTHON) docs/generate_passes.py

examples:  ## Run every example at small size.
	$(PYTHON) examples/hello_two_stages.py
	$(PYTHON) examples/train_gpt.py --smoke
	$(PYTHON) examples/train_flax.py --smoke

bench:  ## Run the benchmarks.
	$(PYTHON) benchmarks/partition.py
	$(PYTHON) benchmarks/schedules.py

smoke:  ## Run the benchmarks in their smallest size, so that they cannot rot.
	$(PYTHON) benchmarks/partition.py --smoke
	$(PYTHON) benchmarks/schedules.py --smoke

check: lint types lit unit examples smoke  ## All of the above that must pass.

.PHONY: help lint types unit lit docs examples bench smoke check
