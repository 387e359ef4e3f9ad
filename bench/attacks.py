"""What reconstruction and tracing reach, beside the closed forms: ``make bench-attacks [PAGE=page.html]``.

A minute on two cores. Accuracies are of one run with a fixed seed; times are wall-clock and CPU seconds. With a file
name, the two curves are drawn on a page.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import discreet as dp
from discreet.attacks import (
    SubsetQueries,
    Tabulated,
    all_subset_sums,
    consistent_people,
    curves_page,
    expected_accuracy,
    expected_area,
    phase_change,
    random_subsets,
    rebuilt_from_signed_sums,
    reconstruct,
    reconstruct_block,
    signed_sums,
    tracing_curve,
)
from discreet.attacks.methods.solvers import expected_accuracy_of_signed_sums
from discreet.noise.experiment import Chance, experiment

Row = tuple[str, str, str, str]
"""What was done, what was reached, what the closed form says, and the time."""


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    """What it gives, and wall-clock and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, f"{time.perf_counter() - wall:.1f} s, CPU {time.process_time() - cpu:.1f} s"


def drawn(people: int, questions: int, seed: int) -> tuple[np.ndarray, SubsetQueries, np.ndarray, Chance]:
    """Random bits, random subsets, exact answers, and chance for the noise."""
    chance = experiment(seed)
    bits = chance.integers(0, 2, people)
    queries = random_subsets(questions, people, chance)
    return bits, queries, queries.times(bits.astype(np.float64)), chance


def all_subsets() -> list[Row]:
    chance = experiment(1)
    bits = chance.integers(0, 2, 16)
    answers = all_subset_sums(bits) + chance.uniform(-16 / 401, 16 / 401, 2**16)
    found, took = timed(lambda: consistent_people(answers, 16 / 401))
    return [("all subsets of 16 people, noise up to n/401", share(found == bits), "at least 99 %, proved", took)]


def random_questions() -> list[Row]:
    rows = []
    for people in (1000, 2000, 5000):
        bits, queries, answers, chance = drawn(people, 8 * people, people)
        sigma = math.sqrt(people) / 4
        noisy = answers + chance.normal(0, sigma, len(answers))
        methods = ("least squares", "box") if people < 5000 else ("least squares",)
        for method in methods:
            found, took = timed(lambda: reconstruct(queries, noisy, method))
            name = f"{8 * people:,} questions about {people:,} people, noise √n/4, {method}"
            rows.append((name, share(found.bits == bits), percent(expected_accuracy(people, 8 * people, sigma)), took))
    return rows


def methods_on_noise() -> list[Row]:
    bits, queries, answers, chance = drawn(300, 600, 3)
    sigma = math.sqrt(300) / 4
    noisy = answers + chance.normal(0, sigma, 600)
    expected = percent(expected_accuracy(300, 600, sigma))
    rows = []
    for method in ("least squares", "box", "linear program", "greatest error"):
        found, took = timed(lambda: reconstruct(queries, noisy, method))
        said = expected if method == "least squares" else ""
        rows.append((f"600 questions about 300 people, noise √n/4, {method}", share(found.bits == bits), said, took))
    return rows


def outliers() -> list[Row]:
    rows = []
    for part in (0.05, 0.1, 0.2, 0.3):
        bits, queries, answers, chance = drawn(300, 1200, 4)
        noisy = answers + chance.uniform(-0.5, 0.5, 1200)
        wild = chance.random(1200) < part
        noisy[wild] = chance.uniform(0, 300, int(wild.sum()))
        for method in ("least squares", "linear program"):
            found, took = timed(lambda: reconstruct(queries, noisy, method))
            rows.append(
                (f"{part:.0%} of 1,200 answers at random, 300 people, {method}", share(found.bits == bits), "", took)
            )
    return rows


