"""Footnote's engine on the turn: the loop of the product, over the scripted model and over both model APIs.

Frames are the product's own (`protocol.sse.frame`), made from every event of the loop.
"""

import argparse
import asyncio
import json
from functools import partial
from typing import Annotated, Literal

from measure import Figures, Turn, compare, flatness, in_process
from msgspec import Meta, Struct
from raw_reader import RawReader
from scenario import CALL_ID, FRAGMENTS, QUESTION, RESULT, SYSTEM, TOOL, Frames, hand_written, words

import upstream
from footnote.agent.loop import run
from footnote.agent.turn import Checkpoint
from footnote.agent.turn import Turn as Asked
from footnote.agent.turn_state import TurnState
from footnote.cancel import CancelScope
from footnote.models.base import Endpoint, Model
from footnote.models.profiles import profile_of
from footnote.models.scripted import ScriptedCall, ScriptedModel, text
from footnote.models.stream import build_model
from footnote.net.client import Net
from footnote.protocol.messages import user_message
from footnote.protocol.sse import frame
from footnote.protocol.tools import ToolResult, text_result
from footnote.tools.base import Abilities, ToolContext
from footnote.tools.define import tool
from footnote.tools.registry import Toolbox
from footnote.tools.wrappers import wrap_tool

PACE_MS = 5
PROFILE = profile_of("claude-sonnet-5")


class Parameters(Struct):
    query: Annotated[str, Meta(description="What to look for.")]
    prompt: Annotated[str, Meta(description="What to find out.")]


@tool(titles={"en": "Search the web", "vi": "Tìm kiếm web", "zh": "搜索网页"})
async def web_search(params: Parameters, context: ToolContext) -> ToolResult:
    """Search the web and read the best pages."""
    del params, context
    return text_result(RESULT)


ABILITIES = Abilities()
TOOLBOX = Toolbox.of([wrap_tool(web_search)], ABILITIES)


async def turn_of(model: Model) -> Frames:
    turn = Asked("session_1", "run_1", "msg_1", SYSTEM, (user_message(QUESTION),))
    frames: Frames = []
    async for step in run(TurnState(turn, model.id, model.profile.price), model, TOOLBOX, ABILITIES, CancelScope()):
        if not isinstance(step, Checkpoint):
            frames.append(frame(len(frames) + 1, step))
    return frames


async def scripted(deltas: int) -> Frames:
    return await turn_of(ScriptedModel([[ScriptedCall(TOOL, FRAGMENTS, CALL_ID)], [text(*words(deltas))]]))


async def over_http(deltas: int, *, api: Literal["anthropic", "openai"], port: int, pace_ms: int, net: Net) -> Frames:
    path = "" if api == "anthropic" else "/v1"
    endpoint = Endpoint(api, f"http://127.0.0.1:{port}{path}", api_key="not-a-key")
    return await turn_of(build_model(api, endpoint, upstream.model_name(deltas, pace_ms), PROFILE, net=net))


async def _http(port: int, *, quick: bool) -> Figures:
    """Deltas at the pace of a provider, where waking up is most of the cost, and whole responses at once.

    The duration of a paced turn is fixed; the quick run measures few of them, over one API.
    """
    figures: Figures = {}
    async with Net() as net:
        for api in ("anthropic", "openai"):
            for pace_ms, reps in ((PACE_MS, 2 if quick else 11), (0, 5 if quick else 21)):
                if quick and pace_ms and api == "openai":
                    continue
                reader = RawReader(port, pace_ms)
                ours = partial(over_http, api=api, port=port, pace_ms=pace_ms, net=net)
                reference: Turn = partial(hand_written, model=getattr(reader, api))
                name = f"{api}, {f'a delta every {pace_ms} ms' if pace_ms else 'the response at once'}"
                figures[name] = await compare(ours, reference, reps=reps)
                await reader.close()
    return figures


async def _flat(port: int, *, quick: bool) -> Figures:
    reps = 3 if quick else 9
    async with Net() as net:
        over_anthropic = partial(over_http, api="anthropic", port=port, pace_ms=0, net=net)
        over_openai = partial(over_http, api="openai", port=port, pace_ms=0, net=net)
        return {
            "in the process": await flatness(scripted, reps=reps),
            "anthropic over HTTP": await flatness(over_anthropic, reps=reps),
            "openai over HTTP": await flatness(over_openai, reps=reps),
        }


async def _measure(port: int, *, quick: bool) -> Figures:
    return {
        "in_process": await in_process(scripted, reps=7 if quick else 31),
        "http": await _http(port, quick=quick),
        "flat": await _flat(port, quick=quick),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with upstream.run_upstream() as port:
        print(json.dumps(asyncio.run(_measure(port, quick=quick))), flush=True)


if __name__ == "__main__":
    main()
