"""The page in a real browser: it loads, sorts, filters, shows its figures and fits."""

import pytest

pytestmark = pytest.mark.browser

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from report.screens import colours, screen, texts_cut_off  # noqa: E402


@pytest.fixture
def browser(chromium, page):
    screen(chromium, 1280)
    colours(chromium, "light")
    chromium.get(page.as_uri())
    return chromium


def _table(browser, text="table-1"):
    return browser.find_element(By.CSS_SELECTOR, f"section.table[id$='laplacian-{text}']")


def _names(table):
    return [
        body.get_attribute("data-name")
        for body in table.find_elements(By.TAG_NAME, "tbody")
        if body.is_displayed()
    ]


def _head(table, text):
    buttons = table.find_elements(By.CSS_SELECTOR, "th button.sort")
    return next(button for button in buttons if button.text.strip() == text)


def _order(table, text):
    head = _head(table, text).find_element(By.XPATH, "./ancestor::th")
    return head.get_attribute("aria-sort")


def _background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def _brightness(colour):
    return sum(map(int, colour[colour.index("(") + 1 : -1].split(",")[:3])) / 3


def test_loads_without_a_word_on_the_console(browser, page):
    browser.get_log("browser")
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []
    assert browser.title.startswith("Published and measured")


def test_sorts_up_down_and_back(browser):
    table = _table(browser)
    before = _names(table)
    assert before[:2] == ["Banana", "Thyroid"]
    _head(table, "SVM").click()
    values = browser.execute_script(
        "return Array.from(arguments[0].tBodies, b => JSON.parse(b.dataset.sort)[1])",
        table.find_element(By.TAG_NAME, "table"),
    )
    assert values == sorted(values)
    assert _order(table, "SVM") == "ascending"
    _head(table, "SVM").click()
    assert _order(table, "SVM") == "descending"
    assert _names(table) != before
    _head(table, "SVM").click()
    assert _order(table, "SVM") == "none"
    assert _names(table) == before


def test_sorts_by_keyboard_and_by_name(browser, nasty):
    table = _table(browser)
    _head(table, "Row").send_keys(Keys.ENTER)
    assert _order(table, "Row") == "ascending"
    assert _names(table) == [nasty, "Banana", "Image", "Iris", "Thyroid", "Twonorm", "Wine"]
    _head(table, "Row").send_keys(Keys.SPACE)
    assert _names(table) == ["Wine", "Twonorm", "Thyroid", "Iris", "Image", "Banana", nasty]


def test_gaps_stay_last(browser):
    table = browser.find_element(By.CSS_SELECTOR, "section.table[id$='saul-table-1']")
    for _ in range(2):
        _head(table, "307 rows").click()
        assert set(_names(table)[:2]) == {"Soy", "Liver"}


def test_the_long_table_sorts_numbers_as_numbers(browser):
    browser.find_element(By.CSS_SELECTOR, "#all summary").click()
    table = browser.find_element(By.CSS_SELECTOR, "#all table")
    _head(table, "Difference").click()
    values = browser.execute_script(
        "return Array.from(arguments[0].tBodies[0].rows, row => row.cells[8].textContent)"
        ".filter(text => text).map(text => Number(text.replace('−', '-')))",
        table,
    )
    assert len(values) > 10
    assert values == sorted(values)
    _choose(browser, "mark", "not-available")
    assert [
        row.text for row in table.find_elements(By.CSS_SELECTOR, "tbody tr") if row.is_displayed()
    ] == ["faces-roweis-saul Table 2 FERET KDA paper 4.5 not available"]


def _choose(browser, name, value):
    Select(browser.find_element(By.CSS_SELECTOR, f"#filters [name={name}]")).select_by_value(value)


def _type(browser, text):
    field = browser.find_element(By.CSS_SELECTOR, "#filters [name=text]")
    field.clear()
    field.send_keys(text)


def _said(browser):
    return browser.find_element(By.CSS_SELECTOR, "#filters output").text


def test_the_heads_of_a_long_table_stay_in_view(browser):
    table = _table(browser)
    box = table.find_element(By.CSS_SELECTOR, ".scroll.high")
    rows = table.find_elements(By.TAG_NAME, "tbody")
    room, height = (box.get_property(name) for name in ("clientHeight", "scrollHeight"))
    assert room < height
    browser.execute_script("arguments[0].scrollTop = arguments[0].scrollHeight", box)
    tops = [
        browser.execute_script("return arguments[0].getBoundingClientRect().top", one)
        for one in (box, table.find_element(By.TAG_NAME, "thead"), rows[0])
    ]
    assert abs(tops[1] - tops[0]) < 3
    assert tops[2] < tops[0]


