"""A process that asks for releases, for tests that kill it or run many of it: ``python asker.py FOLDER NAME COUNT``.

It writes one line per answer that it *released* (printed), so that what was released can be compared with what was
charged however it died.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import BudgetMeasure, price_in_units
from discreet.errors import BudgetExceeded
from discreet.privacy.loss import Pure


def main(folder: str, name: str, count: str, price: str) -> None:
    ledger = Ledger(Path(folder))
    units = price_in_units(Pure(Fraction(price)), BudgetMeasure.PURE)
    refused = 0
    print("ready", flush=True)
    for number in range(int(count)):
        request = f"{name}-{number}"
        try:
            ledger.charge(request, request.encode(), {"visits": units}, {"sql": "SELECT COUNT(*) FROM visits"})
        except BudgetExceeded:
            refused += 1
            continue
        receipt = ledger.settle(request, f"noisy answer of {request}".encode())
        print("released", request, (receipt.answer or b"").decode(), sep="|", flush=True)
    print("refused", refused, sep="|", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
