"""Comparisons and scatters in a real browser: they load, tell what is pointed at, and fit."""

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.browser

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from mercer.report import write_comparison_report, write_scatter_page  # noqa: E402
from report.comparisons import NASTY, make_content, make_points, write_folder  # noqa: E402
from report.screens import colours, screen, texts_cut_off  # noqa: E402


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return write_comparison_report(write_folder(tmp_path_factory.mktemp("comparison")))


def _frame(n):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, n)
    return pd.DataFrame(
        {"row": np.arange(1, n + 1), "x": rng.normal(size=n) + 3 * kinds, "y": rng.normal(size=n),
         "class": np.array(["a", "b", NASTY], dtype=object)[kinds],
         "held_out": rng.random(n) < 0.25}
    )  # fmt: skip


@pytest.fixture(scope="module")
def scatter(tmp_path_factory):
    path = tmp_path_factory.mktemp("scatter") / "map.html"
    return write_scatter_page(_frame(2000), path, title="Many points")


def _open(browser, path, width=1280, scheme="light"):
    screen(browser, width)
    colours(browser, scheme)
    browser.get_log("browser")
    browser.get(path.as_uri())
    return browser


@pytest.fixture
def browser(chromium, comparison):
    return _open(chromium, comparison)


@pytest.fixture
def cloud(chromium, scatter):
    return _open(chromium, scatter)


def _find_row(browser, row):
    field = browser.find_element(By.CSS_SELECTOR, ".scatter [name=row]")
    field.clear()
    field.send_keys(str(row))
    return browser.find_element(By.CSS_SELECTOR, ".scatter output").text


def _tip(browser):
    tip = browser.find_element(By.CSS_SELECTOR, ".scatter .tip")
    return tip.text if tip.is_displayed() else ""


def _place(browser, points, row):
    """Where a row is on the canvas, from its middle, by the extent of the page."""
    return browser.execute_script(
        """const [x, y] = arguments, figure = document.querySelector('.scatter');
        const [left, right, bottom, top] = JSON.parse(figure.dataset.extent);
        const canvas = figure.querySelector('canvas');
        const wide = canvas.clientWidth, high = canvas.clientHeight;
        return [44 + (x - left) / (right - left) * (wide - 56) - wide / 2,
                10 + (top - y) / (top - bottom) * (high - 36) - high / 2];""",
        *points.set_index("row").loc[row, ["x", "y"]].astype(float),
    )


