"""Fonts for every script in the tests, from the package for PDF files, because a bare machine has none."""

from pathlib import Path

from footnote.documents.out.typesetter import font_folders

GENERIC = {
    "sans-serif": ("Inter", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Emoji"),
    "monospace": ("JetBrains Mono", "Noto Sans Mono CJK SC", "Noto Sans CJK SC"),
}


def configuration(folder: Path) -> Path:
    """Writes a file for FONTCONFIG_FILE, with the font cache beside it."""
    places = "".join(f"<dir>{place}</dir>" for place in font_folders())
    aliases = "".join(
        f'<alias binding="same"><family>{family}</family><prefer>{_families(fonts)}</prefer></alias>'
        for family, fonts in {**GENERIC, **dict.fromkeys(("sans", "system-ui"), GENERIC["sans-serif"])}.items()
    )
    file = folder / "fonts.conf"
    head = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
    cache = f"<cachedir>{folder / 'cache'}</cachedir>"
    # The fallback for unknown families, which most families of a style sheet are on this machine.
    last = f'<match><edit name="family" mode="append_last"><string>{GENERIC["sans-serif"][0]}</string></edit></match>'
    file.write_text(f"{head}<fontconfig>{places}{cache}{aliases}{last}</fontconfig>", encoding="utf-8")
    return file


def _families(names: tuple[str, ...]) -> str:
    return "".join(f"<family>{name}</family>" for name in names)
