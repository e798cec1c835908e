"""Text of any language, without dictionaries: terms, sentences, and which language it probably is. Pure."""
