"""The lab: what it shows of attacks and audits, who may run something, and that a stop really stops."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from discreet.attacks.board import scoreboard
from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.people import QUASI, SECRET, patients
from discreet.audit.gallery import BROKEN as EXHIBITS
from discreet.console.lab.attacks import attack_chart, attack_words
from discreet.console.lab.audit import laws_chart, losses_chart, losses_words
from discreet.console.lab.worker import (
    BROKEN,
    CURATOR,
    MENDED,
    OURS,
    AttackAskRequest,
    AuditAskRequest,
    Audited,
    LabQueue,
    ShownCell,
    curators,
    list_catalogue,
    run_attacks,
    run_audit,
)
from discreet.console.worker import ProgressRelay
from discreet.errors import InvalidValue, TooManyRequests
from tests.console.conftest import Enter


class Heard(ProgressRelay):
    """What a process would say, kept here."""

    def __init__(self) -> None:
        self.parts: list[object] = []

    def __call__(self, share: float, words: str) -> None:
        """Nobody waits."""

    def show(self, part: object) -> None:
        self.parts.append(part)


def ask_request(folder: Path, **changed: object) -> AttackAskRequest:
    known: dict[str, object] = {
        "folder": str(folder), "name": "people", "table": None, "patients": 200, "quasi": (), "secret": "",
        "attacks": ("direct question",), "defences": ("exact answers", CURATOR), "epsilons": ("1",),
    }  # fmt: skip
    return AttackAskRequest(**known | changed)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def own_tempdir(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the lab sets where temporary files go; here it is put back."""
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())


def test_everything_in_the_catalogues_is_on_the_shelves_with_a_sentence() -> None:
    found = list_catalogue()
    assert [one.name for one in found.attacks] == [one.name for one in every_attack()]
    assert [one.name for one in found.defences] == [*(one.name for one in every_defence(())), CURATOR]
    assert {one.name for one in found.mechanisms if one.kind == BROKEN} == {one.name for one in EXHIBITS}
    assert {one.kind for one in found.mechanisms} == {BROKEN, MENDED, OURS}
    assert all(one.words for shelf in (found.attacks, found.defences, found.mechanisms) for one in shelf)
    assert any(one.is_usual for one in found.attacks)
    assert curators(["0.50", "2"]) == [one.name for one in every_defence(["0.5", 2])][-2:]
    with pytest.raises(InvalidValue):
        curators(["much"])
    with pytest.raises(InvalidValue, match="10 budgets at most"):
        curators(["0.1"] * 11)


def test_the_lab_says_what_the_scoreboard_says(tmp_path: Path) -> None:
    heard = Heard()
    done = run_attacks(ask_request(tmp_path), heard)
    cells = [part for part in heard.parts if isinstance(part, ShownCell)]
    assert [(one.attack, one.defence) for one in cells] == [
        ("direct question", "exact answers"), ("direct question", "Discreet, ε = 1"),
    ]  # fmt: skip
    board = scoreboard(patients(200), quasi=QUASI, secret=SECRET, attacks=["direct"], defences=["exact"])
    score = board.cells[0].score
    assert score is not None
    assert (cells[0].right, cells[0].interval) == (score.right.rate, score.right.interval())
    assert cells[0].text == "100 % ✗"
    assert cells[0].harm == 1
    assert "where guessing is right" in cells[0].words
    assert done.headline.startswith("1 attack on 2 defences of 200 people.")
    assert done.page.startswith("<!doctype html>")
    assert '"direct question"' in done.data
    assert not list(tmp_path.iterdir())


def test_a_table_of_ones_own_is_attacked_and_nonsense_is_refused(tmp_path: Path) -> None:
    table = pa.table({"age": list(range(60)), "ill": ["yes", "no", "no"] * 20})
    heard = Heard()
    own = ask_request(tmp_path, table=table, quasi=("age",), secret="ill", defences=("exact answers",), epsilons=())
    run_attacks(own, heard)
    assert len(heard.parts) == 1
    for changed in ({"quasi": ()}, {"secret": "nothing"}, {"attacks": ()}):
        known = {"table": table, "quasi": ("age",), "secret": "ill"} | changed
        with pytest.raises(InvalidValue):
            run_attacks(ask_request(tmp_path, **known), heard)


def test_the_chart_of_an_attack_shows_what_is_known_and_says_it() -> None:
    worst = ShownCell("linkage", "names removed", "88 % ✗", 0.8, "…", 0.88, (0.8, 0.9), 0.15)
    best = ShownCell("linkage", "Discreet, ε = 1", "15 %", 0.0, "…", 0.15, (0.1, 0.2), 0.15)
    chart = attack_chart(["names removed", "5-anonymity", "Discreet, ε = 1"], [worst, None, best])
    bars = chart["series"][0]["data"]
    assert [one["value"] for one in bars] == [88.0, None, 15.0]
    assert bars[0]["itemStyle"]["color"] != bars[2]["itemStyle"]["color"]
    assert chart["series"][0]["markLine"]["data"] == [{"xAxis": 15.0}]
    words = attack_words("linkage", [worst, None, best])
    assert "88 % of the time behind names removed, and 15 % behind Discreet" in words
    assert attack_words("linkage", [None]) == "Linkage: nothing is known yet."


