"""Passages of pages, ranked against a question: sections for a model to read, short quotations for people."""

from footnote.web_search.rank.material import Ranked, passages
from footnote.web_search.rank.quoting import Quoted, quotes

__all__ = ["Quoted", "Ranked", "passages", "quotes"]