def hadamard() -> list[Row]:
    people = 2**20
    chance = experiment(5)
    bits = chance.integers(0, 2, people)
    answers = signed_sums(bits)
    rows = []
    for part in (8, 4, 2, 1):
        sigma = math.sqrt(people) / part
        noisy = answers + chance.normal(0, sigma, people)
        found, took = timed(lambda: rebuilt_from_signed_sums(noisy))
        expected = percent(expected_accuracy_of_signed_sums(people, sigma))
        rows.append(
            (
                f"a million Hadamard questions about a million people, noise √n/{part}",
                share(found == bits),
                expected,
                took,
            )
        )
    return rows


def under_a_budget() -> list[Row]:
    people, questions = 1000, 8000
    bits, queries, answers, _ = drawn(people, questions, 6)
    whole = answers.astype(np.int64)
    laplace = dp.Laplace(epsilon=f"1/{questions}")
    found = reconstruct(queries, laplace.release(whole), "least squares")
    rows = [
        (
            "8,000 answers about 1,000 people, Laplace, ε = 1 for all",
            share(found.bits == bits),
            "at most 73 %, any ε = 1",
            "",
        )
    ]
    for rho in ("1/20", "1/2", "2", "8"):
        mechanism = dp.Gaussian(rho=rho, sensitivity=math.sqrt(questions), dimension=questions, integers=True)
        found = reconstruct(queries, mechanism.release(whole), "least squares")
        expected = percent(expected_accuracy(people, questions, mechanism.sigma))
        rows.append(
            (f"8,000 answers about 1,000 people, Gaussian, ρ = {rho} for all", share(found.bits == bits), expected, "")
        )
    return rows


def census_block() -> list[Row]:
    published = [
        Tabulated({}, 7, median=30, mean=38),
        Tabulated({"sex": "F"}, 4, median=30, mean=33.5),
        Tabulated({"sex": "M"}, 3, median=30, mean=44),
        Tabulated({"race": "B"}, 4, median=51, mean=48.5),
        Tabulated({"race": "W"}, 3, median=24, mean=24),
        Tabulated({"married": "M"}, 4, median=51, mean=54),
        Tabulated({"sex": "F", "race": "B"}, 3, median=36, mean=36.7),
    ]
    domain = {"age": range(116), "sex": "FM", "race": "BW", "married": "SM"}
    block, took = timed(lambda: reconstruct_block(published, domain, "age"))
    return [("seven people from 21 published numbers", str(block), "one block", took)]


def tracing() -> list[Row]:
    rows = []
    for people in (100, 1000):
        for point in tracing_curve(people, [people // 2, people, 5 * people, 10 * people]):
            name = f"means of {point.attributes:,} attributes of {people:,} people"
            reached = (
                f"{percent(point.power.rate)} traced, {percent(point.accused.rate)} wrongly, area {point.area:.3f}"
            )
            area = expected_area(point.attributes, people)
            rows.append((name, reached, f"{percent(point.expected)} traced, 5.0 % wrongly, area {area:.3f}", ""))
    return rows


def phases() -> list[Row]:
    return [
        (
            f"1,000 people, 8,000 questions, noise {point.noise:g}√n",
            percent(point.right.rate),
            percent(point.expected),
            "",
        )
        for point in phase_change(1000)
    ]


SECTIONS: dict[str, Callable[[], list[Row]]] = {
    "All subsets": all_subsets,
    "Random subsets": random_questions,
    "The phase change at √n": phases,
    "Ways to solve": methods_on_noise,
    "Wild answers": outliers,
    "Hadamard's questions": hadamard,
    "One budget for all answers": under_a_budget,
    "A census block": census_block,
    "Tracing": tracing,
}


def share(right: np.ndarray) -> str:
    return percent(float(np.mean(right)))


def percent(value: float) -> str:
    return f"{100 * value:.3f} %" if 0.9995 <= value < 1 else f"{100 * value:.1f} %"


def main() -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title="What the attacks reach")
    for column in ("attack", "reached", "closed form", "time"):
        table.add_column(column)
    for title, rows in SECTIONS.items():
        table.add_section()
        table.add_row(f"[bold]{title}[/]")
        for row in rows():
            table.add_row(*row)
    console.print(table)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(curves_page())
        console.print(f"curves: {sys.argv[1]}")


if __name__ == "__main__":
    main()
