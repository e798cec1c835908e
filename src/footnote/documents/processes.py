"""What a process that touches documents of others gets of our environment."""

from collections.abc import Mapping

_NEEDED = frozenset(
    ("PATH", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
)


def needed(environ: Mapping[str, str]) -> dict[str, str]:
    """What a process needs to run: never a key, since what it reads may take it over."""
    return {name: value for name, value in environ.items() if name.upper() in _NEEDED or name.startswith("LC_")}
