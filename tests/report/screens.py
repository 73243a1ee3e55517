"""A headless Chromium, its screen and its colours."""

import shutil

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,900",
)  # fmt: skip


def start(profile):
    """Start a browser, or return None where there is none."""
    from selenium import webdriver  # may be missing: this file is looked through for doctests
    from selenium.webdriver.chrome.service import Service

    driver = shutil.which("chromedriver")
    if driver is None:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def screen(browser, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def colours(browser, scheme):
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},  # clicks do not wait for scrolling
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def texts_cut_off(browser):
    """Texts of figures that stand out of them."""
    return browser.execute_script(
        """return Array.from(document.querySelectorAll('svg.chart text')).filter((text) => {
          const own = text.getBoundingClientRect();
          const all = text.closest('svg.chart').getBoundingClientRect();
          return own.width && (own.left < all.left - 1 || own.right > all.right + 1
            || own.top < all.top - 1 || own.bottom > all.bottom + 1);
        }).map((text) => text.textContent);"""
    )
