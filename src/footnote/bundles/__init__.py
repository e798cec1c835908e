"""A session as one file that can be checked without a network and opened elsewhere: the research bundle.

docs/bundles.md describes the format and what it promises.
"""
