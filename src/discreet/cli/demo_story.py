"""The story of ``discreet demo``: a hospital protects its visits, analysts ask, an attacker fails."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from rich.panel import Panel

from discreet.cli.output import console, show_answer, show_explanation
from discreet.curator.advice.histogram import Offers
from discreet.curator.curator import Curator
from discreet.curator.ledger.units import balance
from discreet.curator.ledger.verify import verify
from discreet.demo.hospital import visits, visits_policy
from discreet.errors import BudgetExceeded, QueryRefused

__all__ = ["play"]

_VICTIM = 4711
_COUNT_OLDER = "SELECT COUNT(*) FROM visits WHERE age > {}"


def play() -> None:
    """Tell the whole story, with a curator that is gone afterwards."""
    with tempfile.TemporaryDirectory() as temporary:
        story = _Story(Path(temporary) / "hospital")
        console.print(
            Panel("A hospital and its curator. All noise is real: run it again and the answers change.", width=100)
        )
        for number, (title, scene) in enumerate(story.scenes(), 1):
            console.print(f"\n[bold]{number}. {title}[/]")
            scene()
    console.print(
        "\n[bold]Where to go on[/]  docs/tutorials/first-question.md with a table of your own, or: discreet tour"
    )


class _Story:
    def __init__(self, folder: Path) -> None:
        self._visits = visits()
        self._curator = Curator(folder, offers=Offers.COMMANDS)

    def scenes(self) -> list[tuple[str, Callable[[], None]]]:
        return [
            ("The owner protects a table", self._protect),
            ("An analyst sees the price before paying", self._explain),
            ("The answers, with error bars", self._ask),
            ("What was asked before is free, in any spelling", self._ask_again),
            ("What cannot be private is refused", self._refuse),
            ("An attacker subtracts two answers", self._attack),
            ("A budget runs dry, and stays dry", self._run_dry),
            ("The ledger proves it", self._verify),
        ]

    def _protect(self) -> None:
        start = time.perf_counter()
        self._curator.protect(self._visits, visits_policy())
        took = time.perf_counter() - start
        console.print(
            "200,000 visits of 60,000 patients; a person counts with at most 8 visits; ε = 3 for everybody together."
        )
        console.print(f"Taken in, numbered and sorted by person in {took:.1f} s.")

    def _explain(self) -> None:
        sql = "SELECT ward, COUNT(*) AS visits, AVG(age) AS age FROM visits GROUP BY ward"
        _say(sql)
        show_explanation(self._curator.explain(sql, "0.5"))

    def _ask(self) -> None:
        for sql, epsilon in (
            ("SELECT ward, COUNT(*) AS visits, AVG(age) AS age FROM visits GROUP BY ward ORDER BY visits DESC", "0.5"),
            ("SELECT date_trunc('quarter', day) AS quarter, SUM(cost) AS cost FROM visits GROUP BY quarter", "0.3"),
            ("SELECT MEDIAN(age) AS median_age FROM visits WHERE ward = 'maternity'", "0.1"),
        ):
            _say(sql)
            show_answer(self._curator.ask(sql, epsilon))

    def _ask_again(self) -> None:
        sql = (
            "select Ward, count(*) as n, avg(AGE) from main.visits v group by 1 having count(*) > 0 order by n limit 2"
        )
        _say(sql)
        show_answer(self._curator.ask(sql, "0.5"))

    def _refuse(self) -> None:
        for sql in ("SELECT * FROM visits", "SELECT AVG(agee) FROM visits", "SELECT SUM(patient_id) FROM visits"):
            try:
                self._curator.ask(sql, "0.1")
            except QueryRefused as refusal:
                _say(sql)
                console.print(f"[yellow]{refusal}[/]", soft_wrap=True)

    def _attack(self) -> None:
        everybody = "SELECT SUM(cost) AS cost FROM visits"
        all_but_one = f"{everybody} WHERE patient_id <> {_VICTIM}"
        with duckdb.connect() as database:
            database.register("visits", self._visits)
            exact = [database.sql(sql).fetchall()[0][0] for sql in (everybody, all_but_one)]
        noisy = [self._curator.ask(sql, "0.25").to_rows()[0]["cost"] for sql in (everybody, all_but_one)]
        console.print(f"Everybody's costs minus the costs of all but patient {_VICTIM}:")
        console.print(
            f"  exact answers   {exact[0]:,.2f} - {exact[1]:,.2f} = {exact[0] - exact[1]:,.2f}: the patient's secret",
            soft_wrap=True,
        )
        console.print(
            f"  our answers     {noisy[0]:,.0f} - {noisy[1]:,.0f} = {noisy[0] - noisy[1]:,.0f}: noise", soft_wrap=True
        )

    def _run_dry(self) -> None:
        asked = 0
        try:
            while True:
                self._curator.ask(_COUNT_OLDER.format(18 + asked), "0.3")
                asked += 1
        except BudgetExceeded as refusal:
            console.print(f"{asked} more questions at ε = 0.3, then:")
            console.print(f"[yellow]{refusal}[/]", soft_wrap=True)

    def _verify(self) -> None:
        found = verify(self._curator.folder)
        console.print(f"sound: {found.is_sound}, {found.entries} records, head {found.head.hex()[:16]}…")
        console.print(f"left: {balance(self._curator.budget()['visits']['left'])}")


def _say(sql: str) -> None:
    console.print(f"[cyan]{sql}[/]", soft_wrap=True)
