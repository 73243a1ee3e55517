# The long commands. docs/reliability.md says what each one showed and how long it takes.
PYTHON ?= .venv/bin/python

.PHONY: help torture mutants faults security load audit docs-check peers oldest

help:  ## this list
	@sed -n 's/^\([a-z-]*\):  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

torture:  ## 200 000 generated cases of the numerical code
	MERCER_TORTURE_SEED=$(MERCER_TORTURE_SEED) $(PYTHON) -m pytest tests/torture --long -q -s

mutants:  ## breaks the maths on purpose and counts who notices
	PYTHONPATH=tests $(PYTHON) -m mutants.run $(ARGS)

faults:  ## kills, full disks, no memory, broken caches
	$(PYTHON) -m pytest tests/faults --long -q -s

security:  ## every altered model file and results folder
	$(PYTHON) -m pytest tests/security --long -q -s

load:  ## ten million rows, many threads and processes on one model
	$(PYTHON) -m pytest tests/load --long -q -s

audit:  ## known vulnerabilities of the dependencies
	$(PYTHON) tests/security/audit.py

docs-check:  ## every block, command, example and a sample of the figures of the pages
	$(PYTHON) -m pytest tests/pages --long -q -rs

peers:  ## other people's tests on our estimators, and clients that use them
	$(PYTHON) tests/peers/run.py $(ARGS)

# Old packages are told by new ones, which they bring along, that something will go: no fault of ours.
oldest:  ## the suite with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --python .venv-oldest/bin/python --resolution lowest-direct -e ".[test,fast]"
	.venv-oldest/bin/python -m pytest -q -n auto -W ignore::DeprecationWarning $(ARGS)
