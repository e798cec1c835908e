"""Model APIs: one stream of twelve events, whatever the provider speaks.

A response: bytes ▸ payloads of `protocol.sse` ▸ parsed by the adapter, `anthropic` or `openai_chat` ▸ folded into
events and the message by `accumulate` ▸ yielded by `stream`, which retries, throttles, cancels and closes the socket. A
request: the context of `agent` ▸ `repair` ▸ the adapter's `request_body` ▸ the socket.
"""
