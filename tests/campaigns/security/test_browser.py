"""Pages with hostile names in a real browser: nothing runs, is added or is fetched."""

import pytest

pytestmark = pytest.mark.browser

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.by import By  # noqa: E402

from mercer.report import write_report  # noqa: E402
from report.screens import colours, screen  # noqa: E402
from security.hostile import NAMES  # noqa: E402
from security.test_pages import comparison, scatter, study  # noqa: E402


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("<b>&#39;pages")
    return {
        "comparison": comparison(folder / "c"),
        "study": write_report(study(folder / "s")),
        "scatter": scatter(folder / "map <img src=x onerror=alert(1)>.html"),
    }


def open_page(browser, path):
    """Open a page and note every address that it asks for, and every dialog."""
    screen(browser, 1280)
    colours(browser, "light")
    browser.get_log("browser")
    browser.get("about:blank")
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "window.said = []; for (const one of ['alert', 'confirm', 'prompt', 'fetch', "
                   "'open']) window[one] = (...what) => { window.said.push([one, ...what]); };"},
    )  # fmt: skip
    browser.get(path.as_uri())
    return browser


def used(browser):
    """Press, open and point at everything."""
    browser.execute_script(
        """document.querySelectorAll('details').forEach((one) => { one.open = true; });
        document.querySelectorAll('button').forEach((one) => one.click());
        document.querySelectorAll('*').forEach((one) => {
          for (const kind of ['mouseover', 'pointermove', 'focus', 'mouseenter'])
            one.dispatchEvent(new Event(kind, { bubbles: true }));
        });
        document.querySelectorAll('select').forEach((one) => {
          one.selectedIndex = one.options.length - 1;
          one.dispatchEvent(new Event('input', { bubbles: true }));
        });"""
    )


@pytest.mark.parametrize("name", ["comparison", "study", "scatter"])
def test_nothing_runs_and_nothing_is_fetched(chromium, pages, name):
    browser = open_page(chromium, pages[name])
    before = browser.execute_script("return document.title")
    used(browser)
    assert browser.execute_script("return window.said") == []
    assert browser.execute_script("return document.title") == before
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [one for one in fetched if not one.startswith("data:")] == []
    assert browser.get_log("browser") == []  # nor does the policy have anything to refuse
    added = "script, iframe, img, base, object, embed, [onerror], [onload], [onmouseover]"
    elements = browser.find_elements(By.CSS_SELECTOR, added)
    assert [one.tag_name for one in elements] == ["script"]
    assert (
        browser.execute_script(
            "return Array.from(document.links, (one) => one.protocol)"
            ".filter((one) => !/^(https?|file):/.test(one)).length"
        )
        == 0
    )


@pytest.mark.parametrize("name", ["comparison", "scatter"])
def test_names_are_shown_as_they_are(chromium, pages, name):
    browser = open_page(chromium, pages[name])
    buttons = browser.find_elements(By.CSS_SELECTOR, ".scatter [data-class] span")
    shown = {one.get_attribute("textContent") for one in buttons}
    assert shown == set(NAMES)


def test_the_policy_stops_what_would_be_added(chromium, pages, tmp_path):
    """Were escaping to fail one day, a script of somebody else would still not run."""
    text = pages["scatter"].read_text(encoding="utf-8")
    evil = (
        "<script>window.said.push('script')</script>"
        "<img src='http://mercer-test.invalid/x' onerror=\"window.said.push('error')\">"
        "<p style='background:url(http://mercer-test.invalid/y)'>x</p>"
    )
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace("<main", evil + "<main", 1), encoding="utf-8")
    browser = open_page(chromium, bad)
    assert browser.execute_script("return window.said") == []
    assert len(browser.get_log("browser")) >= 3  # each refusal is said on the console
    assert browser.find_element(By.CSS_SELECTOR, ".scatter.is-live")  # our own script still runs
