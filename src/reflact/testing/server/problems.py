"""Errors in the words of the services."""

from __future__ import annotations

from reflact.testing.exchange import Fault, FaultKind, SeenRequest, Wire
from reflact.testing.server.wires.base import Problem

_BY_STATUS = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "forbidden", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you have no access to it."),
    408: ("timeout", "timeout", "The operation timed out."),
    409: ("invalid_request_error", "conflict", "The resource was changed by another request."),
    413: ("invalid_request_error", "request_too_large", "The request is too large."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached. Please try again later."),
    529: ("overloaded_error", "overloaded", "Overloaded"),
}


def problem_of(fault: Fault, seen: SeenRequest) -> Problem | None:
    """Return the error that a fault answers with, None if it answers in another way."""
    match fault.kind:
        case FaultKind.STATUS:
            return _by_status(fault)
        case FaultKind.CONTENT_FILTER:
            return _content_filter()
        case FaultKind.CONTEXT_LENGTH:
            return _context_length(seen)
        case FaultKind.REJECT_PARAMETER:
            return _unsupported(fault.parameter)
        case FaultKind.REJECT_SCHEMA:
            param = "text.format" if seen.wire is Wire.RESPONSES else "response_format"
            message = f"Invalid parameter: '{param}' of type 'json_schema' is not supported with this model."
            return Problem(400, message, param=param)
        case FaultKind.ONLY_RESPONSES:
            message = "This model is only supported in v1/responses and not in v1/chat/completions."
            return Problem(404, message, param="model")
        case _:
            return None


def missing_route(path: str) -> Problem:
    """A path that does not exist, or an Azure path without its API version."""
    return Problem(404, f"Resource not found: {path}", code="404")


def _by_status(fault: Fault) -> Problem:
    fallback = ("server_error", None, "The server had an error while processing your request.")
    kind, code, message = _BY_STATUS.get(fault.status, fallback)
    if fault.code == "insufficient_quota":
        kind, message = "insufficient_quota", "You exceeded your current quota, please check your plan."
    return Problem(fault.status, fault.message or message, kind, fault.code or code)


def _content_filter() -> Problem:
    verdict = {
        name: {"filtered": name == "violence", "severity": "medium" if name == "violence" else "safe"}
        for name in ("hate", "self_harm", "sexual", "violence")
    }
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": verdict}
    message = "The response was filtered due to the prompt triggering the content management policy."
    return Problem(400, message, code="content_filter", param="prompt", extra={"status": 400, "innererror": inner})


def _context_length(seen: SeenRequest) -> Problem:
    count = len(seen.text) // 4
    if seen.wire is Wire.MESSAGES:
        return Problem(400, f"prompt is too long: {count} tokens > {max(1, count - 1)} maximum")
    message = (
        f"This model's maximum context length is {max(1, count - 1)} tokens. "
        f"However, your messages resulted in {count} tokens. Please reduce the length of the messages."
    )
    param = "input" if seen.wire is Wire.RESPONSES else "messages"
    return Problem(400, message, code="context_length_exceeded", param=param)


def _unsupported(parameter: str) -> Problem:
    if parameter == "max_tokens":
        hint = " Use 'max_completion_tokens' instead."
        message = f"Unsupported parameter: 'max_tokens' is not supported with this model.{hint}"
        return Problem(400, message, code="unsupported_parameter", param=parameter)
    if parameter == "temperature":
        message = "Unsupported value: 'temperature' does not support this value. Only the default (1) is supported."
        return Problem(400, message, code="unsupported_value", param=parameter)
    message = f"Unsupported parameter: '{parameter}' is not supported with this model."
    return Problem(400, message, code="unsupported_parameter", param=parameter)
