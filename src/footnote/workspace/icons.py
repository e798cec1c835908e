"""Which of the fourteen icons a file gets, by its name."""

from footnote.protocol.files import IconType

_SUFFIXES: dict[IconType, str] = {
    "md": "md markdown mdx",
    "pdf": "pdf",
    "code": (
        "py pyi ipynb js mjs cjs jsx ts tsx html htm css scss less java kt kts scala groovy c h cc cpp cxx hpp cs go"
        " rs swift rb php pl lua r jl m sql sh bash zsh fish ps1 bat cmd vue svelte dart ex exs erl hs clj ml fs nim"
        " zig asm yaml yml toml ini cfg conf env xml xsl xsd proto graphql tf diff patch tex bib"
    ),
    "image": "png jpg jpeg gif webp bmp tif tiff ico svg heic heif avif",
    "csv": "csv tsv",
    "xlsx": "xlsx xlsm xls ods numbers",
    "docx": "docx docm doc odt rtf pages",
    "pptx": "pptx pptm ppt odp key",
    "json": "json jsonl ndjson json5 geojson",
    "txt": "txt text log rst adoc org srt vtt",
    "archive": "zip tar gz tgz bz2 xz zst 7z rar jar war",
    "audio": "mp3 wav ogg oga opus flac m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov mkv webm avi wmv mpg mpeg ogv",
}
_BY_SUFFIX: dict[str, IconType] = {suffix: icon for icon, words in _SUFFIXES.items() for suffix in words.split()}
_BY_NAME: dict[str, IconType] = {
    "makefile": "code",
    "dockerfile": "code",
    "license": "txt",
    "readme": "txt",
    "changelog": "txt",
}


def icon_of(filename: str) -> IconType:
    """The icon by the last suffix, or by the whole name where there is none."""
    _, dot, suffix = filename.lower().rpartition(".")
    return (_BY_SUFFIX if dot else _BY_NAME).get(suffix, "file")
