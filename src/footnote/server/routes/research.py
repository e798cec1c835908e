"""Before a research run: what to ask the user, and the templates of its report."""

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.plans import Clarification
from footnote.protocol.sessions import ClarifyRequest, parse_locale
from footnote.protocol.tools import Locale
from footnote.server.route import Route, RouteCall
from footnote.server.routes.catalog import resolve_agent_id


class TemplateView(Struct, frozen=True):
    """`title` is in the language of the request."""

    name: str
    title: str


class TemplateList(Struct, frozen=True):
    templates: tuple[TemplateView, ...]


async def _clarify(call: RouteCall) -> Clarification:
    new: ClarifyRequest = call.body
    agent_id = resolve_agent_id(call.app, new.agent_id)
    locale = parse_locale(new.locale) or call.locale
    return await call.app.clarify(call.user_id, replace(new, agent_id=agent_id, locale=locale))


async def _templates(call: RouteCall) -> TemplateList:
    locale: Locale = call.locale or "en"
    templates = call.app.configuration.templates.values()
    return TemplateList(tuple(TemplateView(one.name, one.title(locale)) for one in templates))


ROUTES = (
    Route(
        "POST",
        "/v2/clarifications",
        _clarify,
        "What to ask the user before a question is researched",
        body=ClarifyRequest,
        response=Clarification,
    ),
    Route("GET", "/v2/research/templates", _templates, "The templates of research reports", response=TemplateList),
)
