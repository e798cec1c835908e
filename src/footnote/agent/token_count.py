"""How large a text is to a model, without its tokenizer.

Three bytes of UTF-8 count as a token: a little too many for English and Vietnamese, about right for Chinese. The
error is always wanted on this side, and `Window` corrects it by what the provider counted for earlier rounds.
"""

from footnote.models.wire import dumps
from footnote.protocol.messages import AssistantMessage, Block, Foreign, Image, Message, Part, Text, Thinking
from footnote.protocol.tools import ToolSpec

MESSAGE_TOKENS = 8
IMAGE_TOKENS = 1_600


def text_tokens(text: str) -> int:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // 3 + 1


def message_tokens(message: Message) -> int:
    if isinstance(message, AssistantMessage):
        return MESSAGE_TOKENS + sum(_block_tokens(block) for block in message.content)
    return MESSAGE_TOKENS + sum(_part_tokens(part) for part in message.content)


def tool_tokens(tools: tuple[ToolSpec, ...]) -> int:
    return len(dumps(tools)) // 3 if tools else 0


def _part_tokens(part: Part) -> int:
    return IMAGE_TOKENS if isinstance(part, Image) else text_tokens(part.text)


def _block_tokens(block: Block) -> int:
    match block:
        case Text():
            return text_tokens(block.text)
        case Thinking():
            extra = (block.signature or "") + (block.redacted or "")
            return text_tokens(block.text) + len(extra) // 3
        case Foreign():
            return len(dumps(block.block)) // 3
        case _:
            return 16 + (len(dumps(block.arguments)) + len(dumps(block.extra))) // 3
