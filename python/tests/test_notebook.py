# SPDX-License-Identifier: MIT
"""The tour runs from its first cell to its last, and in five minutes."""

import time
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")


def test_the_tour_runs(tmp_path):
    notebook = nbformat.read(Path(__file__).parents[2] / "docs" / "notebooks" / "tour.ipynb", as_version=4)
    begin = time.perf_counter()
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert time.perf_counter() - begin < 300
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds, "tables and pictures are shown"
    turns = next(output["data"]["text/plain"] for output in shown if "'gmp'" in output.get("data", {}).get("text/plain", "") and "float64" in output["data"]["text/plain"])
    assert turns
    assert notebook.cells[-2].outputs[0]["data"]["text/plain"] == "True"
