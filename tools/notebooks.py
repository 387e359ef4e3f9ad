"""Run the notebooks of docs/notebooks and store what they show: ``python -m tools.notebooks``.

A test runs them, too, and compares: what a cell shows must not change, but for cells with the tag ``noisy``.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def run(path: Path) -> NotebookNode:
    """The notebook as it is after every cell ran in a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    settings = {"timeout": 300, "kernel_name": "python3", "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, **settings).execute()
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "text/html" in output.get("data", {}):
            output.data.pop("text/plain")  # the same at length, which nobody sees who sees the table
    return notebook


def shown(notebook: NotebookNode) -> list[tuple[str, list[str]]]:
    """Source and outputs of each cell of code that has no noise in it."""
    cells = [
        cell for cell in notebook.cells if cell.cell_type == "code" and "noisy" not in cell.metadata.get("tags", [])
    ]
    return [(cell.source, [text_of(output) for output in cell.outputs]) for cell in cells]


def text_of(output: NotebookNode) -> str:
    return str(output.text if output.output_type == "stream" else list(output.data.values()))


def main() -> None:
    for path in NOTEBOOKS:
        nbformat.write(run(path), path)


if __name__ == "__main__":
    main()
