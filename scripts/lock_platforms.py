"""Adds an entry to web/package-lock.json for every optional binding, also those of other systems.

A registry mirror may have the bindings of one system only. npm then writes a lock without the others, which `npm ci`
refuses, and which would leave a Mac or Windows machine without its compiler. The fields of an entry follow from the
name of the package; the hash does not, so that those entries have none.

    python scripts/lock_platforms.py            # adds what is missing
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[1] / "web" / "package-lock.json"
SYSTEMS = {"aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"}
PROCESSORS = {"arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"}
SYSTEM_BY_PACKAGE = {"fsevents": "darwin"}


def missing_entries(packages: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Name, version and whether it is a development dependency, of each optional dependency without an entry."""
    for place, package in packages.items():
        for name, version in package.get("optionalDependencies", {}).items():
            if place and not _is_resolvable(packages, place, name):
                yield name, version, package.get("dev", False)


def entry(name: str, version: str, *, dev: bool) -> dict[str, Any]:
    """The entry that npm would have written, without the hash."""
    words = re.split(r"[-/]", name)
    system = next((word for word in words if word in SYSTEMS), SYSTEM_BY_PACKAGE.get(name))
    processor = next((word for word in words if word in PROCESSORS), None)
    if system is None and processor is None:
        raise SystemExit(f"{name} names neither a system nor a processor: add it to NAMES_OF_NO_SYSTEM")
    made: dict[str, Any] = {"version": version.lstrip("^~=")}
    if processor is not None:
        made["cpu"] = [processor]
    if dev:
        made["dev"] = True
    if system == "linux":
        made["libc"] = ["musl" if any(word.startswith("musl") for word in words) else "glibc"]
    made["optional"] = True
    if system is not None:
        made["os"] = [system]
    return made


def complete_lock(lock: dict[str, Any]) -> dict[str, Any]:
    """The lock with its missing entries, in npm's order."""
    packages = lock["packages"]
    added = {f"node_modules/{name}": entry(name, version, dev=dev) for name, version, dev in missing_entries(packages)}
    return {**lock, "packages": dict(sorted({**packages, **added}.items()))}


def _is_resolvable(packages: dict[str, Any], place: str, name: str) -> bool:
    """Whether Node, searching from `place` upwards, finds the package."""
    while True:
        if f"{place}/node_modules/{name}".lstrip("/") in packages:
            return True
        if not place:
            return False
        place = place.rpartition("/node_modules/")[0] if "/node_modules/" in place else ""


if __name__ == "__main__":
    before = json.loads(LOCK.read_text(encoding="utf-8"))
    after = complete_lock(before)
    LOCK.write_text(json.dumps(after, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{LOCK.name}: {len(after['packages']) - len(before['packages'])} entries added", file=sys.stderr)