def test_an_audit_finds_the_broken_guilty_and_lets_the_mended_and_ours_pass() -> None:
    found = [run_audit(AuditAskRequest(*asked, 20_000), Heard()) for asked in (
        (BROKEN, "half-the-scale", "1"), (MENDED, "half-the-scale, mended", "1"), (OURS, "laplace", "0.5"),
    )]  # fmt: skip
    assert [one.verdict for one in found] == ["violation", "consistent", "consistent"]
    assert [one.claimed for one in found] == [1, 1, 0.5]
    assert found[0].observed > 1
    assert found[2].exact == pytest.approx(0.5)
    assert "The draws" not in found[0].headline
    for one in found:
        assert laws_chart(one)["series"]
        assert losses_chart(one)["series"][0]["markLine"]["data"] == [{"xAxis": one.claimed}]
        assert one.claim in losses_words(one)


def test_laws_of_words_are_bars_and_laws_of_numbers_curves() -> None:
    known = dict.fromkeys(("verdict", "headline", "claim", "observed_words", "exact_words", "event"), "")
    rest = {
        "confidence": "",
        "claimed": 1.0,
        "observed": 0.0,
        "exact": None,
        "inputs": ("0", "1"),
        "page": "",
        "data": "",
    }
    words = Audited(**known, **rest, laws=(("yes", 0.3, 0.7), ("no", 0.7, 0.3)))  # type: ignore[arg-type]
    numbers = Audited(**known, **rest, laws=(("1", 0.3, 0.3), ("2", 0.4, 0.4), ("3", 0.3, 0.3)))  # type: ignore[arg-type]
    assert {one["type"] for one in laws_chart(words)["series"]} == {"bar"}
    assert {one["type"] for one in laws_chart(numbers)["series"]} == {"line"}


def test_a_principal_has_one_place_and_the_lab_few() -> None:
    worker = LabQueue(places=2)
    with worker.place("ana"):
        with pytest.raises(TooManyRequests, match="one thing at a time"), worker.place("ana"):
            pass
        with worker.place("ben"), pytest.raises(TooManyRequests, match="2 things at a time"), worker.place("eve"):
            pass
        with worker.place("eve"):
            pass
    with worker.place("ana"):
        pass


def _choose(page: Page, group: str, *wanted: str) -> None:
    """Tick these boxes of a group and no others."""
    page.get_by_text(re.compile(f"^{group}: ")).click()
    shown = page.locator(".q-expansion-item").filter(has_text=re.compile(f"^{group}: "))
    expect(shown.get_by_role("checkbox").first).to_be_visible()
    items = list_catalogue().attacks if group == "Attacks" else list_catalogue().defences
    for item in items:
        if item.is_usual != (item.name in wanted):
            shown.get_by_role("checkbox", name=item.name, exact=True).click()
    expect(page.get_by_text(f"{group}: {len(wanted)} of")).to_be_visible()


@pytest.mark.thorough
def test_attacks_on_an_uploaded_table_fill_the_scoreboard_and_can_be_kept(enter: Enter) -> None:
    page = enter("ana", "/lab")
    expect(page.get_by_text("never touches the rows of protected tables")).to_be_visible()
    page.get_by_role("radio", name="a table of mine").click()
    rows = "".join(f"{20 + i % 50},{1000 + i % 7},{'flu' if i % 3 else 'cancer'}\n" for i in range(150))
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": f"age,zip,illness\n{rows}".encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("mine: 150 rows, 3 columns")).to_be_visible()
    _choose(page, "Attacks", "linkage", "direct question")
    _choose(page, "Defences", "names removed", "exact answers")
    page.get_by_role("button", name="Run the attacks").click()
    expect(page.get_by_role("button", name="linkage against names removed: not there yet")).to_be_visible()
    cell = page.get_by_role("button", name=re.compile("direct question against exact answers: 100 % right"))
    expect(cell).to_be_visible()
    cell.click()
    expect(page.get_by_role("status").filter(has_text="Direct question against exact answers")).to_be_visible()
    expect(page.get_by_text("2 attacks on 2 defences of 150 people.")).to_be_visible()
    with page.expect_download() as kept:
        page.get_by_role("button", name="The figures").click()
    assert '"mine"' in Path(kept.value.path()).read_text("utf-8")


@pytest.mark.thorough
def test_a_run_can_be_stopped_and_another_started(enter: Enter) -> None:
    page = enter("ben", "/lab", viewport={"width": 390, "height": 800}, color_scheme="dark")
    page.get_by_role("button", name="Run the attacks").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. What was there by then is shown.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("tab", name="Audit a mechanism").click()
    page.get_by_label("A mechanism").click()
    page.get_by_label("A mechanism").fill("half-the-scale")
    page.get_by_role("option", name="broken: half-the-scale").click()
    expect(page.get_by_text("The noise has half the scale that ε needs.")).to_be_visible()
    page.get_by_role("button", name="Run the audit").click()
    expect(page.get_by_text(re.compile("The claim .* is false"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("It claims ε = 1; the draws prove"))).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_file_that_is_no_table_is_refused_in_words(enter: Enter) -> None:
    page = enter("auditor", "/lab")
    page.get_by_role("radio", name="a table of mine").click()
    page.get_by_role("button", name="Run the attacks").click()
    expect(page.get_by_role("alert").filter(has_text="Bring a table first.")).to_be_visible()
    file = {"name": "x.csv", "mimeType": "text/csv", "buffer": b"\xff\xfe\x00garbage"}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_role("alert").filter(has_text="UTF-8")).to_be_visible()
    expect(page.get_by_text("/tmp/")).to_have_count(0)
    page.locator("input[type=file]").set_input_files({**file, "name": "x.parquet"})  # type: ignore[arg-type]
    expect(page.get_by_role("alert").filter(has_text="must be a .csv")).to_be_visible()
