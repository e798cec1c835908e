"""From a choice of model to a model that can be asked."""

from typing import Literal, TypeAlias

from footnote.models import anthropic, openai_chat
from footnote.models.base import Model
from footnote.models.failures import Endpoint
from footnote.models.profiles import Profile
from footnote.models.retry import Retry
from footnote.models.stream import HttpModel
from footnote.net.client import Net

ApiType: TypeAlias = Literal["anthropic", "openai"]

_APIS = {"anthropic": anthropic, "openai": openai_chat}


def build_model(
    api: ApiType, endpoint: Endpoint, name: str, profile: Profile, *, net: Net, retry: Retry | None = None
) -> Model:
    """The model called `name` behind `endpoint`, which speaks `api`."""
    return HttpModel(_APIS[api], endpoint, name, profile, net=net, retry=retry)
