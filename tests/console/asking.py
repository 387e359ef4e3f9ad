"""What people do on the page for asking."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def editor(page: Page) -> Locator:
    """The editor, once it is ready."""
    found = page.get_by_role("textbox", name="Your question in SQL")
    found.wait_for()
    return found


def write(page: Page, sql: str) -> None:
    """Put a question into the editor, in place of what was there."""
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(sql)


def price(page: Page, epsilon: str) -> None:
    """Name a price."""
    page.get_by_label("Price ε", exact=True).fill(epsilon)
    expect(page.get_by_role("button", name=f"Ask for ε {epsilon}", exact=True)).to_be_enabled()


def ask(page: Page, sql: str, epsilon: str) -> None:
    """Ask, and wait for what comes back."""
    write(page, sql)
    price(page, epsilon)
    page.get_by_role("button", name="Ask for", exact=False).click()
    expect(answer(page).get_by_text("Being answered")).to_have_count(0)


def answer(page: Page) -> Locator:
    """Where answers and refusals appear."""
    return page.get_by_role("region", name="The answer")


def history(page: Page) -> Locator:
    """What was asked before."""
    return page.get_by_role("region", name="Asked before")
