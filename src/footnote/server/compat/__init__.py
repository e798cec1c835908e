"""Doors for clients of other APIs: an agent of Footnote as a model of Anthropic's or OpenAI's API.

They are thin: the same sessions and runs, other words on the wire.
"""

from footnote.server.compat import anthropic, models, openai

ROUTES = (*anthropic.ROUTES, *openai.ROUTES, *models.ROUTES)
