"""What tests need from outside: a marked test is skipped, with a reason, where that is missing."""

import gc
import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# As many processes as there are cores, each with as many threads, wait for each other: linear
# algebra then took three times the processor time.  Libraries ask for the variable when they are
# loaded, so nothing above may import NumPy.  Tests of threads say how many they want.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("mercer", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("mercer")


def _missing_data() -> str | None:
    return None if os.environ.get("MERCER_DATA") else "MERCER_DATA names no folder of data sets"


def _missing_gpu() -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch

    return None if torch.cuda.is_available() else "no CUDA device"


def _missing_browser() -> str | None:
    found = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return None if found else "no Chromium on the path"


_NEEDS = {"data": _missing_data, "gpu": _missing_gpu, "browser": _missing_browser}


_CAMPAIGNS = Path(__file__).parent / "campaigns"
_IN_THE_SUITE = ("mutants", "pages")  # an edit of the source may make these false


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the campaigns to their own commands, unless a path on the command line names them."""
    is_campaign = collection_path.parent == _CAMPAIGNS
    is_named = any(_CAMPAIGNS.name in argument for argument in config.args)
    return (is_campaign and not is_named and collection_path.name not in _IN_THE_SUITE) or None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="try all cases, not a share of them")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give one test that tries all cases an hour; the suite's limit is for a share of them."""
    if config.getoption("--long") and config.getoption("timeout") is None:
        config.option.timeout = 3600.0


@pytest.fixture(scope="session")
def long(request) -> bool:
    """Tell whether all cases are wanted: the suite runs a share, the Makefile's commands all."""
    return request.config.getoption("--long")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, missing in _NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and (reason := missing()):
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Keep what was collected out of the collector's way: it stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def torch():
    """The torch module, in tests that need it."""
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def dispatch(torch, monkeypatch):
    """Estimators get tensors as they are.

    Scikit-learn asks for the variable because of its own calls of SciPy; Mercer makes none.
    """
    import sklearn

    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser for all tests that need one."""
    from report.screens import start

    driver = start(tmp_path_factory.mktemp("profile"))
    if driver is None:
        pytest.skip("no chromedriver on the path")
    yield driver
    driver.quit()
