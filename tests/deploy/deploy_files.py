"""The files in `deploy/`, parsed."""

import re
from pathlib import Path
from typing import Any

import yaml

from shape.tree import ROOT, project

FOLDER = ROOT / "deploy"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
YAML = [path for path in FILES if path.suffix in (".yaml", ".yml")]
UNITS = sorted((FOLDER / "systemd").glob("*.service"))
PAGE = ROOT / "docs" / "operations.md"


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def document(path: Path) -> Any:
    [found] = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    return found


def kubernetes(kind: str) -> dict[str, Any]:
    """The only Kubernetes resource of a kind."""
    found = [document(path) for path in YAML if path.parent.name == "kubernetes"]
    [resource] = [one for one in found if one["kind"] == kind]
    return resource


def container() -> dict[str, Any]:
    [only] = kubernetes("Deployment")["spec"]["template"]["spec"]["containers"]
    return only


def unit(path: Path) -> list[tuple[str, str]]:
    """The settings of a systemd unit, in order; a name may occur more than once."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(name, value) for line in lines if line[:1].isalpha() for name, _, value in [line.partition("=")]]


def seconds(value: str) -> float:
    """Seconds of `300s`, `20s` or `3600`."""
    [(number, unit_)] = re.findall(r"^([\d.]+)(s|ms|m|h|)$", value)
    return float(number) * {"s": 1, "": 1, "ms": 0.001, "m": 60, "h": 3600}[unit_]


def extras() -> set[str]:
    return set(project()["project"]["optional-dependencies"])
