"""The sources of the page: imports only point down, and APIs that hostile text could exploit are not used."""

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from shape.tree import ROOT, name_of

WEB = ROOT / "web"
SOURCES = sorted(path for path in (WEB / "src").rglob("*") if path.suffix in (".ts", ".tsx"))
STYLES = sorted((WEB / "src").rglob("*.css"))
WRITTEN = [path for path in SOURCES if not path.name.endswith(".gen.ts")]
CEILING = 500

ALLOWED_LAYERS = {
    "app": {"app", "features", "ui", "state", "protocol", "lib"},
    "features": {"ui", "state", "protocol", "lib"},
    "ui": {"ui", "protocol", "lib"},
    "state": {"state", "protocol", "lib"},
    "protocol": {"protocol", "lib"},
    "lib": {"lib"},
}
"""Whether a layer may import another. A feature may also import from its own folder."""

IMPORT = re.compile(
    r"""(?:^|[;}\s])(?P<statement>(?:import|export)\s[^;'"]*?from\s*|import\s*\(?\s*)["'](?P<target>[^"']+)["']"""
)
FORBIDDEN = {
    "innerHTML": r"\b(?:inner|outer)HTML\b",
    "insertAdjacentHTML": r"\binsertAdjacentHTML\b",
    "dangerouslySetInnerHTML": r"\bdangerouslySetInnerHTML\b",
    "eval": r"\beval\s*\(|\bnew Function\b",
    "document.write": r"\bdocument\.write",
    "style elements": r"<style\b|createElement\(\s*[\"']style[\"']",
    "addresses elsewhere": r"""(?:fetch|EventSource|WebSocket|sendBeacon|src=|import)\s*[({=]*\s*["'`](?:https?:)?//""",
    "any": r"(?::\s*any\b|\bas any\b|<any\b|\bany\[\])",
}
NAMES_WITHOUT_A_SUBJECT = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def test_imports_only_point_down() -> None:
    wrong = [
        f"{name_of(path)} imports {target}"
        for path in SOURCES
        for target, types_only in _imports(path)
        if not _is_allowed(_place(path), target, types_only=types_only)
    ]
    assert wrong == []


def test_the_rule_for_imports_holds_what_it_says() -> None:
    chat, ui = PurePosixPath("features/chat/Turn.tsx"), PurePosixPath("ui/Button.tsx")
    assert _is_allowed(chat, "features/chat/words", types_only=False)
    assert _is_allowed(chat, "state/turns", types_only=False)
    assert not _is_allowed(chat, "features/files/Card", types_only=True)
    assert not _is_allowed(chat, "app/App", types_only=False)
    assert _is_allowed(ui, "protocol/views", types_only=True)
    assert not _is_allowed(ui, "protocol/client", types_only=False)
    assert not _is_allowed(ui, "state/turns", types_only=True)


def test_a_module_of_the_page_has_at_most_500_lines() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*WRITTEN, *STYLES]}
    assert {name: length for name, length in lengths.items() if length > CEILING} == {}, "split by subject"


def test_a_module_of_the_page_is_named_after_its_subject() -> None:
    nameless = [name_of(path) for path in SOURCES if NAMES_WITHOUT_A_SUBJECT & {path.stem.lower(), path.parent.name}]
    assert nameless == []


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_page_does_without(what: str) -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in WRITTEN
        for number, line in enumerate(_code(path).splitlines(), 1)
        if re.search(FORBIDDEN[what], line)
    ]
    assert found == []


def test_the_styles_load_nothing_from_elsewhere() -> None:
    found = [
        f"{name_of(path)}: {address}"
        for path in STYLES
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)", path.read_text(encoding="utf-8"))
        if not address.startswith((".", "#"))
    ]
    assert found == []


def test_what_silences_a_checker_of_the_page_says_why() -> None:
    silenced = re.compile(r"biome-ignore(?:-\w+)? [\w/]+: \S+|@ts-expect-error \S+")
    mute = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in WRITTEN
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"biome-ignore|@ts-ignore|@ts-nocheck|@ts-expect-error", line) and not silenced.search(line)
    ]
    assert mute == []


def test_the_compiler_is_strict() -> None:
    options = json.loads((WEB / "tsconfig.json").read_text(encoding="utf-8"))["compilerOptions"]
    assert {name: options.get(name) for name in ("strict", "noUncheckedIndexedAccess", "noUnusedLocals")} == {
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noUnusedLocals": True,
    }


def _place(path: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(WEB / "src").as_posix())


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """The own modules that a source imports, from web/src, and whether only types are imported."""
    for found in IMPORT.finditer(path.read_text(encoding="utf-8")):
        target = found["target"]
        if target.startswith("."):
            there = (path.parent / target).resolve()
            yield there.relative_to(WEB / "src").as_posix(), _is_types_only(found["statement"])


def _is_types_only(statement: str) -> bool:
    names = re.search(r"\{([^}]*)\}", statement)
    if re.match(r"(?:import|export)\s+type\b", statement):
        return True
    return names is not None and all(name.strip().startswith("type ") for name in names[1].split(",") if name.strip())


def _is_allowed(importer: PurePosixPath, target: str, *, types_only: bool) -> bool:
    layer, wanted = importer.parts[0] if len(importer.parts) > 1 else "app", target.split("/")
    if wanted[0] == "features" and layer == "features":
        return wanted[1] == importer.parts[1]
    if layer == "ui" and wanted[0] == "protocol":
        return types_only
    return wanted[0] in ALLOWED_LAYERS[layer]


def _code(path: Path) -> str:
    """The source without its comments, with the same lines, as far as possible without a parser."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
