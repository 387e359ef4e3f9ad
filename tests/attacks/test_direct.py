"""Asking about one person works wherever the answer is exact."""

from __future__ import annotations

from discreet.attacks.methods.queries import DirectQuestion
from tests.attacks.contract import AttackContract


class TestDirectQuestion(AttackContract):
    def attack(self):
        return DirectQuestion()
