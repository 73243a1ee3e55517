# What takes minutes, and the quick lane. CONTRIBUTING.md says which command to run when,
# docs/reliability.md what each one showed.
PYTHON ?= .venv/bin/python
CAMPAIGN = $(PYTHON) -m pytest --long -q -s tests/campaigns

.PHONY: help campaigns torture mutants faults security load cluster pages peers audit oldest

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

campaigns: torture mutants faults security load cluster pages peers  ## all of tests/campaigns

torture:  ## 200 000 generated cases of the numerical code
	MERCER_TORTURE_SEED=$(MERCER_TORTURE_SEED) $(CAMPAIGN)/torture

mutants:  ## breaks the maths on purpose and counts who notices
	PYTHONPATH=tests/campaigns $(PYTHON) -m mutants.run $(ARGS)

faults:  ## kills, full disks, no memory, broken caches
	$(CAMPAIGN)/faults

security:  ## every altered model file and results folder
	$(CAMPAIGN)/security

load:  ## ten million rows, many threads and processes on one model
	$(CAMPAIGN)/load

cluster:  ## jobs and fits on two workers, one of which is killed
	$(CAMPAIGN)/cluster

pages:  ## every block, command, example and a sample of the figures of the pages
	$(CAMPAIGN)/pages -rs

peers:  ## other people's tests on our estimators, and clients that use them
	$(PYTHON) tests/campaigns/peers/run.py $(ARGS)

audit:  ## known vulnerabilities of the dependencies
	$(PYTHON) tests/campaigns/security/audit.py

# Old packages are told by new ones, which they bring along, that something will go: no fault of ours.
oldest:  ## the suite with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --python .venv-oldest/bin/python --resolution lowest-direct -e ".[test,fast]"
	.venv-oldest/bin/python -m pytest -q -n auto -W ignore::DeprecationWarning $(ARGS)
