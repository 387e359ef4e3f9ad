"""pure-ldp, one person at a time, as it offers it; what does not run is said."""

import random

from stopwatch import cpu, report

EPSILON, CATEGORIES = 1.0, 100
USERS = 5_000


def clients() -> dict:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    return {
        "GRR": lambda: (DEClient(EPSILON, CATEGORIES), DEServer(EPSILON, CATEGORIES)),
        "SUE": lambda: (UEClient(EPSILON, CATEGORIES), UEServer(EPSILON, CATEGORIES)),
        "OUE": lambda: (UEClient(EPSILON, CATEGORIES, use_oue=True), UEServer(EPSILON, CATEGORIES, use_oue=True)),
        "OLH": lambda: (LHClient(EPSILON, CATEGORIES, use_olh=True), LHServer(EPSILON, CATEGORIES, use_olh=True)),
        "Hadamard": lambda: _with_functions(HadamardResponseClient, HadamardResponseServer),
    }


def _with_functions(client: type, server: type) -> tuple:
    made = server(EPSILON, CATEGORIES)
    return client(EPSILON, CATEGORIES, made.get_hash_funcs()), made


def collect(make) -> None:
    client, server = make()
    for answer in answers:
        server.aggregate(client.privatise(answer))
    server.estimate_all(range(1, CATEGORIES + 1), suppress_warnings=True)


answers = [random.randint(1, CATEGORIES) for _ in range(USERS)]
results = {}
try:
    makers = clients()
except Exception as problem:
    makers = {}
    results["all"] = {"failed": f"{type(problem).__name__}: {problem}"}
for name, make in makers.items():
    try:
        results[name] = cpu(lambda make=make: collect(make), repeats=2, per=USERS)
    except Exception as problem:
        results[name] = {"failed": f"{type(problem).__name__}: {problem}"}
report(results)
