"""Markdown as the words that a reader sees, for excerpts: without signs, addresses and footnote markers."""

import re

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:(?:[-*_][ \t]*){3,}|=+[ \t]*)$")
_TABLE_RULE = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+$")
_LINE_PREFIX = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?")
# Every repetition has a limit, so that a hostile text cannot make the search quadratic.
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<fence>`{1,3})(?P<code>[^`\n]{1,400})(?P=fence)"
    r"|[ \t]?[\[【［]\^?\d{1,4}(?:\s?[-–,;、，；]\s?\^?\d{1,4}){0,20}(?:†[^】\n]{0,80})?[\]】］](?!\()"
    r"|!?\[(?P<text>[^\[\]\n]{0,400})\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,200}\")?\)"
    r"|(?:\*{2,3}|~~)(?=\S)|(?<=\S)(?:\*{2,3}|~~)"
    r"|(?P<sign>(?<![^\W_])[*_]{1,2})(?=\S)(?P<said>[^*~\n]{1,400}?)(?<=\S)(?P=sign)(?![^\W_])"
)


def markdown_to_text(markdown: str) -> str:
    """Lines stay lines. Code keeps all its signs, without the fences around it."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence):
                fence = ""
            else:
                lines.append(line)
        elif found:
            fence = found[1]
        elif not (_RULE.match(line) or ("-" in line and _TABLE_RULE.match(line))):
            lines.append(_line_text(_LINE_PREFIX.sub("", line, count=1)))
    return "\n".join(lines)


def _line_text(line: str) -> str:
    stripped = line.strip()
    if stripped.startswith("|"):
        line = " · ".join(cell.strip() for cell in stripped.strip("|").split("|"))
    return _INLINE.sub(_inline_text, line)


def _inline_text(found: re.Match[str]) -> str:
    said = found["said"]
    return found["escaped"] or found["code"] or found["text"] or (_INLINE.sub(_inline_text, said) if said else "")
