"""Attacks, each with a test named after it."""
