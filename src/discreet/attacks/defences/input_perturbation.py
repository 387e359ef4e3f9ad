"""Secrets that are replaced by chance once, before anything is answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.attacks.defence import Defence
from discreet.attacks.defences.raw import ExactView
from discreet.attacks.people import Coded, People
from discreet.attacks.view import View
from discreet.exact.rational import Number, probability
from discreet.noise.experiment import Chance

__all__ = ["InputPerturbation"]


class InputPerturbation(Defence):
    """Every secret is replaced by a random one with some probability; then all answers are exact.

    The same question has the same answer, so there is nothing to average. What is told of a person is right with
    probability 1 − q + q/v, with q the probability and v the number of values: it is randomized response, in the hands
    of an owner who could have done better with the rows.
    """

    def __init__(self, replaced: Number = 0.2) -> None:
        """Name the probability that a secret is replaced."""
        self.replaced = float(probability(replaced, "the probability of a replacement"))
        self.name = f"{self.replaced:.0%} of secrets replaced"
        self.says = f"Before counting, each secret is replaced by a random one with probability {self.replaced:g}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact answers about perturbed people."""
        values = people.secret.values
        drawn = chance.integers(len(values), size=people.size)
        codes = np.where(chance.random(people.size) < self.replaced, drawn, people.secret.codes)
        return ExactView(replace(people, columns={**people.columns, people.secret_name: Coded(codes, values)}))
