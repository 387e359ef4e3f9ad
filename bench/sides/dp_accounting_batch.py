"""dp-accounting's PLD accountant: repeated releases as one event, different ones one at a time."""

from dp_accounting import dp_event
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from stopwatch import cpu, report


def composed(events: list, interval: float = 1e-4) -> float:
    accountant = PLDAccountant(value_discretization_interval=interval)
    for event, count in events:
        accountant.compose(event, count)
    return accountant.get_epsilon(1e-6)


laplace, gaussian = (dp_event.LaplaceDpEvent(100.0), 1000), (dp_event.GaussianDpEvent(100.0), 1000)
results = {}
batches = {
    "1000 laplace": [laplace],
    "1000 gaussian": [gaussian],
    "1000 laplace and 1000 gaussian": [laplace, gaussian],
}
for name, events in batches.items():
    results[name] = cpu(lambda e=events: composed(e, 1e-5), repeats=1) | {"epsilon": composed(events, 1e-5)}
different = [(dp_event.LaplaceDpEvent(100.0 + i / 10), 1) for i in range(1000)]
different += [(dp_event.GaussianDpEvent(100.0 + i / 10), 1) for i in range(1000)]
results["2000 different releases"] = cpu(lambda: composed(different), repeats=1)
report(results)
