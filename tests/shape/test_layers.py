"""What an import may load; the direction of imports is checked by import-linter in `make check`."""

import json
import subprocess
import sys

from shape.tree import MODULES, PACKAGE, project

NEEDS_AN_EXTRA = (
    *("footnote.cli.terminal.painting", "footnote.tools.mcp."),
    # What the sandbox loads, in a process of its own.
    *(f"footnote.documents.{name}" for name in ("markdown", "out.pdf", "out.docx", "out.typesetter")),
    *(f"footnote.documents.extract.{name}" for name in ("pdf", "upload", "office")),
)
EXTRAS = {
    *("rich", "markdown_it", "mdit_py_plugins", "pygments", "typst", "tex2typst", "latex2mathml"),
    *("mcp", "httpx2", "jsonschema", "pydantic", "pypdfium2", "python_calamine"),
}

IMPORT_ALL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_the_core_can_be_imported_without_any_extra() -> None:
    core = [name for name in _module_names() if not name.startswith(NEEDS_AN_EXTRA)]
    loaded = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, json.dumps(core)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert EXTRAS & set(json.loads(loaded.stdout)) == set()


def test_every_package_has_its_place_in_the_layers() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    placed = {name.strip() for layer in layers for name in layer.split("|")}
    there = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert placed == there - {"__init__"}


def _module_names() -> list[str]:
    parts = [path.relative_to(PACKAGE.parent).with_suffix("").parts for path in MODULES]
    return [".".join(part for part in parts if part != "__init__") for parts in parts]
