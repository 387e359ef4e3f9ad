"""Tables on the page: a file, a form, a policy whose problems stand in their lines, and a table that can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from playwright.sync_api import Page, expect

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.console.tables.page import budget_words, column_rows, table_words
from tests.console.conftest import Enter
from tests.console.serving import Serving

PAYMENTS = "person,town,age,paid\n" + "".join(
    f"{row % 50},{('Ulm', 'Bonn')[row % 2]},{20 + row % 60},{row * 1.5 if row else 'much'}\n" for row in range(300)
)


def test_tables_are_said_in_words() -> None:
    town = Column("town", ColumnType.TEXT, keys=tuple("abcdefgh"), nullable=False, constant_per_unit=True)
    age = Column("age", ColumnType.INTEGER, lower=0, upper=9)
    table = Table("t", (town, age), unit=None, budget=Budget("0.5"))
    assert table_words(table) == "ε 0.5 in all, protects each row, 2 columns, 0 analysts"
    who, few = Column("who", ColumnType.INTEGER), replace(town, rows_per_key=1)
    by_person = Table("t", (who, few, age), unit="who", budget=Budget("0.5"))
    assert column_rows(by_person)[1:] == [
        ("town", "text", "a, b, c, d, e, f and 2 more", "same for a person, 1 of a person in a group"),
        ("age", "integer", "0 to 9", "may be missing"),
    ]
    assert budget_words(None) == "all of the budget"


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def asked(serving: Serving, member: str, sql: str) -> int:
    headers = {"Authorization": f"Bearer {serving.hospital.tokens[member]}"}
    body = {"sql": sql, "epsilon": "0.1"}
    return httpx.post(f"{serving.address}/api/v1/explain", json=body, headers=headers).status_code


def test_an_owner_protects_a_table_and_lets_an_analyst_ask(enter: Enter, serving: Serving) -> None:
    page = enter("owner", "/tables")
    bring = page.locator("input[type=file]")
    bring.set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b"\xff\xfe\x00\x01"})
    expect(page.get_by_role("alert").filter(has_text="a CSV file must be text in UTF-8")).to_be_visible()
    bring.set_input_files({"name": "Payments 2025.csv", "mimeType": "text/csv", "buffer": PAYMENTS.encode()})
    expect(page.get_by_text("unit must be filled in")).to_be_visible()
    expect(page.get_by_role("button", name="Protect")).to_be_disabled()
    expect(page.get_by_text("Bonn")).to_have_count(0)

    choose(page, "The person is named by", "person")
    choose(page, "Type of age", "integer")
    page.get_by_label("Lower bound of age").fill("old")
    wrong = page.locator(".policy-line.wrong")
    expect(wrong).to_contain_text("age: {type: integer, lower: old}")
    page.get_by_label("Lower bound of age").fill("18")
    page.get_by_label("Upper bound of age").fill("90")
    choose(page, "Type of paid", "real")
    page.get_by_label("Keys of town").fill("Ulm, Bonn")
    page.get_by_label("Rows of a person that count").fill("6")
    expect(wrong).to_have_count(0)
    page.get_by_role("button", name="Protect").click()
    expect(page.get_by_text("payments_2025 is protected.")).to_be_visible()
    expect(page.get_by_text("paid: 1 value could not be read as real; they count as missing")).to_be_visible()

    question = "SELECT town, COUNT(*) AS n FROM payments_2025 GROUP BY town"
    assert asked(serving, "ben", question) != 200
    page.get_by_text("payments_2025", exact=True).click()
    choose(page, "Analyst for payments_2025", "ben")
    page.get_by_label("Cap ε for payments_2025").fill("7")
    page.get_by_role("button", name="Allow to ask about payments_2025").click()
    expect(page.get_by_role("alert").filter(has_text="ben")).to_be_visible()
    page.get_by_label("Cap ε for payments_2025").fill("0.5")
    page.get_by_role("button", name="Allow to ask about payments_2025").click()
    expect(page.get_by_text("ben: ε 0.5, left ε 0.5")).to_be_visible()
    assert asked(serving, "ben", question) == 200
    page.get_by_role("button", name="Let ben ask no more about payments_2025").click()
    page.get_by_role("button", name="Let them ask no more", exact=True).click()
    expect(page.get_by_text("Nobody yet, but owners.")).to_be_visible()
    assert asked(serving, "ben", question) != 200


def test_new_rows_come_in_under_the_policy_that_a_table_has(enter: Enter) -> None:
    page = enter("owner", "/tables")
    towns = {"name": "towns.csv", "mimeType": "text/csv", "buffer": b"town,country\nUlm,DE\nLyon,FR\n"}
    page.locator("input[type=file]").set_input_files(towns)
    page.get_by_role("switch", name="Write the policy as text").click()
    policy = page.get_by_label("Policy", exact=True)
    expect(policy).to_have_value(re.compile("^table: towns\nunit:\n"))
    policy.fill("table: towns\npublic: true\ncolumns:\n  town: {type: text}\n  country: {type: texts}\n")
    expect(page.locator(".policy-line.wrong")).to_contain_text("country: {type: texts}")
    policy.fill("table: towns\npublic: true\ncolumns:\n  town: {type: text}\n  country: {type: text}\n")
    page.get_by_role("button", name="Protect").click()
    expect(page.get_by_text("towns is public.")).to_be_visible()
    page.locator("input[type=file]").set_input_files(towns)
    expect(page.get_by_text("towns is here already: new rows take the place of its rows")).to_be_visible()
    expect(policy).to_have_value(re.compile("public: true"))


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path is short enough to be repeated in a refusal."""
    with TemporaryDirectory() as found:
        yield Path(found)


def test_a_path_outside_the_listed_folders_is_refused(enter: Enter, short_path: Path) -> None:
    (short_path / "secret.csv").write_text("a,b\n1,2\n")
    page = enter("owner", "/tables")
    for path in (short_path / "secret.csv", short_path / "gone.csv"):
        page.get_by_label("A path on the server").fill(str(path))
        page.get_by_role("button", name="Take this file").click()
        refusal = page.get_by_role("alert").filter(has_text="the setting data_folders lists")
        expect(refusal).to_contain_text(path.name)
