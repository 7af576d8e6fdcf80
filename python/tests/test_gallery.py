# SPDX-License-Identifier: MIT
"""docs/notebooks/boundaries.ipynb runs from its first cell to its last, with few steps and without SPHERELU_DATA."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
for module in ("ipykernel", "torch", "torchvision", "matplotlib", "pandas"):
    pytest.importorskip(module)


def test_the_gallery_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("SPHERELU_GALLERY", "small")
    monkeypatch.delenv("SPHERELU_DATA", raising=False)
    notebook = nbformat.read(Path(__file__).parents[2] / "docs" / "notebooks" / "boundaries.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]
    pictures = sum("image/png" in data for cell in outputs for data in cell)
    tables = [data["text/html"] for cell in outputs for data in cell if "text/html" in data]
    assert pictures == 4
    assert len(tables) == 3 and all(way in table for table in tables[1:] for way in ("plain", "weight_norm", "gmp", "sphere"))
    assert outputs[-1][0]["text/plain"] == "True", "the baked model computes the same"
