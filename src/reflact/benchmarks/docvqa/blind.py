"""Telling a model that takes no images from one that could not read this image."""

from __future__ import annotations

import re

from reflact.models.protocol import CallError, Failure

# What servers say: OpenAI and Azure, llama.cpp, vLLM, Ollama, gateways, servers whose messages can only be texts.
_SAYINGS = re.compile(
    r"(does|do|can)( ?not|n't) (support|accept|take|process|handle) (any )?(image|vision|visual|multi-?modal)"
    r"|\bimages?( inputs?)?( \w+)? (is|are) not (supported|enabled|available)|image_url.{0,20} (is )?only supported"
    r"|(is )?not a (multi-?modal|vision)\b|at most 0 image|unknown variant .{0,3}image_url"
    r"|support(s|ing)? (no|image) inputs?|(reads|takes|accepts) no images|required for image input"
    r"|content\S*.{0,30} must be a string",
    re.IGNORECASE,
)
_CLASSES = frozenset({Failure.BAD_REQUEST, Failure.SERVER})


def takes_no_images(error: CallError) -> bool:
    """Whether an attempt failed because the model behind it takes no images, so that every other one will."""
    # A finer cause (`bad_image`, `context_length`) concerns the one request.
    return error.failure in _CLASSES and error.cause == error.failure.value and bool(_SAYINGS.search(str(error)))
