import hashlib
import zipfile
from pathlib import Path

import pytest

from footnote.documents.out.typesetter import font_families, font_folders, missing_fonts
from shape.tree import ROOT

FONT_FOLDER = ROOT / "fonts" / "footnote_fonts"


def test_the_fonts_of_documents_come_with_footnote():
    assert missing_fonts() == []
    assert [folder.resolve() for folder in font_folders()] == [FONT_FOLDER]


def test_fonts_of_the_machine_are_left_out():
    known = ("Inter", "JetBrains Mono", "Noto ", "Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono")
    assert [family for family in font_families() if not family.startswith(known)] == []


def test_every_font_is_the_one_whose_hash_is_listed():
    listed = dict(reversed(line.split("  ")) for line in (FONT_FOLDER / "SHA256SUMS").read_text().splitlines())
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in FONT_FOLDER.glob("*.tt[fc]")}
    assert found == listed


@pytest.mark.parametrize("family", ["Inter", "JetBrainsMono", "NotoSansCJK", "Noto"])
def test_every_family_has_its_licence_beside_it(family: str):
    licence = (FONT_FOLDER / "licences" / f"{family}.txt").read_text()
    assert "Copyright" in licence
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert any(FONT_FOLDER.glob(f"{family}*.tt[fc]"))


def test_the_wheel_holds_every_font_licence_and_hash(tmp_path: Path):
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT / "fonts"))
    [wheel] = builder.build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("footnote_fonts/")}
    files = {f"footnote_fonts/{file.relative_to(FONT_FOLDER)}" for file in FONT_FOLDER.rglob("*") if file.is_file()}
    assert packed == {file for file in files if "__pycache__" not in file}
