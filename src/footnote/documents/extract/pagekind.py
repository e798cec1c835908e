"""What kind of page it is, by what it says of itself and by its address."""

import re

from footnote.documents.extract.tree import Document

_ARTICLE = re.compile(
    r'"@type"\s*:\s*(?:\[[^\]]{0,300})?"(?:\w{0,40}Article|BlogPosting|Report|LiveBlogPosting|Review)"'
)
_FORUM = re.compile(r'"@type"\s*:\s*(?:\[[^\]]{0,300})?"(?:DiscussionForumPosting|QAPage|Question|SocialMediaPosting)"')
_FORUM_URL = re.compile(
    r"(?:^|[/.])(?:forums?|community|communities|discuss(?:ion)?s?|boards?|bbs|talk|ask|answers|questions?|threads?|topics?"
    r"|viewtopic|showthread|reddit|stackoverflow|stackexchange|quora|news\.ycombinator)(?:[/.?-]|$)"
    r"|/t/[\w-]+/\d+|viewtopic|showthread"
)
_REVIEWS = re.compile(r"reviews|testimonials|ratings", re.IGNORECASE)
_FORUM_SOFTWARE = re.compile("phpbb|discourse|vbulletin|xenforo|flarum|nodebb|invision|mybb|smf|vanilla", re.IGNORECASE)


def is_article(document: Document) -> bool:
    kind = next((meta.get("content", "") for meta in document.metas if meta.get("property") == "og:type"), "")
    return kind.lower() in ("article", "news", "blog") or any(map(_ARTICLE.search, document.structured))


def is_about_reviews(document: Document, url: str) -> bool:
    """Whether what buyers say is what the page is about."""
    return _REVIEWS.search(f"{url} {document.title}") is not None


def is_forum(document: Document, url: str) -> bool:
    software = next((meta.get("content", "") for meta in document.metas if meta.get("name") == "generator"), "")
    return bool(
        any(map(_FORUM.search, document.structured))
        or _FORUM_URL.search(url.partition("?")[0].lower())
        or _FORUM_SOFTWARE.search(software)
    )
