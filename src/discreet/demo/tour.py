"""The scenes of ``discreet tour``: a short guided tour of the mechanisms, with real noise, in the terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from discreet.accounting.composition import optimal, sequential
from discreet.accounting.filter import PureFilter
from discreet.errors import BudgetExceeded
from discreet.exact.ball import exp_up, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Median
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.uniform import UniformInteger
from discreet.privacy.hypothesis_tests import ErrorRegion, Pair, possible_probabilities
from discreet.privacy.loss import Pure

__all__ = ["play"]

_BAR = 34


def play() -> None:
    """Show every scene."""
    console = Console()
    console.print(
        Panel("A tour of the mechanisms. All noise below is real: run it again and the answers change.", width=100)
    )
    for number, (title, scene) in enumerate(_SCENES, 1):
        console.print(f"\n[bold]{number}. {title}[/]")
        scene(console)
    console.print("\n[bold]Where to go on[/]  docs/tutorials/first-private-answers.md, or: import discreet as dp")


def count_patients(console: Console) -> None:
    """A count, its price and error before, the answer after."""
    truth = 1_234
    count = Laplace(epsilon=1)
    console.print(f"{truth:,} patients have the flu. Before anything is released, the mechanism says:")
    console.print(f"  price    {count.loss}")
    console.print(f"  error    within ±{count.error(0.95)} people, 95 % of the time")
    answers = "  ".join(f"{count.release(truth):,}" for _ in range(8))
    console.print(f"  answers  {answers}")


def check_the_definition(console: Console) -> None:
    """The definition of privacy, checked at every outcome of the exact law."""
    count = Laplace(epsilon=1)
    outcomes = range(-40, 42)
    with working_precision():
        without, present = count.distribution(0), count.distribution(1)
        pair = Pair([present.mass(y) for y in outcomes], [without.mass(y) for y in outcomes])
    table = Table(box=None, pad_edge=False)
    for column in ("answer", "you are in", "you are not", "ratio"):
        table.add_column(column, justify="right")
    for y in (-1, 0, 1, 2):
        table.add_row(
            str(y), f"{present.pmf(y):.4f}", f"{without.pmf(y):.4f}", f"{present.pmf(y) / without.pmf(y):.4f}"
        )
    console.print(table)
    worst = float(pair.max_divergence().exp())
    console.print(f"Largest ratio over all outcomes, in exact arithmetic: {worst:.9f}; allowed: e^1 = {math.e:.9f}.")


def survey_with_coins(console: Console) -> None:
    """Randomized response against the trusted curator."""
    people, share = 10_000, Fraction(3, 10)
    answers = np.arange(people) < int(people * share)
    coins = RandomizedResponse.coins()
    reports = coins.release(answers)
    low, high = coins.interval(reports)
    console.print("10,000 people flip a coin before they answer; 30 % would truly say yes. Nobody has to trust us:")
    console.print(f"  {coins.loss}")
    console.print(f"  estimate {coins.estimate_mean(reports):.1%}, 95 % interval {low:.1%} to {high:.1%}")
    central = Laplace(coins.loss.epsilon).error(0.95) / people
    local = 1.96 * coins.standard_deviation(people) / people
    console.print(f"  A trusted curator with the same ε errs by {central:.3%}, {local / central:,.0f} times less.")


def price_an_auction(console: Console) -> None:
    """The exponential mechanism on the texts' auction."""
    bids = [Fraction(1), Fraction(1), Fraction("3.01")]
    prices = [Fraction(p) for p in ("1.00", "1.01", "3.01", "3.02")]
    revenue = {f"${float(p):.2f}": p * sum(bid >= p for bid in bids) for p in prices}
    choice = Exponential(epsilon=4, sensitivity="3.02", candidates=list(revenue))
    console.print("Bids of $1, $1 and $3.01: a cent too much loses everything, so noise on the price is no use.")
    law = choice.distribution(revenue)
    for name, earned in revenue.items():
        share = law.pmf(name)
        console.print(
            Text(f"  {name}  earns ${float(earned):.2f}  chosen {share:5.1%} ") + Text("█" * round(share * _BAR))
        )
    console.print(f"  this time: {choice.release(revenue)}")


def find_a_median(console: Console) -> None:
    """A million incomes, one private median."""
    draws = [UniformInteger(50_000).sample(1_000_000) for _ in range(2)]
    incomes = draws[0] + draws[1]
    median = Median(epsilon="0.1", lower=0, upper=200_000)
    start = time.perf_counter()
    answer = median.release(incomes)
    took = time.perf_counter() - start
    console.print(
        f"A million incomes, ε = 0.1: private median {answer:,}, true median {int(np.median(incomes)):,}, {took:.2f} s."
    )


def spend_a_budget(console: Console) -> None:
    """Composition and a filter that refuses."""
    budget = PureFilter(Pure(1))
    for _ in range(10):
        budget.charge(Pure(0.1))
    console.print(f"Ten questions at ε = 0.1 cost exactly {sequential([Pure(0.1)] * 10)!r}. The eleventh:")
    try:
        budget.charge(Pure(0.1))
    except BudgetExceeded as refusal:
        console.print(f"  [yellow]{refusal}[/]")
    many = optimal(Pure("0.01"), 1000, delta="1e-6")
    console.print(f"With a δ of one in a million, 1,000 questions at ε = 0.01 cost {many!r} instead of ε = 10.")


def say_what_it_means(console: Console) -> None:
    """Loss in words: probabilities, tests, beliefs."""
    loss = Pure(1)
    low, high = possible_probabilities("0.01", loss)
    errors = ErrorRegion(loss).least_error_sum()
    console.print("At ε = 1, whatever an attacker knows and whatever is released:")
    console.print(
        f"  an outcome with a chance of 1 % has between {float(low):.2%} and {float(high):.2%} without your data;"
    )
    console.print(
        f"  no test of whether you took part has error rates that sum to less than {float(errors):.2f} (guessing: 1);"
    )
    console.print(f"  even odds about you become at most {float(exp_up(1)):.2f} to 1.")


def draw_fast(console: Console) -> None:
    """Exact noise against NumPy's."""
    draws = 1_000_000
    exact = _nanoseconds(lambda: DiscreteLaplace(100).sample(draws)) / draws
    console.print(
        f"A million exact draws from the cryptographic source: {exact:.0f} ns each (`make bench` compares peers)."
    )


def _nanoseconds(call: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return min(times)


_SCENES: list[tuple[str, Callable[[Console], None]]] = [
    ("A count that hides every one of the counted", count_patients),
    ("The definition, checked at every outcome", check_the_definition),
    ("A survey without trust", survey_with_coins),
    ("A choice instead of a number", price_an_auction),
    ("A median of a million incomes", find_a_median),
    ("A budget that holds", spend_a_budget),
    ("What the promise means", say_what_it_means),
    ("Exact, and fast", draw_fast),
]
