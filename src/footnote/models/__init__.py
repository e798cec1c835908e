"""Model APIs: one stream of twelve events, whatever the provider speaks.

A response walks: bytes ▸ `protocol.sse` payloads ▸ `anthropic` or `openai_chat` reads each one ▸ `accumulate`
folds it into events and the message ▸ `stream` yields them, retries, stalls, cancels and closes the socket.
A request walks: `agent` context ▸ `repair` ▸ the API module's `body` ▸ the socket.
"""
