"""anonypy's Mondrian on the Adult table: CPU time and classes."""

import sys

import anonypy
import pandas as pd
from adult import QUASI, SENSITIVE, table_file
from stopwatch import cpu, report

TABLE = pd.read_csv(table_file(sys.argv[1]), sep=";")
for name in TABLE.columns:
    if name != "age":
        TABLE[name] = TABLE[name].astype("category")


def measured(k: int) -> dict[str, float]:
    found = []
    preserver = anonypy.Preserver(TABLE, QUASI, SENSITIVE)
    taken = cpu(lambda: found.append(pd.DataFrame(preserver.anonymize_k_anonymity(k=k))), repeats=1)
    classes = found[-1][QUASI].astype(str).drop_duplicates()
    return taken | {"classes": len(classes)}


report({f"strict, k={k}": measured(k) for k in (10,)})