def test_filters_by_study(browser):
    _choose(browser, "study", "laplacian")
    shown = [s.get_attribute("data-study") for s in browser.find_elements(By.CLASS_NAME, "study")
             if s.is_displayed()]  # fmt: skip
    assert shown == ["laplacian"]
    assert _said(browser) == "7 of 15 rows"
    browser.find_element(By.CSS_SELECTOR, "#filters [type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 20)")
    assert len([s for s in browser.find_elements(By.CLASS_NAME, "study") if s.is_displayed()]) == 2
    assert _said(browser) == ""


def test_filters_by_mark(browser):
    _choose(browser, "mark", "not-available")
    visible = [n for t in browser.find_elements(By.CSS_SELECTOR, "table.cells") for n in _names(t)]
    assert visible == ["FERET"]
    assert _said(browser) == "1 of 15 rows"


def test_filters_by_text(browser):
    _type(browser, "thyr")
    assert _names(_table(browser)) == ["Thyroid"]
    _type(browser, "recognition")
    assert len(_names(_table(browser))) == 7
    _type(browser, "nothing like it")
    assert not _table(browser).is_displayed()


def test_filters_by_protocol(browser):
    table = _table(browser)

    def lines():
        rows = table.find_elements(By.CSS_SELECTOR, "tbody:first-of-type tr")
        return [row.get_attribute("class").split()[0] for row in rows if row.is_displayed()]

    assert lines() == ["published", "measured", "honest"]
    _choose(browser, "protocol", "paper")
    assert lines() == ["published", "measured"]
    _choose(browser, "protocol", "honest")
    assert lines() == ["published", "honest"]


def test_every_figure_is_shown(browser):
    charts = browser.find_elements(By.CSS_SELECTOR, "svg.chart")
    assert len(charts) == 6  # five panels and the ranks of a table
    for chart in charts:
        assert chart.size["width"] > 100
        assert chart.size["height"] > 40
        assert chart.get_attribute("aria-label")
    loaded = browser.execute_async_script(
        """const done = arguments[0];
        Promise.all(Array.from(document.querySelectorAll('svg image'), (node) => {
          const image = new Image();
          image.src = node.getAttribute('href');
          return image.decode().then(() => image.naturalWidth, () => 0);
        })).then(done);"""
    )
    assert loaded == [20, 2]


def test_no_text_of_a_figure_is_cut_off(browser):
    assert texts_cut_off(browser) == []


def test_dark_by_the_system_and_by_the_button(browser, page):
    light = _brightness(_background(browser))
    assert light > 200
    colours(browser, "dark")
    assert _brightness(_background(browser)) < 60
    button = browser.find_element(By.ID, "theme")
    assert button.text == "Light"
    button.click()
    assert _brightness(_background(browser)) > 200
    button.send_keys(Keys.ENTER)
    assert _brightness(_background(browser)) < 60
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    assert _brightness(ink) > 180


def test_fits_a_phone(browser, page):
    screen(browser, 360)
    browser.get(page.as_uri())
    width, scroll = browser.execute_script(
        "return [innerWidth, document.documentElement.scrollWidth]"
    )
    assert width == 360
    assert scroll <= 360
    for table in browser.find_elements(By.CSS_SELECTOR, ".scroll"):
        assert table.rect["x"] + table.rect["width"] <= 360


def test_labels_are_not_run(browser, nasty):
    assert _names(_table(browser))[-1] == nasty
    assert browser.execute_script("return document.querySelectorAll('script').length") == 1


def test_everything_can_be_reached_by_keyboard(browser):
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    first = browser.switch_to.active_element
    assert first.text == "Skip to the results"
    assert first.rect["y"] >= 0
    first.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "main"
    table = browser.find_element(By.CSS_SELECTOR, ".table .scroll")
    browser.execute_script("arguments[0].focus()", table)
    assert browser.switch_to.active_element == table


def test_all_is_visible_without_the_script(browser, page, tmp_path):
    text = page.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(text[: text.index("<script>")] + "</body></html>", encoding="utf-8")
    browser.get(bare.as_uri())
    assert len(_names(_table(browser))) == 7
    assert all(chart.is_displayed() for chart in browser.find_elements(By.CSS_SELECTOR, ".chart"))
    assert not browser.find_element(By.ID, "filters").is_displayed()


def test_prints_in_lightcolours(browser):
    colours(browser, "dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert _background(browser) == "rgb(255, 255, 255)"
    assert not browser.find_element(By.ID, "filters").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
