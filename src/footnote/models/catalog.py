"""From a choice of model to a model that can be asked, and the models that there are to choose from."""

from typing import Any, cast

from footnote.models import anthropic, openai_chat
from footnote.models.base import ApiType, Endpoint, Model
from footnote.models.profiles import Profile
from footnote.models.retry import Retry
from footnote.models.stream import HttpModel, ModelApi
from footnote.net.client import Net

_APIS: dict[ApiType, ModelApi] = {"anthropic": anthropic, "openai": openai_chat}


def build_model(
    api: ApiType, endpoint: Endpoint, name: str, profile: Profile, *, net: Net, retry: Retry | None = None
) -> Model:
    """The model called `name` behind `endpoint`, which speaks `api`."""
    return HttpModel(_APIS[api], endpoint, name, profile, net=net, retry=retry)


async def list_models(api: ApiType, endpoint: Endpoint, net: Net, *, timeout_seconds: float = 5.0) -> list[str]:
    """Names of the models that a server lists; the two APIs do it in the same form. `UpstreamError`: it does not."""
    module = _APIS[api]
    answer = await net.get_json(
        endpoint.url(module.MODELS_PATH), headers=module.request_headers(endpoint), timeout=timeout_seconds
    )
    data: Any = cast("dict[str, Any]", answer).get("data") if isinstance(answer, dict) else None
    listed = cast("list[Any]", data) if isinstance(data, list) else []
    models = [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
    return [str(model["id"]) for model in models if "id" in model]
