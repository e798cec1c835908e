"""systemd and kubectl check the shipped files, where they are installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from deploy.deploy_files import FOLDER, UNITS
from shape.tree import name_of

EXPOSED = 2.0
"""Of 10, in the rating of systemd."""


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed on this machine")
    return found


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_systemd_understands_every_line_of_a_unit(path: Path, tmp_path: Path) -> None:
    analyze = _program("systemd-analyze")
    # systemd checks that the program exists.
    own = tmp_path / path.name.replace("@.", "@8484.")
    own.write_text(path.read_text(encoding="utf-8").replace("/opt/footnote/bin/footnote", sys.executable))
    output = _run(analyze, "verify", "--man=no", "--recursive-errors=no", str(own))
    assert (output.returncode, output.stderr.strip()) == (0, "")


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_systemd_finds_little_that_a_unit_leaves_open(path: Path) -> None:
    output = _run(_program("systemd-analyze"), "security", "--offline=yes", str(path))
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", output.stdout)
    if level is None:
        pytest.skip("this systemd-analyze measures no files that are not installed")
    assert float(level[1]) <= EXPOSED


def test_kustomize_puts_the_parts_of_kubernetes_together() -> None:
    built = _run(_program("kubectl"), "kustomize", str(FOLDER / "kubernetes"))
    assert built.returncode == 0, built.stderr
    documents = list(yaml.safe_load_all(built.stdout))
    kinds = sorted(one["kind"] for one in documents)
    assert kinds == ["ConfigMap", "Deployment", "Ingress", "Namespace", "PodDisruptionBudget", "Service"]
    [settings] = [one["metadata"]["name"] for one in documents if one["kind"] == "ConfigMap"]
    [deployment] = [one for one in documents if one["kind"] == "Deployment"]
    volumes = {volume["name"]: volume for volume in deployment["spec"]["template"]["spec"]["volumes"]}
    assert volumes["config"]["configMap"]["name"] == settings, "a change of the settings starts the pods again"
