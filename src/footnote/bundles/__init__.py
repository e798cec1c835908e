"""The research bundle: one session as a zip file that can be verified offline and imported elsewhere.

docs/bundles.md describes the format and what verification proves.
"""
