"""Pages that hold nothing to read: made by a script, or behind a wall that wants a click, a login or a human."""

import re

from footnote.documents.extract.content import SOMETHING
from footnote.documents.extract.document import Unreadable
from footnote.documents.extract.tree import Document

SHORT = 200
"""Below this many letters a page with scripts is most likely made by them."""
WALL = 1_500
"""What is longer says something, whatever else it asks for."""

_WANTS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without) (?:\w+ ){0,3}javascript"
    r"|javascript (?:is |to be )?(?:\w+ ){0,2}(?:disabled|required|enabled|off)"
    r"|bật javascript|启用\s*javascript|開啟\s*javascript|javascript を有効",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"(?:accept|allow|consent to|agree to) (?:\w+ ){0,3}cookies|cookies? (?:policy|consent|preferences|settings)"
    r"|(?:uses?|using) (?:\w+ ){0,2}cookies|we value your privacy|our \d+ partners|access information on a device"
    r"|before you continue|verify (?:that )?you are (?:a )?human|are you a robot"
    r"|not a robot|checking your browser|unusual traffic|complete the (?:security check|captcha)|just a moment"
    r"|(?:log|sign) in to (?:continue|read|view)|subscribe to (?:continue|read)|create (?:an|a free) account to"
    r"|chấp nhận (?:tất cả )?cookie|đăng nhập để|xác minh (?:rằng )?bạn (?:là|không phải)"
    r"|接受(?:所有|全部)?\s*cookie|登录后(?:查看|继续|阅读)|验证您是真人|请完成安全验证",
    re.IGNORECASE,
)


def check(document: Document, everything: str, prose: int, content: str) -> None:
    """Raises `Unreadable` for a page without content. `everything` is all the text that it shows, frame included, and
    `prose` how much of it stands in paragraphs; `content` is what would be read of it. A notice about cookies beside a
    short text is no wall."""
    shown = " ".join(everything.split())
    says_something = len(content) >= SOMETHING and not _WALL.search(content)
    if len(shown) <= WALL and (_WALL.search(document.title) or (_WALL.search(shown) and not says_something)):
        raise Unreadable("consent_wall", "it asks for consent, a login or a proof of being human first")
    wants_script = any(_WANTS_SCRIPT.search(text) for text in (*document.noscript, shown))
    if len(shown) < SHORT and (wants_script or (document.scripts and not prose)):
        raise Unreadable("needs_javascript", "its text is made by a script, which is not run here")
    if not shown:
        raise Unreadable("empty", "there is no text in it")
