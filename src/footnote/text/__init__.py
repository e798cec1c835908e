"""Text of any language, without dictionaries: terms, sentences, markdown, and language detection. Pure functions."""
