"""Recoding the Adult table: ``make bench DATA=folder``, where the folder holds it as ARX ships it.

The table is not part of this project. The optima are those that ARX 3.9.2 finds; the losses of anjana are measured by
Discreet on what it releases.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.environments import ENVIRONMENTS, run_if_it_can, run_side
from bench.figure import Figure, seconds, table_of
from bench.mondrian import mondrian_figures
from bench.sides.adult import QUASI, hierarchy_files, table_file

ANJANA = ["anjana", "pandas"]

# The optimum of ARX and the most CPU seconds.
OPTIMA = {
    "k=5, 0 %": (0.660842, 2.0),
    "k=5, 2 %": (0.331440, 2.0),
    "k=10, 2 %": (0.408011, 2.0),
    "k=5, 10 %": (0.228348, 2.0),
    "k=5, 100 %": (0.227062, 2.0),
    "k=5, l=2, 2 %": (0.421375, 2.0),
    "k=5, t=0.2, 2 %": (0.574189, 4.0),
    "k=10, l=2, t=0.2, 5 %": (0.554401, 4.0),
}
# What ARX's local recoding loses, without normalisation.
LOCAL = {"local, k=5": 0.302, "local, k=10": 0.337}

Found = dict[str, dict[str, Any]]


def optimal_figures(ours: Found, theirs: Found) -> list[Figure]:
    """Loss and time of every request."""
    return [_optimal(name, ours[name], theirs.get(name)) for name in OPTIMA]


def local_figures(ours: Found) -> list[Figure]:
    return [
        Figure(
            name,
            f"loss {ours[name]['loss']:.3f} in {seconds(ours[name]['cpu'])}",
            f"ARX 3.9.2 loss {loss:.3f}",
            "",
            f"≤ {loss}",
            ours[name]["loss"] <= loss,
        )
        for name, loss in LOCAL.items()
    ]


def anjana_side(folder: str) -> Found:
    """Times of anjana, with the loss of what it releases."""
    with tempfile.TemporaryDirectory() as output:
        found = run_if_it_can(ANJANA, "anjana_recode.py", folder, output)
        return {name: one | {"loss": _loss(folder, Path(output) / f"{name}.csv")} for name, one in found.items()}


def _optimal(name: str, ours: dict[str, Any], theirs: dict[str, Any] | None) -> Figure:
    loss, most = OPTIMA[name]
    shown = f"{ours['loss']:.6f} in {seconds(ours['cpu'])}, {ours['checked']:,} of {ours['nodes']:,} nodes"
    beside = f"anjana {theirs['loss']:.6f} in {seconds(theirs['cpu'])}" if theirs else ""
    ratio = f"{theirs['cpu'] / ours['cpu']:.1f}×" if theirs else ""
    met = ours["is_optimal"] and abs(ours["loss"] - loss) < 1e-6 and ours["cpu"] <= most
    return Figure(name, shown, beside, ratio, f"{loss:.6f} in ≤ {seconds(most)}", met)


def _loss(folder: str, file: Path) -> float:
    """The normalised loss of a release; rows that are missing lose everything."""
    from discreet.anonymize.hierarchies.builders import read_arx_csv
    from discreet.anonymize.loss.release_loss import Publication, column_losses, mean_loss
    from discreet.anonymize.roles import Roles
    from discreet.anonymize.table import arrow_table

    hierarchies = {name: read_arx_csv(one) for name, one in hierarchy_files(folder).items()}
    original, released = arrow_table(table_file(folder)).select(QUASI), arrow_table(file)
    publication = Publication.of(original, released, Roles(tuple(QUASI)), hierarchies)
    return mean_loss(column_losses(publication), "normalised") or 0.0


def main() -> None:
    if len(sys.argv) != 2 or not table_file(sys.argv[1]).is_file():
        raise SystemExit("name the folder that holds adult.csv and its hierarchies: make bench DATA=folder")
    folder = sys.argv[1]
    ENVIRONMENTS.mkdir(exist_ok=True)
    ours, theirs = run_side(None, "anonymize_optimal.py", folder), anjana_side(folder)
    sections = {
        "Optimal full-domain recoding of Adult: normalised loss, CPU time": optimal_figures(ours, theirs),
        "Local recoding by repeated search: mean share of the domain": local_figures(ours),
        "Mondrian on Adult: mean share of the domain, CPU time": mondrian_figures(folder),
    }
    Console(width=None if sys.stdout.isatty() else 180).print(table_of(sections))


if __name__ == "__main__":
    main()
