"""The small web: articles in three languages, and every kind of troublesome page, over real HTTP on loopback.

async with Web() as web:
    web.url("/en/Oxygen")     # a page of the site: see web.site
    web.url("/hung")          # a hostile one: see web.hostile
    web.host                  # "127.0.0.1:PORT", for private_hosts
    web.requests              # the requests received, in order
    web.put("/mine", page("…"))
"""

from web.replies import PageReply, PageRequest, dripping_reply, hanging_body, hanging_reply, page, redirect
from web.server import Trap, Web

__all__ = [
    "PageReply",
    "PageRequest",
    "Trap",
    "Web",
    "dripping_reply",
    "hanging_body",
    "hanging_reply",
    "page",
    "redirect",
]
