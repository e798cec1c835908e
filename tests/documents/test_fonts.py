from footnote.documents.fonts import families, folders, missing_fonts


def test_the_fonts_of_documents_come_with_footnote():
    assert missing_fonts() == []
    assert all(any(folder.rglob("*.tt[fc]")) for folder in folders())


def test_fonts_of_the_machine_are_left_out():
    known = ("Inter", "JetBrains Mono", "Noto ", "Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono")
    assert [family for family in families() if not family.startswith(known)] == []
