"""The sources of a session, the footnoted statements of a text, and a verdict on each of them."""
