"""Discreet's optimal and local recodings of the Adult table: loss, rows left out, nodes inspected, CPU time."""

import sys

from adult import QUASI, SENSITIVE, hierarchy_files, table_file
from stopwatch import cpu, report

from discreet.anonymize.hierarchies.builders import read_arx_csv
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.local import local_recoding
from discreet.anonymize.recode.optimal import OptimalResult, optimal
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table

FOLDER = sys.argv[1]
TABLE = arrow_table(table_file(FOLDER))
ROLES = Roles.of(TABLE.column_names, quasi=QUASI, sensitive=SENSITIVE)
HIERARCHIES = {name: read_arx_csv(file) for name, file in hierarchy_files(FOLDER).items()}
DIVERSE, CLOSE = DistinctDiversity(SENSITIVE, 2), Closeness(SENSITIVE, 0.2)

REQUESTS = {
    "k=5, 0 %": ([KAnonymity(5)], 0),
    "k=5, 2 %": ([KAnonymity(5)], 0.02),
    "k=10, 2 %": ([KAnonymity(10)], 0.02),
    "k=5, 10 %": ([KAnonymity(5)], 0.1),
    "k=5, 100 %": ([KAnonymity(5)], 1),
    "k=5, l=2, 2 %": ([KAnonymity(5), DIVERSE], 0.02),
    "k=5, t=0.2, 2 %": ([KAnonymity(5), CLOSE], 0.02),
    "k=10, l=2, t=0.2, 5 %": ([KAnonymity(10), DIVERSE, CLOSE], 0.05),
}


def measured(models: list, suppression: float) -> dict[str, float]:
    """CPU time from the table in memory to the released rows, and what was found."""
    found: list[OptimalResult] = []
    taken = cpu(lambda: found.append(optimal(TABLE, ROLES, HIERARCHIES, models, suppression=suppression)))
    one = found[-1]
    certificate = one.certificate
    return taken | {
        "loss": one.loss,
        "suppressed": one.suppressed,
        "checked": certificate.checked,
        "nodes": certificate.nodes,
        "is_optimal": certificate.is_optimal,
    }


def local(k: int) -> dict[str, float]:
    found: list[float] = []
    taken = cpu(lambda: found.append(local_recoding(TABLE, ROLES, HIERARCHIES, [KAnonymity(k)]).loss), repeats=2)
    return taken | {"loss": found[-1]}


results = {name: measured(*request) for name, request in REQUESTS.items()}
report(results | {f"local, k={k}": local(k) for k in (5, 10)})