def _colours_drawn(browser):
    """How many different colours the canvas holds, and a sum that tells pictures apart."""
    return browser.execute_async_script(
        """const done = arguments[0];
        requestAnimationFrame(() => requestAnimationFrame(() => {
          const canvas = document.querySelector('.scatter canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const seen = new Set();
          let sum = 0;
          for (let i = 0; i < data.length; i += 4) {
            seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
            sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) % 1000000007;
          }
          done([seen.size, sum]);
        }));"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_loads_without_a_word_on_the_console(chromium, comparison, scatter, scheme):
    for path in (comparison, scatter):
        _open(chromium, path, scheme=scheme)
        assert chromium.get_log("browser") == []
    assert chromium.title == "Many points – Mercer"


def test_every_chart_is_shown(browser):
    charts = browser.find_elements(By.CSS_SELECTOR, "svg.chart")
    still = browser.find_elements(By.CSS_SELECTOR, ".still svg.chart")
    assert len(charts) - len(still) == 4  # scores, calibration, two of precision and recall
    for chart in charts:
        if chart not in still:
            assert chart.size["width"] > 100
            assert chart.size["height"] > 40
    canvas = browser.find_element(By.CSS_SELECTOR, ".scatter canvas")
    assert canvas.size["width"] > 400
    assert _colours_drawn(browser)[0] > 10
    assert texts_cut_off(browser) == []


def test_pointing_at_a_point_tells_its_row_and_class(browser):
    points = make_points(["a", "b", NASTY])
    canvas = browser.find_element(By.CSS_SELECTOR, ".scatter canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    assert _tip(browser) == ""
    for row in (1, 3, 7, 20):
        ActionChains(browser).move_to_element_with_offset(
            canvas, *map(round, _place(browser, points, row))
        ).perform()
        said = _tip(browser)
        assert said.startswith(f"row {row}\n{points['class'][row - 1]}")
        assert ("wrong for every model" in said) == (row == 7)
        assert (", held out" in said) == bool(points["held_out"][row - 1])
    head = browser.find_element(By.ID, "map-title")
    ActionChains(browser).move_to_element(head).perform()
    assert _tip(browser) == ""


def test_finds_rows_and_says_where_none_is(browser):
    assert _find_row(browser, 11) == "b, not held out, wrong for every model"
    assert _tip(browser).startswith("row 11\n")
    assert _find_row(browser, 41) == "Row 41 is not on the map."
    assert _tip(browser) == ""


def test_classes_are_hidden_and_shown_by_keyboard(cloud):
    before = _colours_drawn(cloud)
    button = cloud.find_element(By.CSS_SELECTOR, ".scatter [data-class]")
    assert button.text.startswith(NASTY)
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "false"
    assert _colours_drawn(cloud) != before
    button.send_keys(Keys.SPACE)
    assert button.get_attribute("aria-pressed") == "true"
    assert _colours_drawn(cloud) == before


def test_zooms_by_button_and_key_and_back(cloud):
    before = _colours_drawn(cloud)
    nearer, _, whole = cloud.find_elements(By.CSS_SELECTOR, ".scatter [data-zoom]")
    nearer.click()
    near = _colours_drawn(cloud)
    assert near != before
    whole.click()
    assert _colours_drawn(cloud) == before
    canvas = cloud.find_element(By.CSS_SELECTOR, ".scatter canvas")
    canvas.send_keys("+")
    assert _colours_drawn(cloud) == near
    canvas.send_keys(Keys.ARROW_LEFT)
    moved = _colours_drawn(cloud)
    assert moved not in (near, before)
    canvas.send_keys("0")
    assert _colours_drawn(cloud) == before


def test_held_out_rows_alone(cloud):
    before = _colours_drawn(cloud)
    cloud.find_element(By.CSS_SELECTOR, ".scatter [name=held-out]").click()
    assert _colours_drawn(cloud) != before


def test_a_crowd_is_drawn_and_searched_quickly(chromium, tmp_path):
    frame = _frame(45_000)
    path = write_scatter_page(frame, tmp_path / "map.html", title="A crowd")
    assert path.stat().st_size < 2e6
    _open(chromium, path)
    row = int(frame["x"].idxmax()) + 1  # far from others
    assert _find_row(chromium, row).startswith(frame["class"][row - 1])
    took = chromium.execute_script(
        """const canvas = document.querySelector('.scatter canvas');
        const box = canvas.getBoundingClientRect(), start = performance.now();
        for (let k = 0; k < 20; k += 1) canvas.dispatchEvent(new PointerEvent('pointermove',
          { clientX: box.left + 60 + 20 * k, clientY: box.top + 150 }));
        return (performance.now() - start) / 20;"""
    )
    assert took < 100  # milliseconds for one move of the pointer


def test_copies_the_command(browser):
    browser.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    button = browser.find_element(By.CSS_SELECTOR, "#fit .copy")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert button.text == "Copied"
    copied = browser.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(`${e}`))"
    )
    assert copied == make_content()["fit_command"]


def test_sorts_scores_as_numbers(browser):
    table = browser.find_element(By.CSS_SELECTOR, "#ranking table.ranked")
    button = table.find_elements(By.CSS_SELECTOR, "button.sort")[1]

    def names():
        rows = table.find_elements(By.CSS_SELECTOR, "tbody th small")
        return [row.text.removeprefix("the ") for row in rows]

    button.click()
    assert names() == ["dummy", "logistic", "svc", "fisher", "knn", "forest"]
    button.click()
    assert names() == ["fisher", "svc", "logistic", "dummy", "knn", "forest"]


@pytest.mark.parametrize("classes", [("a", "b", NASTY), [f"class {k}" for k in range(100)]])
def test_fits_a_phone(chromium, tmp_path, classes):
    path = write_comparison_report(write_folder(tmp_path, content=make_content(classes=classes)))
    page = write_scatter_page(make_points(classes, 300), tmp_path / "map.html", title="t" * 60)
    for one in (path, page):
        _open(chromium, one, width=360)
        chromium.execute_script(
            "document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
        )
        width, scroll = chromium.execute_script(
            "return [innerWidth, document.documentElement.scrollWidth]"
        )
        assert (width, scroll) == (360, 360)
        assert texts_cut_off(chromium) == []


def test_names_are_not_run(cloud):
    assert cloud.execute_script("return document.querySelectorAll('script').length") == 1


@pytest.mark.parametrize("name", ["comparison", "scatter"])
def test_all_is_there_without_the_script(chromium, comparison, scatter, tmp_path, name):
    path = comparison if name == "comparison" else scatter
    text = path.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(text[: text.index("<script>")] + "</body></html>", encoding="utf-8")
    _open(chromium, bare)
    charts = chromium.find_elements(By.CSS_SELECTOR, "svg.chart")
    assert charts
    assert all(chart.is_displayed() for chart in charts)
    assert not chromium.find_element(By.CSS_SELECTOR, ".scatter canvas").is_displayed()
    assert not any(one.is_displayed() for one in chromium.find_elements(By.CSS_SELECTOR, ".copy"))


def test_prints_the_still_picture_in_light_colours(chromium, comparison):
    _open(chromium, comparison, scheme="dark")
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    body = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert body == "rgb(255, 255, 255)"
    assert chromium.find_element(By.CSS_SELECTOR, ".still svg.chart").is_displayed()
    assert not chromium.find_element(By.CSS_SELECTOR, ".scatter canvas").is_displayed()
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
