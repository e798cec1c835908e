"""Passages of pages, ranked against a question: sections for a model to read, short quotations for people."""

from footnote.web_search.ranking.passages import RankedPassages, rank_passages
from footnote.web_search.ranking.quotes import RankedQuotes, select_quotes

__all__ = ["RankedPassages", "RankedQuotes", "rank_passages", "select_quotes"]
