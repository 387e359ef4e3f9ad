"""The page of publications in a real browser: from a table to candidates, what they still tell, and the files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.console.conftest import Enter
from tests.console.serving import Serving

PEOPLE = "name,zip,age,disease\n" + "".join(
    f"P{row},130{50 + row % 9},{20 + 7 * row % 50},{('flu', 'cold', 'cancer')[row * row % 7 % 3]}\n"
    for row in range(300)
)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_an_owner_goes_from_the_hospital_to_a_release(enter: Enter, serving: Serving) -> None:
    page = enter("owner", "/publish")
    page.get_by_role("button", name="Take the made-up hospital").click()
    expect(page.get_by_text("patients: 3,000 rows, 5 columns")).to_be_visible()
    expect(page.get_by_text("several together single people out")).to_be_visible()

    widths = page.get_by_label("Widths, with commas")
    widths.fill("many")
    expect(page.get_by_role("alert").filter(has_text="numbers with commas, got 'many'")).to_be_visible()
    widths.fill("10, 30")
    expect(page.get_by_role("cell", name="[60, 90)").first).to_be_visible()
    choose(page, "How zip becomes coarser", "intervals of numbers")
    expect(page.get_by_role("alert").filter(has_text="made of numbers")).to_be_visible()
    expect(page.get_by_text("and 28 more")).to_be_visible()
    choose(page, "How zip becomes coarser", "hide characters")

    page.get_by_role("checkbox", name="microaggregate").click()
    page.get_by_role("button", name="Find candidates").click()
    expect(page.get_by_role("heading", name="4. Candidates")).to_be_visible()
    expect(page.get_by_text("microaggregate: column 'zip' must be of numbers")).to_be_visible()
    choice = page.get_by_role("button", name="Choose optimal")
    choice.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="5. The release by “optimal”")).to_be_visible()
    expect(choice).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="Within the limit")).to_be_visible()
    limit = page.get_by_role("slider", name="The risk that is allowed")
    limit.locator("[tabindex='0']").focus()
    for percent in (19, 18, 17, 16):
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_text(f"is found ({percent}%)")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="Above the limit")).to_be_visible()
    expect(page.get_by_text("This is not differential privacy.")).to_be_visible()
    expect(page.get_by_text("Through the curator this question costs ε =")).to_be_visible()

    expect(page.get_by_role("button", name="Release")).to_have_count(0)  # nothing leaves before it is on record
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report, page").click()
    assert "What an attacker can still do" in Path(waiting.value.path()).read_text("utf-8")

    approve = page.get_by_role("button", name="Approve as owner")
    expect(approve).to_be_disabled()
    page.get_by_role("checkbox", name="I have read what an attacker can still do.").click()
    approve.click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="must say why")).to_be_visible()
    page.get_by_label("Why, and for whom").fill("For the city's health report")
    page.get_by_role("checkbox", name="I have read what an attacker can still do.").click()
    approve.click()
    page.get_by_role("button", name="Publish", exact=True).click()
    done = page.get_by_role("status").filter(has_text="patients is published")
    expect(done).to_contain_text("loss infinite, approved by owner")
    expect(page.get_by_role("heading", name="Published so far")).to_be_visible()
    headers = {"Authorization": f"Bearer {serving.hospital.tokens['owner']}"}
    [known] = httpx.get(f"{serving.address}/api/v1/publications", headers=headers).json()
    assert (known["approved_by"], known["loss"]) == ("owner", "infinite")
    assert known["statement"]["why"] == "For the city's health report"
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Release patients, record {known['entry']}").click()
    content = Path(waiting.value.path()).read_bytes()
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    classes = Counter((row["age"], row["zip"], row["sex"]) for row in rows)
    assert min(classes.values()) >= 5
    assert "patient" not in rows[0]
    assert known["statement"]["rows"] == len(rows)
    assert known["sha256"] == sha256(content).hexdigest()


def test_a_table_of_ones_own_is_read_and_what_is_none_is_refused(enter: Enter) -> None:
    page = enter("owner", "/publish")
    bring = page.locator("input[type=file]").first
    bring.set_input_files({"name": "picture.csv", "mimeType": "text/csv", "buffer": b"\x89PNG\xff\xfe"})
    expect(page.get_by_role("alert").filter(has_text="UTF-8, got 'picture.csv'")).to_be_visible()
    bring.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE.encode()})
    expect(page.get_by_text("people: 300 rows, 4 columns")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    choose(page, "Role of disease", "harmless")
    expect(page.get_by_label("Role of disease")).to_be_focused()
    expect(page.get_by_text("Needs a sensitive column.").first).to_be_visible()
    choose(page, "How age becomes coarser", "a hierarchy from a file (ARX)")
    file = {"name": "age.csv", "mimeType": "text/csv", "buffer": b"20;young\n27;young\n"}
    page.locator("input[type=file]").nth(1).set_input_files(file)
    expect(page.get_by_role("alert").filter(has_text="the hierarchy of 'age' must hold every value")).to_be_visible()
    page.get_by_role("button", name="Find candidates").click()
    expect(page.get_by_role("alert").filter(has_text="must hold every value")).to_have_count(2)


@pytest.mark.thorough
def test_a_search_can_be_stopped(enter: Enter) -> None:
    """Nine columns with five levels each have two million recodings."""
    page = enter("owner", "/publish")
    names = [f"c{column}" for column in range(9)]
    lines = [",".join(str(hash((row, name)) % 97) for name in names) for row in range(800)]
    wide = {"name": "wide.csv", "mimeType": "text/csv", "buffer": "\n".join([",".join(names), *lines]).encode()}
    page.locator("input[type=file]").first.set_input_files(wide)
    expect(page.get_by_text("wide: 800 rows, 9 columns")).to_be_visible()
    page.get_by_role("button", name="Find candidates").click()
    expect(page.get_by_text("Trying optimal")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. Nothing changed.")).to_be_visible()
    expect(page.get_by_role("button", name="Find candidates")).to_be_enabled()


@pytest.mark.thorough
def test_a_table_of_nine_columns_fits_the_page(enter: Enter) -> None:
    """Tables scroll in themselves, so that nobody has to scroll the page sideways."""
    page = enter("owner", "/publish", viewport={"width": 1440, "height": 900})
    names = ["patient_number", "full_name", "postal_code", "age", "sex", "admitted", "ward", "diagnosis", "stay"]
    lines = [
        f"{1000 + row},Person {row} of the Hospital,{13000 + row % 29},{20 + 7 * row % 60},{'fm'[row % 2]},"
        f"2020-0{1 + row % 9}-1{row % 9},{('surgery', 'intensive care of hearts')[row % 2]},"
        f"{('influenza', 'broken leg')[row * row % 7 % 2]},{row % 21}"
        for row in range(300)
    ]
    wide = {"name": "wide.csv", "mimeType": "text/csv", "buffer": "\n".join([",".join(names), *lines]).encode()}
    page.locator("input[type=file]").first.set_input_files(wide)
    expect(page.get_by_text("wide: 300 rows, 9 columns")).to_be_visible()
    for method in ("optimal", "local", "taxonomy"):
        page.get_by_role("checkbox", name=method).click()
    page.get_by_role("button", name="Find candidates").click()
    page.get_by_role("button", name="Choose mondrian").click()
    expect(page.get_by_role("heading", name="Before and after")).to_be_visible()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")  # charts follow a little later
    approve = page.get_by_role("button", name="Approve as owner")
    expect(approve).to_have_accessible_description("Tick the box above first.")
    page.get_by_role("checkbox", name="I have read what an attacker can still do.").click()
    expect(page.get_by_text("Tick the box above first.")).to_be_hidden()


def test_an_analyst_does_not_get_in(enter: Enter) -> None:
    page = enter("ana", "/publish")
    expect(page.get_by_role("button", name="Take the made-up hospital")).to_have_count(0)
    assert not page.url.endswith("/publish")
