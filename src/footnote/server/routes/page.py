"""The page: files of the package, and nothing else of the disk."""

from functools import cache
from importlib.resources import files

from footnote.protocol.errors import Unknown
from footnote.server.replies import Reply
from footnote.server.table import Call, Route

HTML = "text/html"
TYPES = {"css": "text/css", "html": HTML}


@cache
def _files() -> dict[str, bytes]:
    folder = files("footnote.server").joinpath("static")
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def page(name: str, status: int = 200, **texts: str) -> Reply:
    """A page with `texts`, which are HTML already, in the places that have their names."""
    body = _files()[name]
    for place, text in texts.items():
        body = body.replace(b"{{%b}}" % place.encode(), text.encode())
    return Reply(body, status, media_type=HTML)


async def _index(_: Call) -> Reply:
    return page("index.html")


async def _static(call: Call) -> Reply:
    name: str = call.path["name"]
    kind = TYPES.get(name.rpartition(".")[2])
    body = _files().get(name)
    if body is None or kind is None or kind == HTML:
        raise Unknown("There is no such file.")
    return Reply(body, media_type=kind, cache_control="max-age=300")


ROUTES = (
    Route("GET", "/", _index, "The page", access="anyone", media_type=HTML),
    Route("GET", "/static/{name}", _static, "A file of the page", access="anyone", media_type="text/css"),
)
