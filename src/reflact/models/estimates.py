"""Tokens where nobody counts them: before a call, and after one whose server says nothing of them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from reflact.core.usage import Usage
from reflact.models.protocol import ChatReply, ChatRequest

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1000


def prompt_tokens(request: ChatRequest) -> int:
    """Estimate what a request makes a model read: four bytes of UTF-8 a token, a thousand tokens an image."""
    texts = sum(text_tokens(message.content) for message in request.messages)
    return texts + IMAGE_TOKENS * sum(len(message.images) for message in request.messages)


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def with_estimates(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """Fill in the counts that a server left out, so that a budget holds there too.

    Nothing is answered without reading, and no text is there without writing: a count of zero was not said either.
    What was written and is not in the text, hidden reasoning, cannot be estimated.
    """
    usage = reply.usage
    read = usage.prompt_tokens if usage.prompt_tokens else prompt_tokens(request)
    written = usage.completion_tokens if usage.completion_tokens else text_tokens(reply.text)
    missing = read - usage.prompt_tokens + written - usage.completion_tokens
    if not missing:
        return reply
    estimated: Usage = replace(usage, prompt_tokens=read, completion_tokens=written, estimated_tokens=missing)
    return replace(reply, usage=estimated)
