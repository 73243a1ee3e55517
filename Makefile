# What takes minutes, and the quick lane. CONTRIBUTING.md says which command to run when,
# docs/reliability.md what each one showed.
PYTHON ?= .venv/bin/python
CAMPAIGN = $(PYTHON) -m pytest --long -q -s tests/campaigns

# For the quick lane: whatever an edit breaks most often, and what holds the maths to its formulas.
QUICK = tests/test_layers.py tests/test_public_api.py tests/test_import_is_light.py tests/test_docs.py \
	tests/campaigns/mutants tests/campaigns/pages \
	tests/contract/test_invariance.py tests/contract/test_inputs.py tests/contract/test_parameters.py \
	tests/kernels tests/samples tests/bandwidth tests/graphs tests/spectral tests/projections \
	tests/sums/test_properties.py tests/sums/test_accuracy.py tests/sums/test_groups.py \
	tests/sums/test_weights.py tests/sums/test_left_out.py \
	tests/classifiers/test_oracles.py tests/classifiers/test_paper_properties.py \
	tests/discriminants/test_exact.py tests/discriminants/test_paper.py tests/discriminants/test_rule.py \
	tests/information/test_measures.py tests/datasets tests/report \
	tests/tables/test_read.py tests/tables/test_kinds.py \
	tests/comparison/test_mcnemar.py tests/comparison/test_paired_t.py tests/comparison/test_five_by_two.py

.PHONY: help quick campaigns torture interpreter mutants faults security load cluster pages options peers audit oldest

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

quick:  ## what to run after every edit
	$(PYTHON) -m pytest -q -n auto $(QUICK)

campaigns: torture interpreter mutants faults security load cluster pages peers  ## all of tests/campaigns

torture:  ## 200 000 generated cases of the numerical code
	MERCER_TORTURE_SEED=$(MERCER_TORTURE_SEED) $(CAMPAIGN)/torture

interpreter:  ## kernels of Triton, every form with every option, without a device
	$(CAMPAIGN)/interpreter

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

options:  ## writes the page of all options of all commands
	PYTHONPATH=tests/campaigns:src $(PYTHON) -m pages.command_page

peers:  ## other people's tests on our estimators, and clients that use them
	$(PYTHON) tests/campaigns/peers/run.py $(ARGS)

audit:  ## known vulnerabilities of the dependencies
	$(PYTHON) tests/campaigns/security/audit.py

# Old packages are told by new ones, which they bring along, that something will go: no fault of ours.
oldest:  ## the suite and a share of the campaigns with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --python .venv-oldest/bin/python --resolution lowest-direct -e ".[test,fast]"
	.venv-oldest/bin/python -m pytest -q -n auto -W ignore::DeprecationWarning src tests tests/campaigns $(ARGS)
